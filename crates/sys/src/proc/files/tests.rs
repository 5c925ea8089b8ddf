use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::*;
use crate::test_support::ScratchFile;

#[derive(Default)]
struct Collector {
    files: Vec<(PathBuf, FileId, u64)>,
    unreadable: Vec<PathBuf>,
}

impl Visitor for Collector {
    fn file(&mut self, file: &Found<'_>) {
        self.files.push((file.path.to_owned(), file.id, file.size_bytes));
    }

    fn unreadable(&mut self, path: &Path, _: &dyn fmt::Display) {
        self.unreadable.push(path.to_owned());
    }
}

impl Collector {
    fn times(&self, path: &Path) -> usize {
        self.files.iter().filter(|(found, ..)| found == path).count()
    }
}

/// A mapping of a file, whose descriptor is closed.
struct Mapping(*mut std::ffi::c_void);

impl Mapping {
    fn of(path: &Path) -> Self {
        let file = std::fs::File::open(path).expect("open");
        let (protection, flags) = (rustix::mm::ProtFlags::READ, rustix::mm::MapFlags::SHARED);
        // SAFETY: a new mapping at an address of the kernel's choice, never dereferenced.
        let map =
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), 4096, protection, flags, &file, 0) };
        Self(map.expect("mmap"))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping made above.
        unsafe { rustix::mm::munmap(self.0, 4096) }.expect("munmap");
    }
}

#[test]
fn open_mapped_and_deleted_files_are_each_shown_once() {
    let (open, mapped) = (ScratchFile::with(b"abc"), ScratchFile::with(b"12345"));
    let (gone, gone_mapped) = (ScratchFile::with(b"x"), ScratchFile::with(b"y"));
    let _again = open.file.try_clone().expect("dup");
    let _map_of_open = Mapping::of(&open.path);
    let _map = Mapping::of(&mapped.path);
    let _map_of_gone = Mapping::of(&gone_mapped.path);
    let (mapped, gone_mapped) =
        ((mapped.path.clone(), mapped), (gone_mapped.path.clone(), gone_mapped));
    // Now only the mappings hold these.
    let named = mapped.0.with_extension("kept");
    std::fs::rename(&mapped.0, &named).expect("rename");
    drop((mapped.1, gone_mapped.1));
    std::fs::remove_file(&gone.path).expect("remove");
    let (mut files, mut seen) = (ProcessFiles::new(), Collector::default());
    // The second time there is nothing new.
    for _ in 0..2 {
        assert!(files.visit(std::process::id(), 7, &mut seen).expect("visit"));
    }
    std::fs::remove_file(&named).expect("cleanup");
    for path in [&open.path, &named, &gone.path, &gone_mapped.0] {
        assert_eq!(seen.times(path), 1, "{}: {:?}", path.display(), seen.files);
    }
    assert!(seen.files.iter().any(|(path, _, size)| *path == named && *size == 5));
    let program = std::env::current_exe().expect("path");
    assert_eq!(seen.times(&program), 1);
    assert!(!seen.unreadable.contains(&open.path), "{:?}", seen.unreadable);
}

#[test]
fn files_of_another_mount_namespace_are_reached() {
    let top = std::env::temp_dir().join(format!("hotset ns {}", std::process::id()));
    std::fs::create_dir(&top).expect("mkdir");
    let script =
        r#"mount -t tmpfs none "$1" && printf abcd > "$1/in here" && exec sleep 60 < "$1/in here""#;
    let mut child = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(&top)
        .stdin(Stdio::null())
        .spawn()
        .expect("spawn");
    let inside = top.join("in here");
    let until = Instant::now() + Duration::from_secs(20);
    let seen = loop {
        let mut seen = Collector::default();
        let present = ProcessFiles::new().visit(child.id(), 0, &mut seen);
        if seen.times(&inside) > 0 || present.is_err() || Instant::now() > until {
            break seen;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let hidden = !inside.exists();
    child.kill().expect("kill");
    child.wait().expect("wait");
    std::fs::remove_dir(&top).expect("cleanup");
    assert!(hidden);
    assert!(
        seen.files.iter().any(|(path, _, size)| *path == inside && *size == 4),
        "{:?}",
        seen.files
    );
}

#[test]
fn by_name_only_the_mapped_file_itself_will_do() {
    let file = ScratchFile::with(b"abc");
    let _map = Mapping::of(&file.path);
    let pid = std::process::id();
    let region = |path: &Path| {
        let all = maps::regions_of(pid).expect("maps").expect("this process");
        all.into_iter().find(|region| region.file.path == path).expect("the mapping")
    };
    let found = region(&file.path);
    let mut files = ProcessFiles::new();
    assert!(matches!(files.mapped_by_name(pid, &found), Ok(Some(_))));
    std::fs::remove_file(&file.path).expect("remove");
    let deleted = region(&file.path);
    assert!(matches!(files.mapped_by_name(pid, &deleted), Err(Unopened::Deleted)));
    std::fs::write(&file.path, b"another").expect("write");
    assert!(matches!(files.mapped_by_name(pid, &found), Err(Unopened::Replaced)));
}

#[test]
fn a_process_that_is_gone_is_no_error() {
    let mut child = Command::new("true").spawn().expect("spawn");
    let mut files = ProcessFiles::new();
    // A zombie has no files, and afterwards it is gone.
    let until = Instant::now() + Duration::from_secs(20);
    while child.try_wait().expect("wait").is_none() && Instant::now() < until {
        files.visit(child.id(), 0, &mut Collector::default()).expect("visit");
    }
    assert!(!files.visit(child.id(), 0, &mut Collector::default()).expect("visit"));
}
