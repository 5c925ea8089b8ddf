//! Syncs of what is no file: a directory, a file system, all of them.

use std::fs::{File, OpenOptions};
use std::time::Instant;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::args::Args;
use super::truth::{FileTruth, Truth};
use super::{Doing, Outcome};

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

fn timed(call: impl FnOnce() -> Result<(), Errno>) -> Outcome<u64> {
    let start = Instant::now();
    call().doing("sync")?;
    Ok(u64::try_from(start.elapsed().as_nanos())?)
}
