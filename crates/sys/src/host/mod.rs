//! What the host says of its memory, interval by interval.

mod group;

use hotset_facts::{HostMemory, MemInfo, Observed, Pressure, Reason};

use crate::proc::pressure::{self, Stalled};
use crate::proc::vmstat::{self, VmStat};
use crate::proc::{ProcError, meminfo};

pub use group::{GroupCache, GroupCacheReader};

const FIRST: Reason =
    Reason::not_measured("an interval has a beginning, and this is the first look");
const BACKWARDS: Reason = Reason::lost("the kernel's counter went backwards");
const NO_COUNTER: Reason = Reason::unsupported("this kernel's /proc/vmstat has no such line");
const MEMINFO: Reason = Reason::unsupported("/proc/meminfo can't be read or understood");
const VMSTAT: Reason = Reason::unsupported("/proc/vmstat can't be read or understood");
const DENIED: Reason = Reason::denied("/proc may not be read here");

/// The kernel's counters at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Look {
    refaulted: Observed<u64>,
    stolen: Observed<u64>,
    written: Observed<u64>,
    memory: Stalled,
    io: Stalled,
    cpu: Stalled,
}

impl Look {
    fn now() -> Self {
        let stat = vmstat::now();
        Self::of(
            stat.as_ref().map_err(|error| reason(error, VMSTAT)),
            [pressure::of("memory"), pressure::of("io"), pressure::of("cpu")],
        )
    }

    fn of(stat: Result<&VmStat, Reason>, [memory, io, cpu]: [Stalled; 3]) -> Self {
        let counter = |field: fn(&VmStat) -> Option<u64>| match stat {
            Ok(stat) => field(stat).map_or(Observed::Missing(NO_COUNTER), Observed::Value),
            Err(reason) => Observed::Missing(reason),
        };
        Self {
            refaulted: counter(|stat| stat.refaulted_file),
            stolen: counter(|stat| stat.stolen_file),
            written: counter(|stat| stat.written),
            memory,
            io,
            cpu,
        }
    }

    fn since(&self, before: &Self, memory: Observed<MemInfo>) -> HostMemory {
        HostMemory {
            memory,
            refaulted_pages: difference(self.refaulted, before.refaulted),
            reclaimed_pages: difference(self.stolen, before.stolen),
            written_back_pages: difference(self.written, before.written),
            pressure: Pressure {
                memory_some_ns: difference(self.memory.some_ns, before.memory.some_ns),
                memory_full_ns: difference(self.memory.full_ns, before.memory.full_ns),
                io_some_ns: difference(self.io.some_ns, before.io.some_ns),
                io_full_ns: difference(self.io.full_ns, before.io.full_ns),
                cpu_some_ns: difference(self.cpu.some_ns, before.cpu.some_ns),
            },
        }
    }
}

/// What a counter grew by. One that went backwards has wrapped, or is summed over CPUs that come and go: there is no true
/// number then.
fn difference(now: Observed<u64>, before: Observed<u64>) -> Observed<u64> {
    match (now, before) {
        (Observed::Value(now), Observed::Value(before)) => {
            now.checked_sub(before).map_or(Observed::Missing(BACKWARDS), Observed::Value)
        }
        (Observed::Value(_), Observed::Missing(_)) => Observed::Missing(FIRST),
        (Observed::Missing(reason), _) => Observed::Missing(reason),
    }
}

fn reason(error: &ProcError, otherwise: Reason) -> Reason {
    if error.is_denied() { DENIED } else { otherwise }
}

/// Looks at the host again and again, and says what happened in between.
#[derive(Debug)]
pub struct HostSampler {
    before: Look,
}

impl HostSampler {
    /// Looks for the first time: the first interval begins here.
    pub fn new() -> Self {
        Self { before: Look::now() }
    }

    /// The host now, and what it did since the last call. What can't be read is a reason.
    pub fn sample(&mut self) -> HostMemory {
        let now = Look::now();
        let memory = match meminfo::now() {
            Ok(memory) => Observed::Value(memory),
            Err(error) => Observed::Missing(reason(&error, MEMINFO)),
        };
        now.since(&std::mem::replace(&mut self.before, now), memory)
    }
}

impl Default for HostSampler {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
