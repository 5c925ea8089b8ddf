//! A session that keeps no record, and what each call site asked for: for `run` and `attach`.

use std::sync::mpsc::Receiver;

use anyhow::Result;
use hotset_facts::CallSites;
use hotset_observe::{Observation, ObserveError, RecordOptions, Session};

use super::{Namer, STACK_BYTES, SiteTable, Taken};
use crate::Say;
use crate::recording::{Finished, Pipe, Recorder, Whose};

/// What the thread leaves.
pub(crate) type Counted = (SiteTable, super::Named);

/// What the sensor is asked for where call sites are asked for.
pub(crate) fn options() -> RecordOptions {
    RecordOptions { stack_bytes: STACK_BYTES, ..RecordOptions::default() }
}

/// Counts from now on.
///
/// # Errors
/// Where the system has no thread to spare, or the sensor no table.
pub(crate) fn start(session: Session, say: Say) -> Result<Recorder<Counted>> {
    let namer = Namer::new(session.chains()?);
    let pipe = Pipe::start("call sites", |batches| count(namer, &batches))?;
    Ok(Recorder::new(session, pipe, Whose::Nobody, say))
}

fn count(mut namer: Namer, batches: &Receiver<Taken>) -> Counted {
    let mut table = SiteTable::default();
    while let Some(batch) = namer.next(batches) {
        table.add(batch);
    }
    (table, namer.named())
}

/// Detaches the sensor, and says who asked for what; nobody where the thread that counted has died.
///
/// # Errors
/// Where what the sensor counted can't be read.
pub(crate) fn finish(
    recorder: Recorder<Counted>,
) -> Result<(Observation, Option<CallSites>), ObserveError> {
    let Finished { observation, pipe, last, losses, .. } = recorder.finish()?;
    let sites = pipe.finish(last).result.map(|(table, mut named)| {
        named.contexts.refused += losses.stacks;
        table.finish(named, losses.records)
    });
    Ok((observation, sites))
}
