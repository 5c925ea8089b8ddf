//! Does somebody else evict a file's pages while a test looks at it? What the test may hold against hotset hangs on that.
//!
//! Counters of the kernel's tracepoint `mm_filemap_delete_from_page_cache` say: one for every CPU, whoever it was, and one
//! for the calling thread and what it starts. The difference is others' doing: reclaim, a thread of the kernel that evicts
//! idle pages, another process. What was cached before and after would not tell of a page that was evicted and read again.

use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use hotset_sys::proc::mountinfo::{self, Mount};

use crate::programs::loaded_by;
use crate::state::until;
use crate::tracepoints::{Others, Tracepoint};

/// A folio leaves the page cache.
const LEFT: Tracepoint = Tracepoint("filemap", "mm_filemap_delete_from_page_cache");

/// A filter has to fit into a page of memory.
const FILES_A_FILTER: usize = 64;

/// Counts what others take from the page cache of some files, from when it is made.
#[derive(Default)]
pub struct Evictions(Others);

impl Evictions {
    /// Of these files, as far as they exist. An overlay's pages are its layers', which can be anywhere: there, files of other file
    /// systems that have the same number count too.
    pub fn of<P: AsRef<Path>>(files: &[P]) -> Self {
        let mounts = mounts();
        let number = |file: &P| {
            // One that does not exist yet has no page and no number; 0 is none.
            let known = std::fs::metadata(file.as_ref()).map_or(0, |known| known.ino());
            match s_dev_of(&mounts, file.as_ref()) {
                Some(s_dev) => format!("(i_ino == {known} && s_dev == {s_dev})"),
                None => format!("i_ino == {known}"),
            }
        };
        let numbers: Vec<String> = files.iter().map(number).collect();
        Self::those(
            &numbers.chunks(FILES_A_FILTER).map(|some| some.join(" || ")).collect::<Vec<_>>(),
        )
    }

    /// Of the metadata of the file systems of these files, which ext4 has in pages of the device: a task that needs it is charged for
    /// reading it again.
    pub fn of_metadata<P: AsRef<Path>>(files: &[P]) -> Self {
        let devices = devices_of(files);
        Self::those(&devices.into_iter().map(metadata_of).collect::<Vec<_>>())
    }

    /// Of all files of the file system that is mounted there.
    pub fn on(root: &Path) -> Self {
        let mounts = mounts();
        let mount = mount_of(&mounts, root).filter(|mount| mount.mount_point == root);
        let mount = mount.unwrap_or_else(|| panic!("{} is no mount point", root.display()));
        Self::those(&[format!("s_dev == {}", s_dev(mount))])
    }

    /// Of all files.
    pub fn anywhere() -> Self {
        Self::those(&[String::new()])
    }

    fn those(filters: &[String]) -> Self {
        let mut made = Self::default();
        filters.iter().for_each(|filter| made.0.add(LEFT, filter));
        made
    }

    /// Folios that others took from the cache so far: processes that this thread did not start, and the kernel's threads.
    pub fn by_others(&self) -> u64 {
        self.0.count()
    }

    /// Nobody else took any.
    pub fn none(&self) -> bool {
        self.by_others() == 0
    }
}

/// What `attempt` answers, tried again where one of its assertions fails and others evicted pages of these files, or metadata of their
/// file systems, meanwhile. It has to begin with what it needs: a test that fails without that has failed.
pub fn undisturbed<P: AsRef<Path>, T>(files: &[P], mut attempt: impl FnMut() -> T) -> T {
    until("nobody else evicts the files' pages", || once_undisturbed(files, &mut attempt))
}

/// The same of all files of a file system, and of a program and its libraries.
pub fn undisturbed_on<T>(root: &Path, program: &Path, mut attempt: impl FnMut() -> T) -> T {
    let code = loaded_by(program);
    until("nobody else evicts pages of the file system or the program", || {
        let evictions = [Evictions::on(root), Evictions::of(&code)];
        once(|| evictions.iter().all(Evictions::none), &mut attempt)
    })
}

/// One such attempt: nothing where it has to be made again.
pub fn once_undisturbed<P: AsRef<Path>, T>(files: &[P], attempt: impl FnOnce() -> T) -> Option<T> {
    let evictions = [Evictions::of(files), Evictions::of_metadata(files)];
    once(|| evictions.iter().all(Evictions::none), attempt)
}

fn once<T>(undisturbed: impl FnOnce() -> bool, attempt: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(answer) => Some(answer),
        Err(panic) if undisturbed() => resume_unwind(panic),
        Err(_) => None,
    }
}

/// This thread's, which may have mounts of its own.
fn mounts() -> Vec<Mount> {
    let mounts = std::fs::read("/proc/thread-self/mountinfo").expect("mountinfo");
    mountinfo::parse(&mounts).expect("mounts")
}

fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let path = path.canonicalize().ok()?;
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.mount_point));
    // Of those at one place the last covers the others.
    above.max_by_key(|mount| mount.mount_point.components().count())
}

/// The devices that have these files, each once, as the kernel numbers them; not those of overlays.
pub(crate) fn devices_of<P: AsRef<Path>>(files: &[P]) -> Vec<u64> {
    let mounts = mounts();
    let mut devices: Vec<u64> =
        files.iter().filter_map(|file| s_dev_of(&mounts, file.as_ref())).collect();
    devices.sort_unstable();
    devices.dedup();
    devices
}

/// The filter for pages of a device itself: its inode has the device's number (bdev_add() in block/bdev.c) and is on a file system
/// of its own.
pub(crate) fn metadata_of(device: u64) -> String {
    format!("i_ino == {device} && s_dev != {device}")
}

/// The device number of the file system that has a file's pages; nothing on an overlay, where it can be any.
fn s_dev_of(mounts: &[Mount], path: &Path) -> Option<u64> {
    mount_of(mounts, path).filter(|mount| mount.fs_type != "overlay").map(s_dev)
}

/// The device number in the superblock as the kernel has it (MKDEV of include/linux/kdev_t.h); stat(2) has another one on Btrfs.
fn s_dev(mount: &Mount) -> u64 {
    u64::from(mount.dev.major) << 20 | u64::from(mount.dev.minor)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs::File;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::filesystems::{FileSystem, Kind};
    use crate::scratch::{Scratch, text};
    use crate::state::{evict_verified, warm_verified};

    /// A program that was started before the counters were, so that it is somebody else, and evicts a file when told to.
    pub(crate) fn evictor(file: &Path) -> std::process::Child {
        let program = "import os, sys\nsys.stdin.readline()\n\
                       os.posix_fadvise(os.open(sys.argv[1], os.O_RDONLY), 0, 0, os.POSIX_FADV_DONTNEED)\n";
        Command::new("python3")
            .args(["-c", program, text(file)])
            .stdin(Stdio::piped())
            .spawn()
            .expect("python3")
    }

    #[test]
    fn what_another_evicts_is_seen_and_what_the_test_evicts_is_not() {
        let scratch = Scratch::new("evictions");
        let (file, beside) = (scratch.file("f", 8 * crate::PAGE), scratch.file("g", crate::PAGE));
        until("the host evicts nothing for a moment", || {
            warm_verified(&file);
            warm_verified(&beside);
            let mut other = evictor(&file);
            let (seen, quiet) = (Evictions::of(&[&file]), Evictions::of(&[&beside]));
            evict_verified(&file);
            warm_verified(&file);
            let by_host = !seen.none();
            drop(other.stdin.take());
            assert!(other.wait().expect("wait").success());
            assert!(!seen.none(), "eight pages were evicted by another process");
            // Only one moment in which the host itself evicted neither of them tells something.
            (!by_host && quiet.none()).then_some(())
        });
    }

    #[test]
    fn what_a_child_evicts_is_the_tests_own() {
        let scratch = Scratch::new("evictions-own");
        let file = scratch.file("f", 8 * crate::PAGE);
        until("the host evicts nothing for a moment", || {
            warm_verified(&file);
            let seen = Evictions::of(&[&file]);
            let mut child = evictor(&file);
            drop(child.stdin.take());
            assert!(child.wait().expect("wait").success());
            assert!(seen.0.by_everyone() > 0, "they were evicted");
            seen.none().then_some(())
        });
    }

    #[test]
    fn what_is_evicted_on_another_file_system_is_no_matter() {
        let systems = [FileSystem::new(Kind::Ext4), FileSystem::new(Kind::Ext4)];
        let files = systems.each_ref().map(|system| system.path("f"));
        for file in &files {
            std::fs::write(file, [7; 8 * crate::PAGE as usize]).expect("write");
            File::open(file).and_then(|file| file.sync_all()).expect("sync");
        }
        let numbers = files.each_ref().map(|file| std::fs::metadata(file).expect("stat").ino());
        assert_eq!(numbers[0], numbers[1], "the first file of a new file system");
        until("the host evicts nothing for a moment", || {
            files.iter().for_each(|file| warm_verified(file));
            let mut other = evictor(&files[0]);
            let [seen, quiet] = files.each_ref().map(|file| Evictions::of(&[file]));
            drop(other.stdin.take());
            assert!(other.wait().expect("wait").success());
            assert!(!seen.none(), "eight pages were evicted by another process");
            quiet.none().then_some(())
        });
    }
}
