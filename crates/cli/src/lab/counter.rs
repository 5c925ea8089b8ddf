//! Counting the calls of a probe by the sensor, in a run apart from the timed ones.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use hotset_facts::{ExitStatus, FileRow};
use hotset_lab::experiment::{CallCounter, CountedCalls};
use hotset_lab::{Command, Invocation, Output, Streams};
use hotset_observe::{Observation, Options, Scope, Session};

use crate::bench::sensor_wait;

/// The sensor, started anew for each run.
pub(super) struct Sensor;

impl CallCounter for Sensor {
    fn method(&self) -> &'static str {
        "sensor"
    }

    fn count(
        &mut self,
        invocation: &Invocation,
        files: &[PathBuf],
    ) -> Result<CountedCalls, String> {
        let inodes: Vec<u64> =
            files.iter().filter_map(|path| Some(path.metadata().ok()?.ino())).collect();
        let seen = observed(invocation)?;
        let rows = seen.files.iter().filter(|row| inodes.contains(&row.id.ino));
        Ok(calls_of(rows))
    }
}

/// A run under the sensor, of which nothing was lost.
///
/// # Errors
/// Where there is no sensor, the program fails, or events were lost.
pub(super) fn observed(invocation: &Invocation) -> Result<Observation, String> {
    let streams = Streams { output: Output::Tail, ..Streams::default() };
    let mut command = Command::new(invocation, &streams).map_err(|error| error.to_string())?;
    let mut session =
        Session::start(Options::new(Scope::Children)).map_err(|error| error.to_string())?;
    let started = Instant::now();
    let pid = session
        .following_children(|| command.start())
        .map_err(|error| error.to_string())?
        .map_err(|error| error.to_string())?;
    let (usage, _) = sensor_wait(&mut session, pid, started).map_err(|error| error.to_string())?;
    let seen = session.finish().map_err(|error| error.to_string())?;
    if ExitStatus::from_wait_status(usage.wait_status) != ExitStatus::Code(0) {
        return Err(String::from_utf8_lossy(&command.tail()).trim().to_owned());
    }
    let lost = seen.sensor.events_lost + seen.sensor.entries_lost;
    if lost > 0 {
        return Err(format!("the sensor lost {lost} events"));
    }
    Ok(seen)
}

/// Reads and writes, through the cache and past it.
fn calls_of<'a>(rows: impl Iterator<Item = &'a FileRow>) -> CountedCalls {
    let (mut reads, mut writes, mut syncs) = (0, 0, 0);
    for row in rows {
        let io = row.io.unpack();
        reads += io.read.as_value().map_or(0, |read| read.calls);
        writes += io.write.as_value().map_or(0, |write| write.calls);
        reads += io.direct.as_value().map_or(0, |direct| direct.read_calls);
        writes += io.direct.as_value().map_or(0, |direct| direct.write_calls);
        syncs += io.sync.as_value().map_or(0, |sync| sync.calls);
    }
    let by_name = [("read", reads), ("write", writes), ("sync", syncs)];
    let by_name = by_name.into_iter().filter(|(_, calls)| *calls > 0);
    CountedCalls {
        calls: reads + writes + syncs,
        by_name: by_name.map(|(name, calls)| (name.to_owned(), calls)).collect(),
    }
}
