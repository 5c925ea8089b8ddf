//! Random mixtures of I/O by several processes and threads, on every kind of file system: what hotset says of them holds
//! together, and is what the processes themselves have counted.
//!
//! `make test-random SECONDS=3600` goes on for longer, from a seed of its own. What fails is tried with fewer operations and
//! fewer kinds of them, and the smallest that still fails is said, with the words that repeat it:
//!
//! | variable | is |
//! |---|---|
//! | `HOTSET_RANDOM_SECONDS` | how long, 20 by default, on every kind at once |
//! | `HOTSET_RANDOM_SEED` | the first seed, 1 by default |
//! | `HOTSET_RANDOM_KIND` | one kind of file system and no other |
//! | `HOTSET_RANDOM_OPERATIONS` | operations a thread, 150 by default |
//! | `HOTSET_RANDOM_WITHOUT` | operations that are left out, with commas |

mod begun;
mod judge;
mod live;
mod mixture;
mod mutated;
mod recorded;
mod seen;
mod unfit;
mod watched;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

use hotset_tests::filesystems::{self, FileSystem, Kind};
use mixture::Mixture;

/// Runs on each kind of file system until which every operation has succeeded, on a host of any speed.
const ENOUGH: u32 = 4;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}"))
    })
}

/// Past the capture of test output.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// What is run.
struct Plan {
    time: Duration,
    first_seed: u64,
    /// A thread.
    operations: u64,
    without: BTreeSet<String>,
}

impl Plan {
    /// Runs on a file system of its own: how many, and how often each operation succeeded.
    fn run_on(&self, kind: Kind) -> (u32, BTreeMap<String, u64>) {
        let (system, begun) = (FileSystem::new(kind), Instant::now());
        let (mut runs, mut done) = (0, BTreeMap::new());
        for seed in self.first_seed.. {
            let mixture = Mixture::new(&system, seed, self.operations, &self.without);
            match mixture.try_it() {
                Ok(times) => {
                    times
                        .into_iter()
                        .for_each(|(name, times)| *done.entry(name).or_default() += times);
                }
                Err(seen) => {
                    // At once: making it smaller takes minutes.
                    say(&format!("{}\n", mixture.say(&seen, &[])));
                    panic!("{}", mixture.shrink(seen));
                }
            }
            runs += 1;
            if begun.elapsed() >= self.time && (runs >= ENOUGH || self.time.is_zero()) {
                break;
            }
        }
        (runs, done)
    }
}

#[test]
fn random_workloads_are_counted_as_they_count_themselves() {
    let only = std::env::var("HOTSET_RANDOM_KIND").ok();
    let left_out = std::env::var("HOTSET_RANDOM_WITHOUT").unwrap_or_default();
    let plan = Plan {
        time: Duration::from_secs(number("HOTSET_RANDOM_SECONDS", 20)),
        first_seed: number("HOTSET_RANDOM_SEED", 1),
        operations: number("HOTSET_RANDOM_OPERATIONS", 150),
        without: left_out.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
    };
    let mut kinds = filesystems::kinds_and_options();
    kinds.retain(|kind| only.as_ref().is_none_or(|name| kind.name() == name));
    assert!(!kinds.is_empty(), "no file system is called {only:?}");
    // At once: each waits for its device most of the time.
    let of_each: Vec<_> = std::thread::scope(|scope| {
        let plan = &plan;
        let started: Vec<_> =
            kinds.iter().map(|&kind| scope.spawn(move || plan.run_on(kind))).collect();
        started
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    });
    let (mut runs, mut done) = (0, BTreeMap::<String, u64>::new());
    for (some, times) in of_each {
        runs += some;
        times.into_iter().for_each(|(name, times)| *done.entry(name).or_default() += times);
    }
    say(&format!("random workloads: {runs} runs, the first of seed {}\n", plan.first_seed));
    // An operation that never succeeds would test nothing; one kind of file system may not take all of them.
    let never: Vec<_> = done.iter().filter(|(_, times)| **times == 0).collect();
    assert!(
        plan.time.is_zero() || only.is_some() || never.is_empty(),
        "{runs} runs in which these never succeeded: {never:?}"
    );
}
