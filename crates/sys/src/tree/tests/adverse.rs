//! What a walk meets that is not a quiet tree of readable files.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;

use super::*;
use crate::test_support::{as_another_user, assert_root};

#[test]
fn what_has_no_pages_is_counted_and_not_opened() {
    assert_root();
    let scratch = Scratch::new();
    let file = scratch.file("file");
    // Opening a FIFO without O_NONBLOCK would wait for ever.
    run("mkfifo", &[scratch.0.join("fifo").as_ref()]);
    let _socket = UnixListener::bind(scratch.0.join("socket")).expect("bind");
    run("mknod", &[scratch.0.join("null").as_ref(), "c".as_ref(), "1".as_ref(), "3".as_ref()]);
    run("mknod", &[scratch.0.join("disk").as_ref(), "b".as_ref(), "7".as_ref(), "9".as_ref()]);
    let outcome = look(&scratch.selection(), 1);
    assert_eq!((outcome.files, outcome.unreadable), (vec![file], vec![]));
    assert_eq!(outcome.skipped.not_cacheable, 4);
}

/// A mounted file system that is unmounted with this value.
struct Mounted(PathBuf);

impl Mounted {
    fn new(kind: &str, at: PathBuf) -> Self {
        std::fs::create_dir_all(&at).expect("mkdir");
        run("mount", &["-t".as_ref(), kind.as_ref(), "none".as_ref(), at.as_ref()]);
        Self(at)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", &[self.0.as_ref()]);
    }
}

#[test]
fn other_file_systems_are_entered_unless_told_not_to_and_proc_never() {
    assert_root();
    let scratch = Scratch::new();
    let here = scratch.file("here");
    let memory = Mounted::new("tmpfs", scratch.0.join("memory"));
    let there = scratch.file("memory/there");
    let _proc = Mounted::new("proc", scratch.0.join("proc"));
    for threads in [1, 2] {
        let outcome = look(&scratch.selection(), threads);
        assert_eq!(outcome.files, [here.clone(), there.clone()]);
        assert_eq!(outcome.skipped.not_cacheable, 1);
        assert_eq!(outcome.skipped.other_file_systems, 0);
    }
    let outcome = look(&Selection { one_file_system: true, ..scratch.selection() }, 1);
    assert_eq!(outcome.files, std::slice::from_ref(&here));
    assert_eq!(outcome.skipped.other_file_systems, 2);
    let roots = vec![memory.0.clone()];
    let selection = Selection { roots, one_file_system: true, ..Selection::default() };
    assert_eq!(look(&selection, 1).files, [there]);
}

#[test]
fn another_users_tree_is_walked_as_far_as_it_is_open_and_its_state_is_unknown() {
    assert_root();
    let scratch = Scratch::new();
    let (open, own) = (scratch.file("open"), scratch.file("own"));
    let (closed, inner) = (scratch.file("closed"), scratch.file("dir/inner"));
    let dir = inner.parent().expect("parent").to_owned();
    std::os::unix::fs::chown(&own, Some(65534), None).expect("chown");
    for path in [&closed, &dir] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o000)).expect("chmod");
    }
    let mut outcome = as_another_user(|| look(&scratch.selection(), 1));
    assert_eq!(outcome.files, [open, own]);
    // The owner's state is told, the other's is not.
    assert_eq!(outcome.unknown, 1);
    outcome.unreadable.sort();
    let unreadable: Vec<_> = outcome.unreadable.iter().map(|(path, _)| path).collect();
    assert_eq!(unreadable, [&closed, &dir]);
    assert!(outcome.unreadable[0].1.contains("Permission denied"), "{:?}", outcome.unreadable);
}

/// Whether each file was open with O_NOATIME.
#[derive(Default)]
struct Flags(Vec<(u32, bool)>);

impl Visitor for Flags {
    fn file(&mut self, file: &Found<'_>) {
        let flags = rustix::fs::fcntl_getfl(file.fd).expect("flags");
        self.0.push((file.stat.st_uid, flags.contains(rustix::fs::OFlags::NOATIME)));
    }

    fn unreadable(&mut self, path: &Path, error: &dyn fmt::Display) {
        panic!("{}: {error}", path.display());
    }
}

#[test]
fn own_files_keep_their_access_times_among_those_of_others() {
    assert_root();
    let scratch = Scratch::new();
    for i in 0..40 {
        let path = scratch.file(i.to_string());
        if i % 2 == 0 {
            std::os::unix::fs::chown(&path, Some(65534), None).expect("chown");
        }
    }
    let flags = as_another_user(|| {
        let walked = walk(&scratch.selection(), &AtomicBool::new(false), vec![Flags::default()]);
        walked.visitors.into_iter().flat_map(|flags| flags.0).collect::<Vec<_>>()
    });
    assert_eq!(flags.len(), 40);
    assert!(flags.iter().all(|&(uid, noatime)| noatime == (uid == 65534)), "{flags:?}");
}

#[test]
fn files_that_come_and_go_disturb_nothing() {
    let scratch = Scratch::new();
    let stable: Vec<PathBuf> = (0..500).map(|i| scratch.file(format!("d{}/s{i}", i % 5))).collect();
    let stop = AtomicBool::new(false);
    let churned = scratch.0.join("d0");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for i in 0..200 {
                    let _ = std::fs::write(churned.join(format!("v{i}")), b"x");
                    let _ = std::fs::create_dir(churned.join(format!("vd{i}")));
                }
                for i in 0..200 {
                    let _ = std::fs::remove_file(churned.join(format!("v{i}")));
                    let _ = std::fs::remove_dir(churned.join(format!("vd{i}")));
                }
            }
        });
        let outcomes: Vec<Outcome> = (0..40).map(|_| look(&scratch.selection(), 2)).collect();
        stop.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            assert_eq!(outcome.unreadable, []);
            for path in &stable {
                let times = outcome.files.iter().filter(|file| *file == path).count();
                assert_eq!(times, 1, "{}", path.display());
            }
        }
    });
}

/// Sets the flag at the tenth file.
struct Stopper<'a>(&'a AtomicBool, usize);

impl Visitor for Stopper<'_> {
    fn file(&mut self, _: &Found<'_>) {
        self.1 += 1;
        if self.1 == 10 {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn unreadable(&mut self, _: &Path, _: &dyn fmt::Display) {}
}

#[test]
fn a_stopped_walk_says_so_and_a_finished_one_does_not() {
    let scratch = Scratch::new();
    (0..100).for_each(|i| drop(scratch.file(i.to_string())));
    assert!(!look(&scratch.selection(), 2).interrupted);
    let stop = AtomicBool::new(false);
    let walked = walk(&scratch.selection(), &stop, vec![Stopper(&stop, 0)]);
    assert_eq!((walked.visitors[0].1, walked.interrupted), (10, true));
    // Before the first file, there is all the work left.
    let walked = walk(&scratch.selection(), &stop, vec![Stopper(&stop, 10), Stopper(&stop, 10)]);
    assert_eq!((walked.visitors[0].1, walked.interrupted), (10, true));
}

struct Panicking;

impl Visitor for Panicking {
    fn file(&mut self, _: &Found<'_>) {
        panic!("the visitor's own");
    }

    fn unreadable(&mut self, _: &Path, _: &dyn fmt::Display) {}
}

#[test]
#[should_panic(expected = "the visitor's own")]
fn a_visitors_panic_ends_the_walk() {
    let scratch = Scratch::new();
    (0..100).for_each(|i| drop(scratch.file(i.to_string())));
    walk(&scratch.selection(), &AtomicBool::new(false), vec![Panicking]);
}

#[test]
fn the_identity_is_what_stat_says() {
    struct Same;
    impl Visitor for Same {
        fn file(&mut self, file: &Found<'_>) {
            let told = std::fs::metadata(file.path).expect("stat");
            assert_eq!((file.id.ino, file.size_bytes), (told.ino(), 1));
            assert_eq!(file.place_dev, told.dev());
            let (major, minor) = (file.id.dev.major, file.id.dev.minor);
            assert_eq!(rustix::fs::makedev(major, minor), told.dev());
        }
        fn unreadable(&mut self, path: &Path, error: &dyn fmt::Display) {
            panic!("{}: {error}", path.display());
        }
    }
    let scratch = Scratch::new();
    scratch.file("a/b/c");
    walk(&scratch.selection(), &AtomicBool::new(false), vec![Same]);
}
