//! What a person should doubt about an experiment.

use std::collections::BTreeMap;

use hotset_facts::{DoubtCode, LabCell, LabSession};

use super::numbers::CellNumbers;
use super::words;
use crate::bench::{MIN_ROUNDS, Warning, other_reasons};

/// Cells that a doubt names.
const NAMED: usize = 3;

/// What is known about one kind of doubt.
struct Kind<'a> {
    samples: usize,
    for_others_too: usize,
    cells: usize,
    cell: &'a LabCell,
    example: &'a str,
}

/// All of a session's, the gravest first.
pub(super) fn of(session: &LabSession, cells: &[CellNumbers]) -> Vec<Warning> {
    let mut all = Vec::new();
    if session.interrupted {
        let text = format!("interrupted after {}", words::rounds(session.rounds as usize));
        all.push(warning("interrupted", text, "run it again for all rounds"));
    }
    all.extend(without_number(session, cells));
    all.extend(samples(session, cells));
    if let Some(few) = few_rounds(cells) {
        all.push(few);
    }
    all.extend(host(session));
    all
}

fn warning(kind: &'static str, text: String, advice: &str) -> Warning {
    Warning { kind, text, advice: advice.to_owned() }
}

fn without_number(session: &LabSession, cells: &[CellNumbers]) -> Option<Warning> {
    let all = session.cells.iter().zip(cells);
    let none: Vec<String> = all
        .filter(|(_, one)| one.median.is_none())
        .map(|(cell, _)| format!("\"{}\"", words::cell(cell)))
        .collect();
    let named = none.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = match none.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let cells = count(none.len(), "cell has", "cells have");
    let text = format!("{cells} no valid samples: {named}{more}");
    (!none.is_empty())
        .then(|| warning("no-number", text, "JSON and HTML have the median of all samples"))
}

fn samples(session: &LabSession, cells: &[CellNumbers]) -> Vec<Warning> {
    let mut kinds: BTreeMap<(bool, DoubtCode), Kind<'_>> = BTreeMap::new();
    for (cell, numbers) in session.cells.iter().zip(cells) {
        for reason in &numbers.reasons {
            // Those that don't count come first.
            let kind = kinds.entry((!reason.invalidates, reason.code)).or_insert(Kind {
                samples: 0,
                for_others_too: 0,
                cells: 0,
                cell,
                example: &reason.example,
            });
            kind.samples += reason.samples;
            kind.for_others_too += reason.for_others_too;
            kind.cells += 1;
        }
    }
    let all: usize = cells.iter().map(|numbers| numbers.valid + numbers.invalid).sum();
    let text = |((counts, code), kind): ((bool, DoubtCode), Kind<'_>)| {
        let code = code.as_str();
        let Kind { samples, for_others_too, cells, cell, example } = kind;
        let verb = match (counts, samples) {
            (true, 1) => "has a warning",
            (true, _) => "have a warning",
            (false, 1) => "is excluded",
            (false, _) => "are excluded",
        };
        let cells = count(cells, "cell", "cells");
        let others = match other_reasons(samples, for_others_too) {
            words if words.is_empty() => words,
            words => format!("; {words}"),
        };
        let text = format!(
            "{samples} of {all} samples in {cells} {verb} ({code}{others}), for example \"{}\": {example}",
            words::cell(cell)
        );
        warning(code, text, "")
    };
    kinds.into_iter().map(text).collect()
}

fn few_rounds(cells: &[CellNumbers]) -> Option<Warning> {
    let few =
        cells.iter().filter(|numbers| numbers.median.is_some() && numbers.low.is_none()).count();
    let text = format!(
        "{} fewer than {MIN_ROUNDS} valid rounds and therefore no 95 % CI",
        count(few, "cell has", "cells have")
    );
    (few > 0).then(|| warning("few-rounds", text, "run more with --rounds"))
}

fn host(session: &LabSession) -> Vec<Warning> {
    let mut all = Vec::new();
    let conditions = &session.conditions;
    let evicts = match conditions.evicted_while_idle_pages.value() {
        Some(pages @ 1..) => Some(format!(
            "this host evicts idle page cache: {pages} pages of idle files were evicted during the experiment"
        )),
        _ if session.environment.evicts_idle_cache => {
            Some("this host evicts idle page cache (a DAMON scheme with action pageout)".to_owned())
        }
        _ => None,
    };
    all.extend(evicts.map(|text| {
        warning("evicts-idle", text, "states are set and verified right before each sample")
    }));
    let load = [conditions.load_hundredths_before, conditions.load_hundredths_after];
    let load = load.into_iter().filter_map(|load| load.value()).max();
    if let Some(load) = load.filter(|&load| load > 100 * u64::from(session.environment.cpus)) {
        let text = format!(
            "other work ran during the experiment: a load of {} on {}",
            words::real(load as f64 / 100.0),
            count(session.environment.cpus as usize, "CPU", "CPUs")
        );
        all.push(warning("load", text, "run it on a quiet machine"));
    }
    all
}

fn count(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}
