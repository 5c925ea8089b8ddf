//! Memory of the processes of a recording that is no file cache: looked at again and again, the most is kept, and its steps.

mod steps;

use std::time::{Duration, Instant};

use hotset_facts::Pid;
use hotset_facts::trace::{MemoryStep, TraceMemory};
use hotset_facts::units::nanos;
use hotset_sys::cgroup::Group;
use hotset_sys::cpu::thread_time;
use hotset_sys::proc::{OwnMemory, memory_of, memory_part_of};

use crate::scoped::family;
use steps::Steps;

/// From one look to the next, at least.
const INTERVAL: Duration = Duration::from_millis(100);
/// The same while a program begins: most of what it will have comes then, and many end soon after.
const FIRST_INTERVAL: Duration = Duration::from_millis(10);
/// How long it begins.
const FIRST: Duration = Duration::from_secs(2);
/// Looks take no more than a twentieth of a CPU: of processes that share much memory, the kernel has to look at every page.
const SHARE: u32 = 20;
/// Of processes that have less together, what several share makes no difference worth a look at each page.
const SMALL_BYTES: u64 = 8 << 20;

/// How often at most processes that share memory are looked at, because one of them ended meanwhile.
const LOOKS: u32 = 3;

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
    steps: Steps,
}

impl Memory {
    /// From now on.
    pub(crate) fn of(whose: Whose) -> Self {
        let now = Instant::now();
        let (most, steps) = (TraceMemory::default(), Steps::default());
        Self { whose, began: now, last: now, next: now, most, steps }
    }

    /// How long the next look has time at the most.
    pub(crate) fn until_next(&self) -> Duration {
        match self.whose {
            Whose::Nobody => Duration::MAX,
            _ => self.next.saturating_duration_since(Instant::now()).max(FIRST_INTERVAL),
        }
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
        let (memory, at_ns) = (all(&pids), nanos(now - self.began));
        add(&mut self.most, memory, at_ns);
        self.steps.add(nanos(self.last - self.began), at_ns, bytes(memory));
        // On a busy host, this thread waits for a CPU meanwhile.
        let took = thread_time().saturating_sub(before);
        let gap = if self.most.looks == 0 { Duration::ZERO } else { now - self.last };
        self.most.longest_gap_ns = self.most.longest_gap_ns.max(nanos(gap));
        self.most.looks += 1;
        self.last = now;
        let interval = if now - self.began < FIRST { FIRST_INTERVAL } else { INTERVAL };
        self.next = now + interval.max(took * SHARE);
    }

    /// The most, and the memory over time; nothing where nobody was looked at.
    pub(crate) fn into_seen(self) -> (Option<TraceMemory>, Vec<MemoryStep>) {
        ((self.most.looks > 0).then_some(self.most), self.steps.into_steps())
    }
}

/// All of it.
fn bytes(memory: OwnMemory) -> u64 {
    let OwnMemory { anon_bytes, shmem_bytes, page_tables_bytes } = memory;
    anon_bytes.saturating_add(shmem_bytes).saturating_add(page_tables_bytes)
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
    let whole = |pid| memory_of(pid).ok().flatten();
    let together = pids.iter().filter_map(|&pid| whole(pid)).fold(OwnMemory::default(), sum);
    if pids.len() < 2 || together.anon_bytes.saturating_add(together.shmem_bytes) < SMALL_BYTES {
        return together;
    }
    let part = |pid| memory_part_of(pid).ok().flatten().or_else(|| whole(pid));
    parts(pids, |pid| whole(pid).is_some(), part)
}

/// The parts that each has. What a process that ends amidst a look had with others is theirs from then on, and would count twice, or
/// not at all: they are looked at again. Where some end all the time, the least counts, as of all looks the most is kept.
fn parts(
    pids: &[Pid],
    is_there: impl Fn(Pid) -> bool,
    part: impl Fn(Pid) -> Option<OwnMemory>,
) -> OwnMemory {
    let there = || pids.iter().copied().filter(|&pid| is_there(pid)).collect::<Vec<_>>();
    let mut before = there();
    let mut least: Option<OwnMemory> = None;
    for _ in 0..LOOKS {
        let seen = before.iter().filter_map(|&pid| part(pid)).fold(OwnMemory::default(), sum);
        let after = there();
        if after == before {
            return seen;
        }
        least =
            Some(least.map_or(seen, |least| if bytes(seen) < bytes(least) { seen } else { least }));
        before = after;
    }
    least.unwrap_or_default()
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
    use std::cell::Cell;

    use super::*;

    /// Four that have 120 bytes together; after so many parts that were looked at, one more has ended, down to one.
    fn of_four(looks_to_an_end: u64) -> u64 {
        let looked = Cell::new(0);
        let there = || 4 - (looked.get() / looks_to_an_end).min(3);
        let part = |_| {
            let anon_bytes = 120 / there();
            looked.set(looked.get() + 1);
            Some(OwnMemory { anon_bytes, ..OwnMemory::default() })
        };
        parts(&[1, 2, 3, 4], |pid| u64::from(pid) <= there(), part).anon_bytes
    }

    #[test]
    fn what_several_have_counts_once_whoever_ends_meanwhile() {
        assert_eq!(of_four(100), 120);
        // The first look would be 30 + 30 + 30 + 40, 30 + 30 + 40 + 40, and 30 + 40 + 60 + 120.
        for looks_to_an_end in [3, 2, 1] {
            assert_eq!(of_four(looks_to_an_end), 120, "{looks_to_an_end}");
        }
    }

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
        let (most, steps) = memory.into_seen();
        let most = most.expect("a look");
        assert!(most.looks == 1 && most.anon_peak_bytes > 64 << 20, "{most:?} {}", held.len());
        assert!(steps.len() == 1 && steps[0].bytes >= most.anon_peak_bytes, "{steps:?}");
        let mut nobody = Memory::of(Whose::Nobody);
        nobody.look(|| vec![std::process::id()]);
        assert_eq!(nobody.into_seen(), (None, Vec::new()));
        let mut gone = Memory::of(Whose::Children);
        gone.look(Vec::new);
        assert_eq!(gone.into_seen(), (None, Vec::new()));
    }
}
