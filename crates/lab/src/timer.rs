//! What limits how short a time can be told here.

use std::path::Path;

use hotset_facts::{Observed, Reason, Timer};
use hotset_sys::launch::Launch;
use rustix::time::{ClockId, clock_getres};

/// A program that does nothing, and how often it is timed in a batch.
const NOTHING: &str = "/bin/true";
const SPAWNS: usize = 20;
/// A burst of other work disturbs one batch; on a host that is always busy, all vary.
const BATCHES: usize = 3;

/// Asks the clock, and times a command that does nothing for how much its time varies.
pub fn timer() -> Timer {
    let resolution = clock_getres(ClockId::Monotonic);
    let seconds = u64::try_from(resolution.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(resolution.tv_nsec).unwrap_or(0);
    Timer {
        resolution_ns: seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds),
        spawn_noise_ns: spawn_noise_ns().map_or_else(
            || Observed::Missing(Reason::not_measured("/bin/true can't be run")),
            Observed::Value,
        ),
    }
}

/// The inter-quartile range of the batch that varies least.
fn spawn_noise_ns() -> Option<u64> {
    let mut launch = Launch::new(Path::new(NOTHING), &[NOTHING.into()], [None, None, None]).ok()?;
    let mut batch = || -> Option<u64> {
        let mut times = (0..SPAWNS)
            .map(|_| launch.time().ok().map(|timed| timed.wall.as_nanos() as u64))
            .collect::<Option<Vec<u64>>>()?;
        times.sort_unstable();
        Some(times[SPAWNS * 3 / 4] - times[SPAWNS / 4])
    };
    (0..BATCHES).map(|_| batch()).collect::<Option<Vec<u64>>>()?.into_iter().min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_has_a_resolution_and_spawns_vary() {
        let timer = timer();
        assert!((1..1_000_000_000).contains(&timer.resolution_ns));
        assert!(timer.spawn_noise_ns.value().is_some_and(|noise| noise > 0));
    }
}
