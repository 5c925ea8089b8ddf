//! Saved sessions of `hotset bench` against each other: how often an unchanged command is called slower, and a slower one is found.
//!
//! A file `COMMAND.same.N.baseline.json` has a session of a command, `COMMAND.more.N.baseline.json` one of the same with more to do.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use hotset_analysis::baseline::{Change, ChangeVerdict, FailAbove};
use hotset_analysis::bench::against_saved;
use hotset_facts::{Baseline, BaselineSession, ConditionRole, Observed, Reason};
use hotset_view::bench::read_baseline;
use hotset_view::wire::documents;

/// Sessions of a command, in order of time.
#[derive(Default)]
struct Sessions {
    same: Vec<BaselineSession>,
    more: Vec<BaselineSession>,
}

/// A line a command: its name, how many comparisons of it with itself, how many of them were called slower by wall and by CPU time, the
/// same two of it with more to do, the standard deviations of the logarithms of the medians of wall and CPU times between sessions, and
/// the median smallest slow-down that a comparison could have shown. Baselines have `kept` sessions each.
///
/// `ahead`: the sessions were scheduled ahead of everything else, so that those who waited for a CPU were others.
pub(crate) fn rates(directory: &Path, kept: usize, ahead: bool) -> Result<String, Box<dyn Error>> {
    let mut lines = Vec::new();
    for (name, mut sessions) in read(directory)? {
        if ahead {
            sessions.same.iter_mut().chain(&mut sessions.more).for_each(without_waiting);
        }
        let (own, itself) = claims(&sessions.same, &sessions.same, kept, true);
        let (other, slower) = claims(&sessions.same, &sessions.more, kept, false);
        let mut smallest: Vec<f64> =
            own.iter().filter_map(|(wall, _)| wall.smallest_effect()).collect();
        smallest.sort_by(f64::total_cmp);
        let spreads = [
            |one: &hotset_facts::BaselineSample| one.wall_ns,
            |one: &hotset_facts::BaselineSample| one.cpu_ns,
        ]
        .map(|of| spread(&sessions.same, of));
        lines.push(format!(
            "{name} {} {} {} {} {} {} {:.5} {:.5} {:.4}",
            own.len(),
            itself[0],
            itself[1],
            other.len(),
            slower[0],
            slower[1],
            spreads[0],
            spreads[1],
            smallest.get(smallest.len() / 2).copied().unwrap_or(f64::NAN),
        ));
    }
    Ok(lines.join("\n"))
}

fn read(directory: &Path) -> Result<BTreeMap<String, Sessions>, Box<dyn Error>> {
    let mut found: BTreeMap<String, Sessions> = BTreeMap::new();
    let mut paths: Vec<_> =
        fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    for path in paths {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let [command, kind, _, "baseline", "json"] = name.split('.').collect::<Vec<_>>()[..] else {
            continue;
        };
        let bytes = fs::read(&path)?;
        let baseline = documents(&bytes)?.first().map(read_baseline).transpose()?;
        let sessions = found.entry(command.to_owned()).or_default();
        let list = if kind == "same" { &mut sessions.same } else { &mut sessions.more };
        list.extend(baseline.into_iter().flat_map(|baseline| baseline.sessions));
    }
    Ok(found)
}

fn without_waiting(session: &mut BaselineSession) {
    let ahead = Reason::not_measured("the command was scheduled ahead of all others");
    for sample in session.conditions.iter_mut().flat_map(|one| &mut one.samples) {
        sample.cpu_pressure_ns = Observed::Missing(ahead);
    }
}

/// Compares each session of `now` with baselines of `kept` sessions in a row, all of `then` in a circle without itself; how
/// often wall and CPU times were called slower.
fn claims(
    then: &[BaselineSession],
    now: &[BaselineSession],
    kept: usize,
    is_same: bool,
) -> (Vec<(Change, Change)>, [usize; 2]) {
    let mut changes = Vec::new();
    for (at, session) in now.iter().enumerate() {
        let others: Vec<&BaselineSession> = then
            .iter()
            .enumerate()
            .filter(|(other, _)| !is_same || *other != at)
            .map(|(_, other)| other)
            .collect();
        for first in 0..others.len() {
            let chosen = others.iter().cycle().skip(first).take(kept);
            let sessions = chosen.map(|&one| one.clone()).collect();
            let baseline = Baseline { name: "others".to_owned(), sessions };
            let found = against_saved(session, &baseline, FailAbove::default(), false);
            changes.extend(found.conditions.iter().map(|one| (one.wall, one.cpu)));
        }
    }
    let slower = |of: fn(&(Change, Change)) -> Change| {
        changes.iter().filter(|both| of(both).verdict == ChangeVerdict::Slower).count()
    };
    let counts = [slower(|both| both.0), slower(|both| both.1)];
    (changes, counts)
}

/// What the medians of the sessions differ by.
fn spread(sessions: &[BaselineSession], of: fn(&hotset_facts::BaselineSample) -> u64) -> f64 {
    let median = |session: &BaselineSession| {
        let mut conditions = session.conditions.iter();
        let one = conditions.find(|one| one.condition.role == ConditionRole::Measured)?;
        let mut times: Vec<u64> = one.samples.iter().map(of).collect();
        times.sort_unstable();
        times.get(times.len() / 2).map(|&ns| (ns.max(1) as f64).ln())
    };
    let logs: Vec<f64> = sessions.iter().filter_map(median).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    (squares / (logs.len() as f64 - 1.0)).sqrt()
}
