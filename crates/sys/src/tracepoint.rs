//! How often a tracepoint fires for the programs that this thread starts.
//!
//! `mm_filemap_add_to_page_cache` fires once a folio, whatever its size: the number that tools which count kernel
//! functions call misses.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::perf_event::{self, Event};

const PERF_TYPE_TRACEPOINT: u32 = 2;
/// The flags in perf_event_attr: off at first, children are counted too, and on from the moment that one executes a program.
const FLAGS: u64 = 1 | 1 << 1 | 1 << 12;
/// Where tracefs is mounted: its own place, and the one below debugfs.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// A counter of one tracepoint. It counts in every program that the thread which opened it starts afterwards, and in what
/// those start, from their execve on; they have to end to be counted in full. The thread itself is not counted.
#[derive(Debug)]
pub struct TracepointCounter {
    event: File,
}

impl TracepointCounter {
    /// Opens the counter of `category:name`, for example `filemap:mm_filemap_add_to_page_cache`.
    ///
    /// # Errors
    /// Where tracefs isn't mounted or may not be read, there is no such tracepoint, or the kernel refuses
    /// (perf_event_open(2) asks for CAP_PERFMON).
    pub fn open(category: &str, name: &str) -> io::Result<Self> {
        let id = tracepoint_id(category, name)?;
        let event =
            Event { kind: PERF_TYPE_TRACEPOINT, config: id, flags: FLAGS, ..Event::default() };
        let fd = perf_event::open(event, 0, -1).map_err(|error| {
            io::Error::new(error.kind(), format!("counting {category}:{name}: {error}"))
        })?;
        Ok(Self { event: fd.into() })
    }

    /// How often it has fired so far.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn read(&self) -> io::Result<u64> {
        let mut count = [0_u8; 8];
        (&self.event).read_exact(&mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

/// The number that the kernel gave to `category:name`, as perf_event_open(2) wants it.
///
/// # Errors
/// Where tracefs isn't mounted or may not be read, or there is no such tracepoint.
pub fn tracepoint_id(category: &str, name: &str) -> io::Result<u64> {
    let mut refused = io::Error::from(io::ErrorKind::NotFound);
    for root in TRACEFS {
        let path: PathBuf = Path::new(root).join("events").join(category).join(name).join("id");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                return text.trim().parse().map_err(|_| {
                    let said = format!("{}: {:?} is not a number", path.display(), text.trim());
                    io::Error::new(io::ErrorKind::InvalidData, said)
                });
            }
            Err(error) => {
                refused = io::Error::new(error.kind(), format!("{}: {error}", path.display()));
            }
        }
    }
    Err(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{ScratchFile, ensure_tracefs};
    use std::process::Command;

    #[test]
    fn a_child_that_fills_the_cache_is_counted() {
        ensure_tracefs();
        let scratch = ScratchFile::on_disk(&vec![1_u8; 1 << 20]);
        let (path, file) = (&scratch.path, &scratch.file);
        file.sync_all().expect("sync");
        let pages = || crate::cache::residency(file).expect("residency").cached_pages;
        let read = || Command::new("cat").arg(path).output().expect("cat").stdout.len();
        let added = |counter: &TracepointCounter| counter.read().expect("count");
        rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).expect("evict");
        assert_eq!(pages(), 0, "evicted");
        let counter =
            TracepointCounter::open("filemap", "mm_filemap_add_to_page_cache").expect("open");
        assert_eq!(read(), 1 << 20);
        let cold = added(&counter);
        // At most a folio a page; and fewer than one folio of 2 MiB can't be.
        assert!((1..=256 + 64).contains(&cold), "{cold} folios for 256 pages");
        assert_eq!(read(), 1 << 20);
        let warm = added(&counter) - cold;
        assert!(warm < cold.max(8), "{warm} more with everything cached, {cold} before");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = TracepointCounter::open("filemap", "no_such_thing").expect_err("refused");
        assert!(error.to_string().contains("no_such_thing"), "{error}");
    }
}
