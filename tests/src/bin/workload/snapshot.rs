//! The kernel's own counters of this process, before and after a loop.

use std::os::fd::AsFd;

use rustix::io::Errno;

use super::{Doing, Outcome};

/// Counters of this process, all threads and waited-for children included where the kernel adds them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Snapshot {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
    pub(super) minor_faults: u64,
    pub(super) major_faults: u64,
}

impl Snapshot {
    /// The counters before the loop; faults last, because reading the others makes some.
    pub(super) fn start() -> Outcome<Self> {
        let (read_bytes, write_bytes) = block_bytes()?;
        let (minor_faults, major_faults) = faults();
        Ok(Self { read_bytes, write_bytes, minor_faults, major_faults })
    }

    /// What was added since; faults first.
    pub(super) fn added(self) -> Outcome<Self> {
        let (minor_faults, major_faults) = faults();
        let (read_bytes, write_bytes) = block_bytes()?;
        Ok(Self {
            read_bytes: read_bytes - self.read_bytes,
            write_bytes: write_bytes - self.write_bytes,
            minor_faults: minor_faults - self.minor_faults,
            major_faults: major_faults - self.major_faults,
        })
    }
}

fn block_bytes() -> Outcome<(u64, u64)> {
    let io = hotset_sys::proc::pid_io::own()?.ok_or("/proc/self/io is gone")?;
    Ok((io.read_bytes, io.write_bytes))
}

/// Minor and major faults of all threads.
fn faults() -> (u64, u64) {
    // SAFETY: all bytes zero is a valid rusage, and getrusage only writes to it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &raw mut usage);
        usage
    };
    (usage.ru_minflt.unsigned_abs(), usage.ru_majflt.unsigned_abs())
}

/// Makes this program's own pages resident, so that the loop's faults and device reads are the file's alone.
pub(super) fn pin_own_pages() {
    // SAFETY: takes a flag and has no preconditions. It may be refused by a limit, and then the first run of a
    // cold program counts a few faults of its own.
    let _ = unsafe { libc::mlockall(libc::MCL_CURRENT) };
    // The first look at the clock faults in the kernel's page for it, which can't be locked.
    let _ = std::time::Instant::now();
}

/// Makes the file system learn where the file's blocks are: reading its map of extents would count as device reads.
pub(super) fn learn_extents(fd: impl AsFd) {
    let fd = fd.as_fd();
    let Ok(position) = rustix::fs::tell(fd) else { return };
    // A walk over all extents up to the first hole, which is the end of a dense file.
    let _ = rustix::fs::seek(fd, rustix::fs::SeekFrom::Hole(0));
    let _ = rustix::fs::seek(fd, rustix::fs::SeekFrom::Start(position));
}

/// Cached and dirty pages of a whole file; before Linux 6.5 the first by mincore(2), and the second unknown.
pub(super) fn cached_and_dirty(fd: impl AsFd) -> Outcome<(u64, Option<u64>)> {
    let fd = fd.as_fd();
    if hotset_sys::cache::hides_pages(fd) {
        return Err(
            "cachestat(2) sees no pages on overlayfs or FUSE: name the layer's file with --probe"
                .into(),
        );
    }
    let size = rustix::fs::fstat(fd).doing("fstat")?.st_size.unsigned_abs();
    match hotset_sys::cache::cachestat(fd, 0, size) {
        Ok(answer) => Ok((answer.cached, Some(answer.dirty))),
        Err(Errno::NOSYS) => Ok((hotset_sys::cache::residency(fd)?.cached_pages, None)),
        Err(errno) => Err(format!("cachestat: {errno}").into()),
    }
}

/// Cached pages of exactly this range; unknown before Linux 6.5, for mincore(2) leaves out what is being read in.
pub(super) fn cached_in(fd: impl AsFd, offset: u64, len: u64) -> Outcome<Option<u64>> {
    match hotset_sys::cache::cached_pages_in(fd, offset, len) {
        Ok(cached) => Ok(Some(cached)),
        Err(Errno::NOSYS) => Ok(None),
        Err(errno) => Err(format!("cachestat before a request: {errno}").into()),
    }
}
