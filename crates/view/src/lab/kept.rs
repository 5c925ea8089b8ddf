//! What a baseline of experiments keeps, as text: its sessions with the medians of their cells.

use hotset_analysis::lab::cell_medians;
use hotset_facts::{LabBaseline, LabBaselineCell, LabBaselineSession};

use super::words;
use crate::baseline::{measured_on, sessions_of};
use crate::escape::escape_text;
use crate::units::plural;

/// The sessions, the first one first.
pub fn lab_baseline_text(baseline: &LabBaseline) -> String {
    let sessions = sessions_of(baseline.sessions.iter().map(|session| session.started_at));
    let mut out = format!("Baseline {}: {sessions}\n", escape_text(&baseline.name));
    for session in &baseline.sessions {
        push_session(&mut out, session);
    }
    out
}

fn push_session(out: &mut String, session: &LabBaselineSession) {
    let host = measured_on(session.started_at, session.into());
    let (experiment, size) = (escape_text(&session.experiment), session.size.as_str());
    let filesystem = escape_text(&session.conditions.filesystem);
    out.push_str(&format!("\n{host}\n  lab {experiment}, {size} size, on {filesystem}\n"));
    for cell in &session.cells {
        out.push_str(&line(cell));
    }
}

fn line(cell: &LabBaselineCell) -> String {
    let (wall, cpu, rounds) = cell_medians(cell);
    let time = |ns: Option<f64>| ns.map_or_else(|| "none".to_owned(), words::time);
    let (wall, cpu, rounds) = (time(wall), time(cpu), plural(rounds as u64, "round"));
    let name = words::levels(&cell.factors, &[]);
    format!("  {name}: median {wall}, CPU {cpu}, {rounds}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::testing::saved;

    #[test]
    fn each_session_has_its_host_and_its_medians() {
        let text = lab_baseline_text(&saved(2));
        let head = "Baseline main: 2 sessions, 2025-10-09 to 2025-10-10\n";
        assert!(text.starts_with(head), "{text}");
        let lines = [
            ": hotset 0.1.0, AMD EPYC 7B13, 2 CPUs, Linux 6.12.9-amd64\n  lab access, quick size, on ext4\n",
            "  pread, random, 1000 B, cold: median 12.2 µs, CPU 11.0 µs, 7 rounds\n",
            "  pread, random, 4 KiB, warm: median none, CPU none, 0 rounds\n",
        ];
        for line in lines {
            assert_eq!(text.matches(line).count(), 2, "{line}: {text}");
        }
    }
}
