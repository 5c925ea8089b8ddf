//! The sensor for experiments: a program under it, in a run apart from the timed ones.

use hotset_facts::ExitStatus;
use hotset_lab::experiment::{ObservedRun, Sensor};
use hotset_lab::{Command, Invocation, Output, Streams};
use hotset_observe::{Options, Scope, Session};

use crate::Say;
use crate::children::observe;

/// The sensor, started anew for each run.
#[derive(Debug, Clone, Copy)]
pub struct LabSensor {
    /// Hears of errors that a run survives.
    pub say: Say,
}

impl Sensor for LabSensor {
    fn observe(&mut self, invocation: &Invocation) -> Result<ObservedRun, String> {
        let streams = Streams { output: Output::Tail, ..Streams::default() };
        let mut command = Command::new(invocation, &streams).map_err(|error| error.to_string())?;
        let session =
            Session::start(Options::new(Scope::Children)).map_err(|error| error.to_string())?;
        let (ended, seen) = observe(session, None, self.say, || command.start())
            .map_err(|error| error.to_string())?;
        if ended.exit != ExitStatus::Code(0) {
            return Err(String::from_utf8_lossy(&command.tail()).trim().to_owned());
        }
        match seen.sensor.losses.events + seen.sensor.losses.of_counts() {
            0 => {
                let lookups = seen.lookups.map(|lookups| lookups.counters);
                Ok(ObservedRun { files: seen.files, lookups })
            }
            lost => Err(format!("the sensor lost {lost} events")),
        }
    }
}
