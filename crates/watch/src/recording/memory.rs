//! Memory of the processes of a recording that is no file cache: looked at again and again, the most is kept.

use std::time::{Duration, Instant};

use hotset_facts::Pid;
use hotset_facts::trace::TraceMemory;
use hotset_facts::units::nanos;
use hotset_sys::cgroup::Group;
use hotset_sys::cpu::thread_time;
use hotset_sys::proc::{OwnMemory, memory_of, memory_part_of};

use crate::scoped::family;

/// From one look to the next, at least.
const INTERVAL: Duration = Duration::from_millis(100);
/// Looks take no more than a twentieth of a CPU: of processes that share much memory, the kernel has to look at every page.
const SHARE: u32 = 20;
/// Of processes that have less together, what several share makes no difference worth a look at each page.
const SMALL_BYTES: u64 = 64 << 20;

/// Whose memory is looked at.
pub(crate) enum Whose {
    /// That of processes which the session saw begin.
    Children,
    /// A process and all below it.
    Family(Pid),
    /// A control group.
    Group(Group),
    /// Nobody's: all processes of the host are no program.
    Nobody,
}

/// The most so far.
pub(crate) struct Memory {
    whose: Whose,
    began: Instant,
    last: Instant,
    next: Instant,
    most: TraceMemory,
}

impl Memory {
    /// From now on.
    pub(crate) fn of(whose: Whose) -> Self {
        let now = Instant::now();
        Self { whose, began: now, last: now, next: now, most: TraceMemory::default() }
    }

    /// Looks, if it is time to; `children` names those that the session saw begin.
    pub(crate) fn look(&mut self, children: impl FnOnce() -> Vec<Pid>) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        let before = thread_time();
        // What is gone or may not be read has no part in it.
        let pids = match &self.whose {
            Whose::Nobody => return,
            Whose::Children => children(),
            Whose::Family(pid) => family(*pid).unwrap_or_default(),
            Whose::Group(group) => group.processes().unwrap_or_default(),
        };
        if pids.is_empty() {
            return;
        }
        add(&mut self.most, all(&pids), nanos(now - self.began));
        // On a busy host, this thread waits for a CPU meanwhile.
        let took = thread_time().saturating_sub(before);
        let gap = if self.most.looks == 0 { Duration::ZERO } else { now - self.last };
        self.most.longest_gap_ns = self.most.longest_gap_ns.max(nanos(gap));
        self.most.looks += 1;
        self.last = now;
        self.next = now + INTERVAL.max(took * SHARE);
    }

    /// The most; nothing where nobody was looked at.
    pub(crate) fn most(&self) -> Option<TraceMemory> {
        (self.most.looks > 0).then_some(self.most)
    }
}

/// The most of each.
fn add(most: &mut TraceMemory, memory: OwnMemory, at_ns: u64) {
    if memory.anon_bytes > most.anon_peak_bytes {
        (most.anon_peak_bytes, most.anon_peak_at_ns) = (memory.anon_bytes, at_ns);
    }
    most.shmem_peak_bytes = most.shmem_peak_bytes.max(memory.shmem_bytes);
    most.page_tables_peak_bytes = most.page_tables_peak_bytes.max(memory.page_tables_bytes);
}

/// Of all together. What a fork left to several counts once where it is much.
fn all(pids: &[Pid]) -> OwnMemory {
    let each = |of: fn(Pid) -> _| {
        pids.iter().filter_map(move |&pid| of(pid)).fold(OwnMemory::default(), sum)
    };
    let whole = each(|pid| memory_of(pid).ok().flatten());
    if pids.len() < 2 || whole.anon_bytes.saturating_add(whole.shmem_bytes) < SMALL_BYTES {
        return whole;
    }
    let of_part =
        |pid| memory_part_of(pid).ok().flatten().or_else(|| memory_of(pid).ok().flatten());
    each(of_part)
}

fn sum(one: OwnMemory, other: OwnMemory) -> OwnMemory {
    OwnMemory {
        anon_bytes: one.anon_bytes.saturating_add(other.anon_bytes),
        shmem_bytes: one.shmem_bytes.saturating_add(other.shmem_bytes),
        page_tables_bytes: one.page_tables_bytes.saturating_add(other.page_tables_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_of_each_is_kept_with_the_time_of_anonymous_memory() {
        let mut most = TraceMemory::default();
        let memory =
            |anon_bytes, shmem_bytes| OwnMemory { anon_bytes, shmem_bytes, page_tables_bytes: 1 };
        for (at_ns, memory) in [(1, memory(10, 0)), (2, memory(30, 5)), (3, memory(20, 9))] {
            add(&mut most, memory, at_ns);
        }
        assert_eq!((most.anon_peak_bytes, most.anon_peak_at_ns, most.shmem_peak_bytes), (30, 2, 9));
    }

    #[test]
    fn a_look_waits_for_its_time_and_sees_who_is_there() {
        let held = vec![1_u8; 96 << 20];
        let mut memory = Memory::of(Whose::Family(std::process::id()));
        memory.look(Vec::new);
        memory.look(Vec::new);
        let most = memory.most().expect("a look");
        assert!(most.looks == 1 && most.anon_peak_bytes > 64 << 20, "{most:?} {}", held.len());
        let mut nobody = Memory::of(Whose::Nobody);
        nobody.look(|| vec![std::process::id()]);
        assert_eq!(nobody.most(), None);
        let mut gone = Memory::of(Whose::Children);
        gone.look(Vec::new);
        assert_eq!(gone.most(), None);
    }
}
