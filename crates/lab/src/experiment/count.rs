//! The sensor, and counting the calls of a probe by it, in runs apart from the timed ones.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use hotset_facts::{FileRow, LookupCounters, Observed};

use crate::command::Invocation;

/// What the sensor saw of one run of a program.
#[derive(Debug)]
pub struct ObservedRun {
    /// The files that it used.
    pub files: Vec<FileRow>,
    /// How it looked for files.
    pub lookups: Observed<LookupCounters>,
}

/// Runs a program under the sensor. The lab knows no more of it.
pub trait Sensor {
    /// Runs it once, to its end.
    ///
    /// # Errors
    /// Where there is no sensor, the program fails, or events were lost.
    fn observe(&mut self, invocation: &Invocation) -> Result<ObservedRun, String>;
}

/// Counts the calls of one run of an invocation that moved or tried to move data of these files, or looked for files. Not
/// those that load the program.
pub type CallCounter<'a> = dyn FnMut(&Invocation, &[PathBuf]) -> Result<u64, String> + 'a;

/// Reads, writes and syncs of these files in one run, through the cache and past it.
///
/// # Errors
/// As [`Sensor::observe`].
pub fn file_calls(
    sensor: &mut dyn Sensor,
    invocation: &Invocation,
    files: &[PathBuf],
) -> Result<u64, String> {
    let inodes: Vec<u64> =
        files.iter().filter_map(|path| Some(path.metadata().ok()?.ino())).collect();
    let seen = sensor.observe(invocation)?;
    let rows = seen.files.iter().filter(|row| inodes.contains(&row.id.ino));
    Ok(rows.map(calls_of).sum())
}

fn calls_of(row: &FileRow) -> u64 {
    let io = row.io();
    io.read.as_value().map_or(0, |read| read.calls)
        + io.write.as_value().map_or(0, |write| write.calls)
        + io.direct.as_value().map_or(0, |direct| direct.read_calls + direct.write_calls)
        + io.sync.as_value().map_or(0, |sync| sync.calls)
}
