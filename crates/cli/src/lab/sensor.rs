//! The sensor for experiments: a program under it, in a run apart from the timed ones.

use std::time::Instant;

use hotset_facts::ExitStatus;
use hotset_lab::experiment::{self, ObservedRun};
use hotset_lab::{Command, Invocation, Output, Streams};
use hotset_observe::{Options, Scope, Session};
use hotset_sys::child::Running;

use crate::supervise::stay_observed;

/// The sensor, started anew for each run.
pub(super) struct Sensor;

impl experiment::Sensor for Sensor {
    fn observe(&mut self, invocation: &Invocation) -> Result<ObservedRun, String> {
        let streams = Streams { output: Output::Tail, ..Streams::default() };
        let mut command = Command::new(invocation, &streams).map_err(|error| error.to_string())?;
        let mut session =
            Session::start(Options::new(Scope::Children)).map_err(|error| error.to_string())?;
        let started = Instant::now();
        let pid = session
            .following_children(|| command.start())
            .map_err(|error| error.to_string())?
            .map_err(|error| error.to_string())?;
        let ended = stay_observed(&mut session, Running { pid, started }, None)
            .map_err(|error| error.to_string())?;
        let seen = session.finish().map_err(|error| error.to_string())?;
        if ExitStatus::from_wait_status(ended.usage.wait_status) != ExitStatus::Code(0) {
            return Err(String::from_utf8_lossy(&command.tail()).trim().to_owned());
        }
        let lost = seen.sensor.events_lost + seen.sensor.entries_lost;
        if lost > 0 {
            return Err(format!("the sensor lost {lost} events"));
        }
        let lookups = seen.lookups.map(|lookups| lookups.counters);
        Ok(ObservedRun { files: seen.files, lookups })
    }
}
