use std::path::Path;

use hotset_facts::{Dev, Reason};
use hotset_tests::undisturbed;

use super::*;
use crate::proc::mountinfo::Mount;

fn mount(id: u64, dev: Dev, root: &str, at: &str, fs_type: &str) -> Mount {
    Mount {
        id,
        parent: 0,
        dev,
        root: root.into(),
        mount_point: at.into(),
        options: String::new(),
        super_options: String::new(),
        fs_type: fs_type.into(),
        source: "/dev/vda".into(),
    }
}

fn dev_of(path: &str) -> Dev {
    crate::file_id(&rustix::fs::stat(path).expect("stat")).dev
}

#[test]
fn each_file_system_is_walked_once_and_by_its_top() {
    let root = dev_of("/");
    let found = places(&[
        mount(1, root, "/srv", "/", "ext4"),
        mount(2, root, "/", "/", "ext4"),
        mount(3, dev_of("/proc"), "/", "/proc", "proc"),
        mount(4, Dev { major: 9, minor: 9 }, "/", "/net", "nfs4"),
        mount(5, Dev { major: 9, minor: 8 }, "/", "/", "xfs"),
        mount(6, Dev { major: 9, minor: 7 }, "/", "/merged", "overlay"),
    ]);
    assert_eq!(found.len(), 4, "{found:#?}");
    assert_eq!((found[0].dev, found[0].gap), (root, None));
    let why = |i: usize| found[i].gap.map(|gap: Reason| gap.detail).unwrap_or_default();
    assert!(why(1).contains("far"), "{}", why(1));
    assert!(why(2).contains("covers"), "{}", why(2));
    assert!(why(3).contains("layers"), "{}", why(3));
}

/// Counters are tested by themselves: a walk over the host would take as long as the host is large.
#[test]
fn the_list_is_bounded_and_the_sums_are_not() {
    use crate::test_support::ScratchFile;
    use crate::tree::{Selection, walk};
    let files: Vec<_> = (1..=5).map(|pages| ScratchFile::with(&vec![1; pages * 4096])).collect();
    let roots: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    let selection = Selection { roots: roots.clone(), ..Selection::default() };
    undisturbed(&roots, || {
        for path in &roots {
            crate::cache::warm(path).expect("warm");
        }
        let counters = vec![Counter::new(5, 2, 0), Counter::new(5, 2, 0)];
        let answer = walk(&selection, &AtomicBool::new(false), counters);
        let mut all = Counter::new(5, 2, 0);
        answer.visitors.into_iter().for_each(|counter| all.merge(counter));
        let mut file_systems: Vec<_> =
            (0..5).flat_map(|_| places(&[mount(1, dev_of("/"), "/", "/", "ext4")])).collect();
        let listed = all.finish(&mut file_systems);
        let pages: Vec<u64> = listed.iter().map(|file| file.cached_pages).collect();
        assert_eq!(pages, [5, 4]);
        assert_eq!(
            listed[0].path.as_value().map(|path| path.as_path()),
            Some(files[4].path.as_path())
        );
        let sums: Vec<u64> = file_systems.iter().map(|fs| fs.pages.regular).collect();
        assert_eq!(sums, [1, 2, 3, 4, 5]);
        assert!(file_systems.iter().all(|fs| (fs.inodes, fs.cached_inodes) == (1, 1)));
    });
}

#[test]
fn small_files_are_counted_and_not_listed() {
    use crate::test_support::ScratchFile;
    use crate::tree::{Selection, walk};
    let file = ScratchFile::with(&[1; 4096]);
    let missing = Path::new("/nonexistent/x").to_owned();
    let selection = Selection { roots: vec![file.path.clone(), missing], ..Selection::default() };
    undisturbed(&[&file.path], || {
        crate::cache::warm(&file.path).expect("warm");
        let counters = vec![Counter::new(2, 9, 4097)];
        let mut answer = walk(&selection, &AtomicBool::new(false), counters);
        let mut counter = answer.visitors.remove(0);
        let mut file_systems = places(&[mount(1, dev_of("/"), "/", "/", "ext4")]);
        assert!(counter.finish(&mut file_systems).is_empty());
        assert_eq!(file_systems[0].pages.regular, 1);
        assert_eq!((counter.unreadable_count, counter.unreadable.len()), (1, 1));
    });
}
