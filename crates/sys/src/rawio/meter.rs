//! What the kernel did for this process between two moments.

use std::time::Instant;

use super::answer::Repetition;
use crate::child::{Usage, own_usage};
use crate::proc::pid_io;

/// The totals of the process so far.
#[derive(Debug, Clone, Copy)]
pub struct Meter {
    /// Read and write calls; none where the kernel doesn't tell.
    calls: Option<(u64, u64)>,
    /// Read calls that looking at the calls takes.
    own_reads: u64,
    usage: Usage,
}

impl Meter {
    /// The totals before a timed part: the cheap ones last, so that least is between them and the clock.
    pub fn before() -> Self {
        let (first, calls) = (calls(), calls());
        // A look does not show itself, so the second one shows what the first one took.
        let own_reads = calls.zip(first).map_or(0, |(now, before)| now.0.saturating_sub(before.0));
        Self { calls, own_reads, usage: usage() }
    }

    /// What was added since, for a part that took `wall_ns`. Call it right after the clock.
    pub fn after(self, wall_ns: u64) -> Repetition {
        let usage = usage();
        let calls = calls().zip(self.calls);
        let before = self.usage;
        let cpu_ns = |usage: &Usage| usage.user_ns + usage.system_ns;
        Repetition {
            wall_ns,
            cpu_ns: Some(cpu_ns(&usage).saturating_sub(cpu_ns(&before))),
            device_read_bytes: Some(usage.device_read_bytes - before.device_read_bytes),
            major_faults: Some(usage.major_faults - before.major_faults),
            minor_faults: Some(usage.minor_faults - before.minor_faults),
            preempted: Some(usage.involuntary_switches - before.involuntary_switches),
            read_calls: calls.map(|(now, old)| now.0.saturating_sub(old.0 + self.own_reads)),
            write_calls: calls.map(|(now, old)| now.1.saturating_sub(old.1)),
            ..Repetition::default()
        }
    }
}

/// Times what `work` does.
///
/// # Errors
/// As `work` gives them.
pub fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<(T, Repetition), E> {
    let meter = Meter::before();
    let started = Instant::now();
    let done = work();
    let wall = started.elapsed();
    let repetition = meter.after(hotset_facts::units::nanos(wall));
    Ok((done?, repetition))
}

fn calls() -> Option<(u64, u64)> {
    pid_io::own().ok().flatten().map(|io| (io.read_calls, io.write_calls))
}

fn usage() -> Usage {
    own_usage(libc::RUSAGE_SELF)
}
