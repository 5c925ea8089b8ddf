//! Does the kernel write back a file's pages while a test looks at it? What is dirty then is less than what turned dirty.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::tracepoints::{Tracepoint, on_each_cpu, sum};

/// A thread of the kernel has written back what it wants of a file: what is dirty for long, more than may be dirty, or what
/// somebody's sync(2) or syncfs(2) asks for. fsync(2) of the file itself does not come here.
const WRITTEN: Tracepoint = Tracepoint("writeback", "writeback_single_inode");

/// Counts how often the kernel's threads wrote pages of a file back, from when it is made.
pub struct Flushes(Vec<File>);

impl Flushes {
    /// Of these files, as far as they exist; those of other file systems that have the same number count too.
    pub fn of<P: AsRef<Path>>(files: &[P]) -> Self {
        let numbers = files.iter().filter_map(|file| std::fs::metadata(file.as_ref()).ok());
        let filters: Vec<String> =
            numbers.map(|known| format!("(ino == {} && wrote > 0)", known.ino())).collect();
        match filters.is_empty() {
            true => Self(Vec::new()),
            false => Self(on_each_cpu(WRITTEN, &filters.join(" || ")).collect()),
        }
    }

    /// None was.
    pub fn none(&self) -> bool {
        sum(&self.0) == 0
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn what_the_kernel_writes_back_is_seen() {
        let scratch = Scratch::new("flushes");
        let (file, beside) = (scratch.path("f"), scratch.path("g"));
        for path in [&file, &beside] {
            std::fs::write(path, []).expect("create");
        }
        File::open(scratch.dir()).and_then(|dir| dir.sync_all()).expect("fsync");
        let (seen, quiet) = (Flushes::of(&[&file]), Flushes::of(&[&beside]));
        assert!(seen.none());
        // Without truncating it: ext4 begins to write such a file when it is closed.
        let mut written = File::options().write(true).open(&file).expect("open");
        written.write_all(&[7; 4096]).expect("write");
        rustix::fs::syncfs(File::open(scratch.dir()).expect("open")).expect("syncfs");
        assert!(!seen.none() && quiet.none());
        assert!(Flushes::of(&[scratch.path("no such file")]).none());
    }
}
