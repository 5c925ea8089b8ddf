//! Does somebody else write back a file's pages while a test looks at it? What is dirty then is less than what turned dirty.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;

use crate::state::until;
use crate::tracepoints::{Others, Tracepoint};

/// A thread of the kernel writes back what it wants of a file: what is dirty for long, more than may be dirty, or what
/// somebody's sync(2) or syncfs(2) asks for. What a process writes back of one file does not come here.
const BY_KERNEL: Way = Way {
    begins: Tracepoint("writeback", "writeback_single_inode_start"),
    ends: Tracepoint("writeback", "writeback_single_inode"),
    kind: "",
    wrote: "wrote > 0",
};

/// ext4 writes back pages of a file, for anyone: posix_fadvise(2) with POSIX_FADV_DONTNEED begins to, before it evicts
/// what is clean. On other file systems, what another process writes back so is not told. fsync(2), which a thread of the kernel
/// does for Linux AIO, waits for what it writes, and this does not: WB_SYNC_NONE, which is 0.
const BY_EXT4: Way = Way {
    begins: Tracepoint("ext4", "ext4_writepages"),
    ends: Tracepoint("ext4", "ext4_writepages_result"),
    kind: " && sync_mode == 0",
    wrote: "pages_written > 0",
};

/// How pages are written back, and what in a tracepoint tells that they were.
struct Way {
    begins: Tracepoint,
    ends: Tracepoint,
    kind: &'static str,
    wrote: &'static str,
}

/// Counts how often others wrote pages of some files back, from when it is made.
#[derive(Default)]
pub struct Flushes {
    wrote: Others,
    begun: Others,
    ended: Others,
}

impl Flushes {
    /// Of these files, as far as they exist; those of other file systems that have the same number count too.
    pub fn of<P: AsRef<Path>>(files: &[P]) -> Self {
        let numbers = files.iter().filter_map(|file| std::fs::metadata(file.as_ref()).ok());
        let numbers: Vec<String> = numbers.map(|known| format!("ino == {}", known.ino())).collect();
        let mut made = Self::default();
        if !numbers.is_empty() {
            let files = format!("({})", numbers.join(" || "));
            made.add(&BY_KERNEL, &files);
            made.add(&BY_EXT4, &files);
        }
        made
    }

    fn add(&mut self, way: &Way, files: &str) {
        let (kind, wrote) = (way.kind, way.wrote);
        self.begun.add(way.begins, &format!("{files}{kind}"));
        self.ended.add(way.ends, &format!("{files}{kind}"));
        self.wrote.add(way.ends, &format!("{files}{kind} && {wrote}"));
    }

    /// None was, and nobody is at it: pages are no longer dirty before it is told that they were written.
    pub fn none(&self) -> bool {
        self.wrote.count() == 0 && self.begun.count() == self.ended.count()
    }
}

/// What `look` answers of a new file that `write` has just written; tried again where one of its assertions fails and others wrote
/// pages of the file back meanwhile.
pub fn while_dirty<T>(path: &Path, write: impl Fn(&File), mut look: impl FnMut() -> T) -> T {
    until("nobody else writes the file back", || {
        // Of one that is truncated instead, ext4 begins to write the pages when it is closed.
        let _ = std::fs::remove_file(path);
        let file = File::create(path).expect("create");
        let flushes = Flushes::of(&[path]);
        write(&file);
        drop(file);
        match catch_unwind(AssertUnwindSafe(&mut look)) {
            Ok(answer) => Some(answer),
            Err(failure) if flushes.none() => resume_unwind(failure),
            Err(_) => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::evictions::tests::evictor;
    use crate::scratch::Scratch;

    /// A file that exists on disk with dirty pages, which nobody has begun to write, as ext4 does for one that is truncated.
    fn dirty(file: &Path) -> File {
        std::fs::write(file, []).expect("create");
        File::open(file).and_then(|file| file.sync_all()).expect("fsync");
        let mut written = File::options().write(true).open(file).expect("open");
        written.write_all(&[7; 4096]).expect("write");
        written
    }

    #[test]
    fn what_the_kernel_writes_back_is_seen() {
        let scratch = Scratch::new("flushes");
        let (file, beside) = (scratch.path("f"), scratch.path("g"));
        until("nobody else syncs the file system for a moment", || {
            let (_file, beside_file) = (dirty(&file), dirty(&beside));
            beside_file.sync_all().expect("fsync");
            let (seen, quiet) = (Flushes::of(&[&file]), Flushes::of(&[&beside]));
            let before = seen.none();
            rustix::fs::syncfs(File::open(scratch.dir()).expect("open")).expect("syncfs");
            assert!(!seen.none());
            (before && quiet.none()).then_some(())
        });
        assert!(Flushes::of(&[scratch.path("no such file")]).none());
    }

    /// What is dirty when the other process is to evict it, is written back first.
    #[test]
    fn what_another_process_writes_back_is_seen_and_what_the_test_does_is_not() {
        let scratch = Scratch::new("flushes-others");
        let file = scratch.path("f");
        until("nobody else syncs the file system for a moment", || {
            let mut other = evictor(&file);
            let mut written = dirty(&file);
            let seen = Flushes::of(&[&file]);
            written.sync_all().expect("fsync");
            let own = seen.none();
            written.write_all(&[7; 4096]).expect("write");
            drop(other.stdin.take());
            assert!(other.wait().expect("wait").success());
            assert!(!seen.none(), "a page was written back by another process");
            own.then_some(())
        });
    }
}
