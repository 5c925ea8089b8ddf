//! Where a thread runs, and for how long it did. CPUs of one host can differ by a third in speed: in a virtual machine, for what their neighbours do.

use std::io;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// Has `work` run on one CPU: the one that the calling thread is on, or was when [`Cpu::current`] was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cpu(usize);

impl Cpu {
    /// The CPU that the calling thread is on.
    pub fn current() -> Self {
        Self(sched_getcpu())
    }

    /// Of the CPUs that the calling thread may use, the one whose turn it is.
    ///
    /// # Errors
    /// The kernel's answer.
    pub fn in_turn(turn: u32) -> io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| allowed.is_set(cpu)).collect();
        let at = turn as usize % cpus.len().max(1);
        Ok(Self(cpus.get(at).copied().unwrap_or_default()))
    }

    /// Runs `work` on it, and lets the calling thread run where it could before.
    ///
    /// # Errors
    /// Where the thread can't run there, as of a CPU that went offline: `work` has not run then. Where it can't be let go, after that.
    pub fn hold<T>(self, work: impl FnOnce() -> T) -> io::Result<T> {
        let before = sched_getaffinity(None)?;
        let mut only = CpuSet::new();
        only.set(self.0);
        sched_setaffinity(None, &only)?;
        let result = work();
        sched_setaffinity(None, &before)?;
        Ok(result)
    }
}

/// The time that the calling thread has had a CPU.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, ns) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), ns.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_waits_has_no_cpu_and_one_that_works_has() {
        let before = thread_time();
        std::thread::sleep(Duration::from_millis(50));
        let slept = thread_time();
        assert!(slept - before < Duration::from_millis(40), "{:?}", slept - before);
        while thread_time() - slept < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn work_runs_on_each_cpu_in_turn_and_the_thread_is_free_again() {
        let before = sched_getaffinity(None).expect("an affinity");
        for turn in 0..2 * before.count() {
            let cpu = Cpu::in_turn(turn).expect("a CPU");
            assert_eq!(cpu.hold(Cpu::current).expect("it is allowed"), cpu);
            assert_eq!(Cpu::in_turn(turn + before.count()).expect("a CPU"), cpu);
        }
        assert_eq!(sched_getaffinity(None).expect("an affinity"), before);
    }
}
