//! What the rest of the host did meanwhile: stolen time and pressure.

use hotset_facts::{Observed, Reason};
use hotset_sys::proc::stat::ticks_to_ns;

/// The field of /proc/stat's first line that counts stolen ticks, from 0 after the word `cpu`.
const STEAL_FIELD: usize = 7;

/// Totals since boot. The difference of two says what happened between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostLoad {
    /// Time that the hypervisor took from all CPUs, in steps of a clock tick.
    pub steal_ns: Observed<u64>,
    /// Time in which some task waited for a CPU.
    pub cpu_pressure_ns: Observed<u64>,
    /// Time in which some task waited for I/O.
    pub io_pressure_ns: Observed<u64>,
}

impl HostLoad {
    /// The totals now.
    pub fn now() -> Self {
        Self {
            steal_ns: read("/proc/stat", steal_ns, "no stolen time in /proc/stat"),
            cpu_pressure_ns: read("/proc/pressure/cpu", pressure_ns, "no PSI in this kernel"),
            io_pressure_ns: read("/proc/pressure/io", pressure_ns, "no PSI in this kernel"),
        }
    }

    /// What was added since `before`.
    pub fn since(self, before: Self) -> Self {
        let less = |now: Observed<u64>, before: Observed<u64>| {
            now.zip_with(before, |now: u64, before| now.saturating_sub(before))
        };
        Self {
            steal_ns: less(self.steal_ns, before.steal_ns),
            cpu_pressure_ns: less(self.cpu_pressure_ns, before.cpu_pressure_ns),
            io_pressure_ns: less(self.io_pressure_ns, before.io_pressure_ns),
        }
    }

    /// Tasks that ran or waited to run, averaged over the last minute.
    pub fn average() -> Option<f64> {
        std::fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
    }
}

fn read(path: &str, parse: fn(&str) -> Option<u64>, what: &'static str) -> Observed<u64> {
    match std::fs::read_to_string(path).ok().as_deref().and_then(parse) {
        Some(value) => Observed::Value(value),
        None => Observed::Missing(Reason::unsupported(what)),
    }
}

fn steal_ns(text: &str) -> Option<u64> {
    let fields = text.lines().next()?.strip_prefix("cpu ")?;
    fields.split_ascii_whitespace().nth(STEAL_FIELD)?.parse().ok().map(ticks_to_ns)
}

fn pressure_ns(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some.split(' ').find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_ticks_and_pressure_are_read() {
        let stat = "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 9 9 9 9 9 9 9 9 9 9\n";
        assert_eq!(steal_ns(stat), Some(ticks_to_ns(8)));
        assert_eq!(steal_ns("cpu  1 2 3\n"), None);
        let psi = "some avg10=0.00 avg60=0.12 avg300=0.00 total=12345\nfull avg10=0.00 total=9\n";
        assert_eq!(pressure_ns(psi), Some(12_345_000));
        assert_eq!(pressure_ns("full total=9\n"), None);
    }

    #[test]
    fn a_missing_total_makes_no_difference_of_zero() {
        let missing = Observed::Missing(Reason::unsupported("x"));
        let before =
            HostLoad { steal_ns: 5.into(), cpu_pressure_ns: missing, io_pressure_ns: 7.into() };
        let after = HostLoad { steal_ns: 9.into(), cpu_pressure_ns: 3.into(), ..before };
        let between = after.since(before);
        assert_eq!((between.steal_ns, between.io_pressure_ns), (4.into(), 0.into()));
        assert_eq!(between.cpu_pressure_ns, missing);
    }

    #[test]
    fn this_host_tells_of_stolen_time() {
        assert!(HostLoad::now().steal_ns.value().is_some());
        assert!(HostLoad::average().is_some_and(|load| load >= 0.0));
    }
}
