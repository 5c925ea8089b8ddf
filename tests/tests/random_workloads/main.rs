//! Random mixtures of I/O by several processes and threads, on every kind of file system: what hotset says of them holds
//! together, and is what the processes themselves have counted.
//!
//! `make test-random SECONDS=3600` goes on for longer, from a seed of its own. What fails is tried with fewer operations and
//! fewer kinds of them, and the smallest that still fails is said, with the words that repeat it:
//!
//! | variable | is |
//! |---|---|
//! | `HOTSET_RANDOM_SECONDS` | how long, 40 by default |
//! | `HOTSET_RANDOM_SEED` | the first seed, 1 by default |
//! | `HOTSET_RANDOM_KIND` | one kind of file system and no other |
//! | `HOTSET_RANDOM_OPERATIONS` | operations a thread, 150 by default |
//! | `HOTSET_RANDOM_WITHOUT` | operations that are left out, with commas |

mod books;
mod judge;
mod live;
mod mixture;
mod unfit;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::time::{Duration, Instant};

use hotset_tests::filesystems::{self, FileSystem};
use mixture::Mixture;

/// Runs until which every operation has succeeded, on a host of any speed.
const ENOUGH: u32 = 10;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| {
        text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}"))
    })
}

/// Past the capture of test output.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[test]
fn random_workloads_are_counted_as_they_count_themselves() {
    let time = Duration::from_secs(number("HOTSET_RANDOM_SECONDS", 40));
    let first = number("HOTSET_RANDOM_SEED", 1);
    let operations = number("HOTSET_RANDOM_OPERATIONS", 150);
    let only = std::env::var("HOTSET_RANDOM_KIND").ok();
    let left_out = std::env::var("HOTSET_RANDOM_WITHOUT").unwrap_or_default();
    let without: BTreeSet<String> =
        left_out.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let wanted =
        |system: &FileSystem| only.as_ref().is_none_or(|name| system.kind().name() == name);
    let systems: Vec<FileSystem> = filesystems::every().filter(wanted).collect();
    assert!(!systems.is_empty(), "no file system is called {only:?}");
    let (begun, mut done, mut runs) = (Instant::now(), BTreeMap::<String, u64>::new(), 0);
    for seed in first.. {
        for system in &systems {
            let mixture = Mixture::new(system, seed, operations, &without);
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
        }
        if begun.elapsed() >= time && (runs >= ENOUGH || time.is_zero()) {
            break;
        }
    }
    say(&format!("random workloads: {runs} runs, the first of seed {first}\n"));
    // An operation that never succeeds would test nothing; one kind of file system may not take all of them.
    let never: Vec<_> = done.iter().filter(|(_, times)| **times == 0).collect();
    assert!(
        time.is_zero() || only.is_some() || never.is_empty(),
        "{runs} runs in which these never succeeded: {never:?}"
    );
}
