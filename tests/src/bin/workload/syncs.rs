//! Syncs of what is no file: a directory, a file system, all of them. And syncs that fail.

use std::fs::{File, OpenOptions};
use std::io::Error;
use std::os::fd::AsRawFd;
use std::time::Instant;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::args::Args;
use super::truth::{FileTruth, Truth};
use super::{Doing, Outcome, aio, uring_ops};

/// `FS_IOC_SHUTDOWN`, and that its log is not written first (include/uapi/linux/fs.h, fs/ext4/ext4.h, fs/xfs/libxfs/xfs_fs.h).
const SHUTDOWN: u64 = 0x8004_587d;
static WITHOUT_LOG: u32 = 2;

/// Nanoseconds in the calls of each kind, by the clock around them.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct SyncTruth {
    pub(super) directory_ns: u64,
    pub(super) file_system_ns: u64,
    pub(super) all_ns: u64,
}

/// `syncs --count N`: N times a new name in the directory `--file` and fsync of the directory, then N calls of syncfs on
/// it, and one of sync.
pub(super) fn syncs(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let count = args.number("--count", 5)?;
    let dir = File::open(&path).doing(path.display())?;
    let mut syncs = SyncTruth::default();
    for index in 0..count {
        let name = path.join(format!("name-{index}"));
        OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .open(&name)
            .doing(name.display())?;
        syncs.directory_ns += timed(|| rustix::fs::fsync(&dir))?;
    }
    for _ in 0..count {
        syncs.file_system_ns += timed(|| rustix::fs::syncfs(&dir))?;
    }
    syncs.all_ns += timed(|| {
        rustix::fs::sync();
        Ok(())
    })?;
    Ok(Truth {
        case: args.case().to_owned(),
        page_size: hotset_sys::page_size(),
        pid: std::process::id(),
        file: FileTruth::of(&path, &dir)?,
        sync_calls: count,
        syncs: Some(syncs),
        ..Truth::default()
    })
}

/// `syncs-that-fail`: shuts the file system of `--file` down, as after an error of its device, then fsync of the file by a call, by
/// io_uring and by Linux AIO. Each fails.
pub(super) fn that_fail(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::open(&path).doing(path.display())?;
    // XFS says nothing of its files any more once it is shut down.
    let identity = FileTruth::of(&path, &file)?;
    // SAFETY: reads one number.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), SHUTDOWN, &raw const WITHOUT_LOG) };
    if answer != 0 {
        return Err(Error::last_os_error()).doing("FS_IOC_SHUTDOWN");
    }
    let called = rustix::fs::fsync(&file).map_or_else(|error| -error.raw_os_error(), |()| 0);
    let results = [i64::from(called), uring_ops::fsync(&file)?.into(), aio::fsync(args, &file)?];
    if results != [-i64::from(libc::EIO); 3] {
        return Err(format!("fsync, by io_uring, by AIO: {results:?}").into());
    }
    Ok(Truth {
        case: args.case().to_owned(),
        page_size: hotset_sys::page_size(),
        pid: std::process::id(),
        file: identity,
        sync_calls: results.len() as u64,
        ..Truth::default()
    })
}

fn timed(call: impl FnOnce() -> Result<(), Errno>) -> Outcome<u64> {
    let start = Instant::now();
    call().doing("sync")?;
    Ok(u64::try_from(start.elapsed().as_nanos())?)
}
