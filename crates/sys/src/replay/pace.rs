//! Threads that wait for each other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use hotset_facts::replay::{ReplayPlan, Wait};
use rustix::thread::futex;

/// So often is looked whether a step is done before the kernel is asked to tell: some microseconds, as most waits are short.
const LOOKS: u32 = 2_000;

/// How far a thread is, alone in its cache line.
#[repr(align(128))]
struct Progress {
    /// Steps that are done, as of the last that somebody waits for.
    done: AtomicU32,
    /// Threads that sleep until it is further.
    sleepers: AtomicU32,
}

/// How far all threads are.
pub(super) struct Pace {
    progress: Vec<Progress>,
    /// Of each thread, the numbers of steps that others wait for, in order.
    told: Vec<Vec<u32>>,
}

impl Pace {
    pub(super) fn new(plan: &ReplayPlan) -> Self {
        let mut told = vec![Vec::new(); plan.threads.len()];
        for wait in plan.threads.iter().flat_map(|thread| &thread.waits) {
            if let Some(told) = told.get_mut(wait.thread as usize) {
                told.push(wait.steps);
            }
        }
        for told in &mut told {
            told.sort_unstable();
            told.dedup();
        }
        let progress = || Progress { done: AtomicU32::new(0), sleepers: AtomicU32::new(0) };
        Self { progress: plan.threads.iter().map(|_| progress()).collect(), told }
    }

    /// The numbers of steps after which a thread has to tell the others.
    pub(super) fn told(&self, thread: usize) -> &[u32] {
        self.told.get(thread).map_or(&[], Vec::as_slice)
    }

    /// So many steps of a thread are done.
    pub(super) fn tell(&self, thread: usize, steps: u32) {
        let Some(progress) = self.progress.get(thread) else { return };
        // Before it is asked who sleeps, as who goes to sleep says so before it asks how far the thread is.
        progress.done.store(steps, Ordering::SeqCst);
        if progress.sleepers.load(Ordering::SeqCst) > 0 {
            let _ = futex::wake(&progress.done, futex::Flags::PRIVATE, u32::MAX >> 1);
        }
    }

    /// Waits until so many steps of another thread are done: how long that took, in nanoseconds; 0 where they are done.
    pub(super) fn wait(&self, wait: &Wait) -> u64 {
        let Some(progress) = self.progress.get(wait.thread as usize) else { return 0 };
        if progress.done.load(Ordering::Acquire) >= wait.steps {
            return 0;
        }
        let begun = Instant::now();
        for _ in 0..LOOKS {
            std::hint::spin_loop();
            if progress.done.load(Ordering::Acquire) >= wait.steps {
                return begun.elapsed().as_nanos() as u64;
            }
        }
        progress.sleepers.fetch_add(1, Ordering::SeqCst);
        loop {
            let done = progress.done.load(Ordering::SeqCst);
            if done >= wait.steps {
                break;
            }
            // Woken, or further already, or by a signal: it is looked again.
            let _ = futex::wait(&progress.done, futex::Flags::PRIVATE, done, None);
        }
        progress.sleepers.fetch_sub(1, Ordering::SeqCst);
        begun.elapsed().as_nanos() as u64
    }
}
