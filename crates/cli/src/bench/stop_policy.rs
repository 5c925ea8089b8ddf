//! Which runs count and how many are enough: hands the engine's questions to `hotset-analysis`.

use hotset_analysis::bench::{self, decide, judge};
use hotset_facts::{BenchRun, Condition, Decision, Progress};
use hotset_lab::Judge;

use crate::output::StatusLine;

/// Knows the plan of the session.
pub(super) struct StopPolicy {
    pub(super) plan: bench::Plan,
    pub(super) line: StatusLine,
    /// What each condition is called on that line.
    pub(super) labels: Vec<String>,
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
        let judged = judge(session, &runs);
        judged.last().is_none_or(bench::JudgedRun::is_valid)
    }

    fn decide(&mut self, progress: Progress<'_>) -> Decision {
        let decision = decide(&self.plan, progress);
        if decision != Decision::GoOn {
            self.line.clear();
        }
        decision
    }

    fn begins(&mut self, condition: usize, round: u32) {
        let Self { labels, rounds, .. } = self;
        self.line.show(|| {
            let label = labels.get(condition).map_or("", String::as_str);
            let round = round.saturating_add(1);
            let of = if round <= *rounds { format!(" of {rounds}") } else { String::new() };
            format!("round {round}{of}: {label}")
        });
    }
}

/// `A cold` where there are several commands, else `cold`.
pub(super) fn label(condition: &Condition, commands: usize) -> String {
    match commands {
        0 | 1 => condition.state.to_string(),
        _ => format!("{} {}", hotset_view::bench::letter(condition.command), condition.state),
    }
}
