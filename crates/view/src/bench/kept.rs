//! What a baseline keeps, as text: its sessions with the medians of their conditions.

use hotset_analysis::bench::median;
use hotset_facts::{Baseline, BaselineSample, BaselineSession};

use super::words::{state, time};
use crate::baseline::{measured_on, sessions_of};
use crate::escape::escape_text;
use crate::units::plural;

/// The sessions, the first one first.
pub fn baseline_text(baseline: &Baseline) -> String {
    let sessions = sessions_of(baseline.sessions.iter().map(|session| session.started_at));
    let mut out = format!("Baseline {}: {sessions}\n", escape_text(&baseline.name));
    for session in &baseline.sessions {
        push_session(&mut out, session);
    }
    out
}

fn push_session(out: &mut String, session: &BaselineSession) {
    out.push_str(&format!("\n{}\n", measured_on(session.started_at, session.into())));
    for one in &session.conditions {
        let command = session.commands.get(one.condition.command);
        let name = command.map_or_else(String::new, |command| escape_text(&command.name));
        let middle = |of: fn(&BaselineSample) -> u64| {
            let middle = median(one.samples.iter().map(|sample| of(sample) as f64));
            middle.map_or_else(|| "none".to_owned(), time)
        };
        let (wall, cpu) = (middle(|sample| sample.wall_ns), middle(|sample| sample.cpu_ns));
        let runs = plural(one.samples.len() as u64, "run");
        let state = state(&one.condition);
        out.push_str(&format!("  {name} ({state}): median {wall}, CPU {cpu}, {runs}\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::testing::saved;

    #[test]
    fn each_session_has_its_host_and_its_medians() {
        let text = baseline_text(&saved(2));
        assert!(
            text.starts_with("Baseline main: 2 sessions, 2026-07-25 to 2026-07-26\n"),
            "{text}"
        );
        let host = ": hotset 0.1.0, AMD EPYC 7B13, 2 CPUs, Linux ";
        let first = "  load --format=json,v2 | sort (cold): median 417 ms, CPU 92.2 ms, 20 runs\n";
        assert_eq!((text.matches(host).count(), text.matches(first).count()), (2, 2), "{text}");
    }
}
