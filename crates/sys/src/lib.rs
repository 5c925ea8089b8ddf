//! Safe wrappers over system calls, /proc and /sys: what is cached, what the host is, what processes did.
//!
//! - `tree` walks file trees, `cache` asks for residency and changes it, `rawio` makes the I/O calls of experiments.
//! - `proc`, `cgroup`, `system` and `environment` tell of processes, control groups and the host. Readers of /proc are pure
//!   parsers (`parse(&[u8])`) with a thin reader around each; a process that vanished is `None` and never an error, because
//!   processes vanish all the time.
//! - `child`, `launch` and `trace` run commands, `replay` does again what was recorded.
//!
//! All of hotset's own unsafe code outside of the sensor lives here. It must not know BPF or output, read arguments, or interpret
//! what it reads.

pub mod advice;
pub mod cache;
mod capabilities;
pub mod cgroup;
pub mod child;
pub mod costs;
pub mod cpu;
pub mod daemon;
mod damon;
pub mod environment;
pub mod extents;
pub mod host;
mod identity;
pub mod interrupt;
pub mod launch;
mod mapping;
mod others;
pub mod perf_event;
pub mod pidfile;
pub mod proc;
pub mod rawio;
pub mod replay;
pub mod scattered;
pub mod support;
pub mod system;
#[cfg(test)]
mod test_support;
pub mod trace;
pub mod tracepoint;
pub mod tree;
pub mod userns;
pub mod users;
pub mod whole_directory;
pub mod whole_file;

pub use environment::{environment, reclaim};
pub use identity::host_identity;
pub use mapping::{FileView, Mapping};
pub use others::CpuUse;
pub use support::host_capabilities;

use std::os::fd::AsFd;

use hotset_facts::{Dev, FileId};

/// The base page size in bytes.
pub fn page_size() -> u64 {
    rustix::param::page_size() as u64
}

/// Base pages that `bytes` from the start of a file span.
pub fn pages_of(bytes: u64) -> u64 {
    bytes.div_ceil(page_size())
}

/// The identity of the file that `stat` describes.
pub fn file_id(stat: &rustix::fs::Stat) -> FileId {
    FileId::new(dev_from_stat(stat.st_dev), stat.st_ino)
}

/// Whether an open file is the one that the sensor met. Where the file system does not tell its generation, device and number
/// have to do: tmpfs does not, and gives a number once.
pub fn is_same_file(fd: impl AsFd, stat: &rustix::fs::Stat, id: &FileId) -> bool {
    let generations = id.generation.zip(generation(fd));
    file_id(stat).same_inode(id) && generations.is_none_or(|(met, here)| met == here)
}

/// The generation of a file's inode, which ext4, XFS, btrfs and F2FS tell.
pub fn generation(fd: impl AsFd) -> Option<u32> {
    // FS_IOC_GETVERSION of include/uapi/linux/fs.h is declared with a long and answers an int.
    const GET_VERSION: rustix::ioctl::Opcode =
        rustix::ioctl::opcode::read::<std::ffi::c_long>(b'v', 1);
    let mut answer = 0_u64;
    // SAFETY: the kernel writes an int, and never more than the long that it was promised.
    unsafe {
        rustix::ioctl::ioctl(fd, rustix::ioctl::Updater::<GET_VERSION, u64>::new(&mut answer))
    }
    .ok()?;
    answer.try_into().ok()
}

fn dev_from_stat(dev: u64) -> Dev {
    Dev { major: rustix::fs::major(dev), minor: rustix::fs::minor(dev) }
}
