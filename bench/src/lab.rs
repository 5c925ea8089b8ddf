//! What `hotset bench` adds: to the time of a command, and before and after it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use hotset_facts::{LearnedBy, Percent, WantedState};
use hotset_lab::{Command, Invocation, States, Streams, build, from_paths, verify};

/// Runs `program` so many times as a session does; the wall times in nanoseconds.
pub(crate) fn timed(program: &str, count: u64) -> Result<Vec<u64>, Box<dyn Error>> {
    let invocation = Invocation { program: program.into(), argv: vec![program.into()] };
    let mut command = Command::new(&invocation, &Streams::default())?;
    let wall = |_| Ok(command.run()?.wall.as_nanos() as u64);
    (0..count).map(wall).collect()
}

/// Sets and verifies each state on all files of a directory; lines of state, pages, cached pages, and milliseconds for
/// setting (with its own verification) and for verifying.
pub(crate) fn states(directory: &Path, rounds: u64) -> Result<Vec<String>, Box<dyn Error>> {
    let (candidates, _) = from_paths(vec![PathBuf::from(directory)], &AtomicBool::new(false));
    let mut set = build(LearnedBy::Given, &candidates, None);
    let half = Percent::new(50).map(WantedState::Share);
    let mut lines = Vec::new();
    for _ in 0..rounds {
        let states = [WantedState::Warm, WantedState::Cold].into_iter().chain(half);
        for state in states {
            let start = Instant::now();
            let (reached, ()) = States::default().reach(state, &mut set, || ())?;
            let set_in = start.elapsed();
            let start = Instant::now();
            verify(state, &set);
            let verified_in = start.elapsed();
            let reached = reached.value().unwrap_or_default();
            let (pages, cached) = (reached.pages, reached.cached_pages);
            let [set_ms, verify_ms] = [set_in, verified_in].map(|time| time.as_secs_f64() * 1e3);
            lines.push(format!("{state} {pages} {cached} {set_ms:.1} {verify_ms:.1}"));
        }
    }
    Ok(lines)
}
