//! How busy other programs keep the host.

use std::fs;
use std::time::Instant;

use hotset_facts::units::nanos;
use hotset_facts::{Observed, OtherPrograms, Reason};

use crate::proc::stat::ticks_to_ns;

/// CPU time that was used so far. Of two moments follows what others used between.
#[derive(Debug, Clone, Copy)]
pub struct CpuUse {
    at: Instant,
    host_ns: Option<u64>,
    own_ns: Option<u64>,
}

impl CpuUse {
    /// Up to now, in steps of a clock tick: by all of the host; by this process and the children that it waited for.
    pub fn now() -> Self {
        let read = |path, parse: fn(&str) -> Option<u64>| {
            fs::read_to_string(path).ok().as_deref().and_then(parse).map(ticks_to_ns)
        };
        Self {
            at: Instant::now(),
            host_ns: read("/proc/stat", host_ticks),
            own_ns: read("/proc/self/stat", own_ticks),
        }
    }

    /// What other programs used from then until now.
    pub fn others(self) -> OtherPrograms {
        let now = Self::now();
        let more = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        let cpu_ns = more(now.host_ns, self.host_ns)
            .zip(more(now.own_ns, self.own_ns))
            .map(|(host, own)| host.saturating_sub(own));
        let missing = || Observed::Missing(Reason::unsupported("no CPU times in /proc/stat"));
        OtherPrograms {
            cpu_ns: cpu_ns.map_or_else(missing, Observed::Value),
            within_ns: nanos(now.at.duration_since(self.at)),
        }
    }
}

/// User, nice, system, and both kinds of interrupts, of all CPUs.
fn host_ticks(stat: &str) -> Option<u64> {
    const BUSY: [usize; 5] = [0, 1, 2, 5, 6];
    let fields: Vec<&str> =
        stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().collect();
    BUSY.iter().map(|&at| fields.get(at)?.parse::<u64>().ok()).sum()
}

/// User and system, of the process and of its children.
fn own_ticks(stat: &str) -> Option<u64> {
    // The name can hold anything, so it ends at the last parenthesis; the state after it is field 3.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    (14..=17).map(|number| fields.get(number - 3)?.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_ticks_are_those_of_the_host_and_of_a_family() {
        let stat = "cpu  1 20 300 9 9 4000 50000 9 9 9\ncpu0 9 9 9 9 9 9 9 9 9 9\n";
        assert_eq!(host_ticks(stat), Some(54_321));
        assert_eq!(host_ticks("cpu  1 2 3\n"), None);
        let own = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 1 20 300 4000 20 0 1 0 5";
        assert_eq!(own_ticks(own), Some(4321));
        assert_eq!(own_ticks("7 (a) S 1"), None);
    }

    #[test]
    fn others_used_no_more_than_there_is() {
        let others = CpuUse::now().others();
        let most = others.within_ns.saturating_mul(1 << 12) + 1_000_000_000;
        assert!(others.cpu_ns.value().is_some_and(|ns| ns < most), "{others:?}");
    }
}
