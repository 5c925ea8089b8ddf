//! Which runs count and how many are enough: hands the engine's questions to `hotset-analysis`.

use std::time::{Duration, Instant};

use hotset_analysis::bench::{self, decide, judge};
use hotset_facts::{BenchRun, Condition, Decision, Progress};
use hotset_lab::Judge;

use crate::output;

/// How often the line on the terminal changes.
const INTERVAL: Duration = Duration::from_millis(200);

/// Knows the plan of the session.
pub(super) struct StopPolicy {
    pub(super) plan: bench::Plan,
    /// What each condition is called, for those who wait; none where nobody sees it.
    pub(super) labels: Option<Vec<String>>,
    pub(super) shown: Option<Instant>,
    /// Rounds that are planned as far as one knows.
    pub(super) rounds: u32,
}

impl Judge for StopPolicy {
    fn counts(&mut self, run: &BenchRun, progress: Progress<'_>) -> bool {
        let session = progress.session;
        // What is usual for a condition is told by its own runs.
        let mut runs: Vec<BenchRun> = session
            .runs
            .iter()
            .filter(|earlier| earlier.condition == run.condition)
            .cloned()
            .collect();
        runs.push(run.clone());
        let judged = judge(&session.conditions, &runs, session.environment.page_size_bytes);
        judged.last().is_none_or(bench::JudgedRun::is_valid)
    }

    fn decide(&mut self, progress: Progress<'_>) -> Decision {
        let decision = decide(&self.plan, progress);
        if decision != Decision::GoOn {
            self.clear();
        }
        decision
    }

    fn begins(&mut self, condition: usize, round: u32) {
        let Some(labels) = &self.labels else { return };
        if self.shown.is_some_and(|shown| shown.elapsed() < INTERVAL) {
            return;
        }
        self.shown = Some(Instant::now());
        let label = labels.get(condition).map_or("", String::as_str);
        let round = round.saturating_add(1);
        let of = if round <= self.rounds { format!(" of {}", self.rounds) } else { String::new() };
        output::progress(&hotset_view::escape_text(&format!("round {round}{of}: {label}")));
    }
}

impl StopPolicy {
    /// Takes the line away.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            output::progress("");
        }
    }
}

/// `A cold` where there are several commands, else `cold`.
pub(super) fn label(condition: &Condition, commands: usize) -> String {
    let state = condition.state;
    let letter = u8::try_from(condition.command).ok().filter(|&place| place < 26);
    match letter {
        _ if commands < 2 => state.to_string(),
        Some(place) => format!("{} {state}", char::from(b'A' + place)),
        None => format!("#{} {state}", condition.command.saturating_add(1)),
    }
}
