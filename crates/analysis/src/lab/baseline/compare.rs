//! Each cell of a session against the same one of a baseline.

use hotset_facts::{
    FactValue, HostIdentity, LabBaseline, LabBaselineCell, LabBaselineSession, LabFact, LabSession,
    OtherPrograms,
};

use super::known::{CELL_SPREAD, Known, Time, does_other_work, times};
use super::save::session_of;
use super::{CellChange, FactDifference, LabComparison};
use crate::baseline::{
    Change, ComparedWith, FALSE_CLAIMS, FailAbove, MeasuredOn, NotComparable, Session, Terms,
    host_differences,
};
use crate::bench::median;

/// What was asked of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabTerms {
    /// What is too slow.
    pub fail_above: FailAbove,
    /// Someone asked for it whatever the hosts and file systems are.
    pub other_host: bool,
    /// How many experiments are compared together: all of them have the false claims of one session.
    pub together: usize,
}

/// Compares a session with those of a baseline that are of the same experiment.
pub fn against(
    session: &LabSession,
    host: &HostIdentity,
    others: OtherPrograms,
    baseline: &LabBaseline,
    terms: LabTerms,
) -> LabComparison {
    against_saved(&session_of(session, host, others), baseline, terms)
}

/// The same of a session that was saved.
pub fn against_saved(
    now: &LabBaselineSession,
    baseline: &LabBaseline,
    terms: LabTerms,
) -> LabComparison {
    let same = baseline.sessions.iter().filter(|then| then.experiment == now.experiment);
    let then: Vec<Known<'_>> = same.map(Known::of).collect();
    let known = Known::of(now);
    let own = || now.cells.iter().enumerate().filter(|(_, cell)| !cell.is_twin());
    let claims = (own().count() * terms.together).max(1);
    let share = FALSE_CLAIMS / claims as f64;
    let cells: Vec<CellChange> = own()
        .map(|(at, cell)| {
            let both = Both { then: &then, now: &known, cell, share, terms };
            CellChange { cell: at, wall: both.change(Time::Wall), cpu: both.change(Time::Cpu) }
        })
        .collect();
    let sessions = || then.iter().map(|known| known.session);
    let started = sessions().map(|session| session.started_at);
    let hosts = host_differences(sessions().map(measured_on), measured_on(now));
    let with = ComparedWith::of(&baseline.name, started, now.started_at, hosts, terms.fail_above);
    let failed = cells.iter().any(|one| one.wall.above_limit || one.cpu.above_limit);
    LabComparison {
        with: ComparedWith { failed, ..with },
        cells,
        only_in_baseline: only_in_baseline(&then, &known),
        fact_differences: fact_differences(sessions(), now),
    }
}

fn measured_on(session: &LabBaselineSession) -> MeasuredOn<'_> {
    session.into()
}

/// A cell, and what it is compared with.
struct Both<'a> {
    then: &'a [Known<'a>],
    now: &'a Known<'a>,
    cell: &'a LabBaselineCell,
    share: f64,
    terms: LabTerms,
}

impl<'a> Both<'a> {
    /// The sessions of the baseline that have the cell, with it.
    fn known(&self) -> impl Iterator<Item = (&'a Known<'a>, &'a LabBaselineCell)> {
        let cell = self.cell;
        self.then.iter().filter_map(move |then| Some((then, then.cell(cell)?)))
    }

    fn change(&self, time: Time) -> Change {
        let limit = match time {
            Time::Wall => self.terms.fail_above.wall,
            Time::Cpu => self.terms.fail_above.cpu,
        };
        match (self.reason(), self.now.times(self.cell, time)) {
            (None, Some(now)) => {
                let then: Vec<Session> =
                    self.known().filter_map(|(then, cell)| then.times(cell, time)).collect();
                let blurs = self.known().map(|(then, cell)| then.blur(cell, time));
                let blur = blurs.fold(self.now.blur(self.cell, time), f64::max);
                let terms = Terms { share: self.share, blur, spread: CELL_SPREAD };
                Change::of(&then, now, terms, limit)
            }
            (reason, _) => {
                let now_ns = median(times(self.cell, time));
                Change::none(reason.unwrap_or(NotComparable::TooFewRuns), now_ns)
            }
        }
    }

    fn reason(&self) -> Option<NotComparable> {
        let here = &self.now.session.conditions.filesystem;
        let is_elsewhere = |then: &Known<'_>| then.session.conditions.filesystem != *here;
        if self.known().next().is_none() {
            Some(NotComparable::NotInBaseline)
        } else if !self.terms.other_host && self.known().any(|(then, _)| is_elsewhere(then)) {
            Some(NotComparable::OtherFileSystem)
        } else if self.known().any(|(_, cell)| does_other_work(cell, self.cell)) {
            Some(NotComparable::OtherWork)
        } else {
            None
        }
    }
}

fn only_in_baseline(then: &[Known<'_>], now: &Known<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for id in then.iter().flat_map(Known::ids) {
        if !now.ids().any(|own| own == id) && !found.iter().any(|known| known == id) {
            found.push(id.to_owned());
        }
    }
    found
}

/// Texts that differ, each once: a number beside the cells is a measurement.
fn fact_differences<'a>(
    then: impl Iterator<Item = &'a LabBaselineSession>,
    now: &LabBaselineSession,
) -> Vec<FactDifference> {
    let mut found: Vec<FactDifference> = Vec::new();
    for session in then {
        let size = ("size".to_owned(), session.size.as_str(), now.size.as_str());
        let texts = now.facts.iter().filter_map(|fact| {
            let known = session.facts.iter().find(|known| known.name() == fact.name())?;
            Some((fact.name(), text(known)?, text(fact)?))
        });
        let differing = [size].into_iter().chain(texts).filter(|(_, was, is)| was != is);
        for (what, was, is) in differing {
            let one = FactDifference { what, baseline: was.to_owned(), now: is.to_owned() };
            if !found.contains(&one) {
                found.push(one);
            }
        }
    }
    found
}

fn text(fact: &LabFact) -> Option<&str> {
    match &fact.value {
        FactValue::Text(text) => Some(text),
        FactValue::Number(_) => None,
    }
}
