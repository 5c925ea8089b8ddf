//! What `lab` does with baselines: checked before anything runs, compared after each experiment, saved when all are over.

use hotset_analysis::bench::MIN_ROUNDS;
use hotset_analysis::lab::{LabNotSaved, LabTerms, against, few_rounds, saved_session};
use hotset_experiments::Experiment;
use hotset_facts::{LabBaseline, LabBaselineSession, OtherPrograms};
use hotset_view::baseline::sessions_of;
use hotset_view::escape_text;
use hotset_view::lab::LabResult;

use crate::args::LabArgs;
use crate::baseline::{Asked, not_saved, with_session};
use crate::exit::{Exit, Stop};
use crate::output;

/// What was asked for, as far as it can be checked before there is a session, and the sessions so far.
pub(super) struct Baselines<'a> {
    asked: Asked<'a>,
    /// How many experiments are compared together.
    together: usize,
    compared: Option<LabBaseline>,
    added_to: Option<LabBaseline>,
    measured: Vec<Result<LabBaselineSession, LabNotSaved>>,
}

impl<'a> Baselines<'a> {
    /// Reads what is compared with, and refuses what could not be compared or saved after all the rounds.
    pub(super) fn prepare(args: &'a LabArgs, experiments: &[&Experiment]) -> Result<Self, Stop> {
        check_rounds(args)?;
        let asked = Asked::of(&args.baselines);
        asked.check_results([&args.output.json, &args.output.html].into_iter().flatten())?;
        let compared: Option<LabBaseline> = asked.compared()?;
        if let Some(baseline) = &compared {
            check_host(&asked, baseline)?;
            check_experiments(baseline, experiments)?;
        }
        let mut added_to: Option<LabBaseline> = None;
        if let Some(name) = &asked.args.save_baseline {
            let there = asked.store.check_writable(name)?;
            added_to = there.filter(|_| asked.args.add_session);
        }
        if let Some(baseline) = &added_to {
            check_host(&asked, baseline)?;
        }
        let together = experiments.len();
        Ok(Self { asked, together, compared, added_to, measured: Vec::new() })
    }

    /// Refuses an experiment whose files are on another type of file system than in the baseline.
    pub(super) fn check_place(&self, experiment: &str, filesystem: &str) -> Result<(), Stop> {
        let baselines = [&self.compared, &self.added_to].into_iter().flatten();
        let mut others = baselines.flat_map(|baseline| {
            let sessions = baseline.sessions.iter().filter(|then| then.experiment == experiment);
            sessions.map(move |then| (&baseline.name, &then.conditions.filesystem))
        });
        let other = others.find(|(_, known)| *known != filesystem);
        match other.filter(|_| !self.asked.args.other_host) {
            None => Ok(()),
            Some((name, known)) => Err(Stop::own(format_args!(
                "lab {experiment}: its files would be on {filesystem}, and those of the baseline {name} were on {known}, so that their \
                 times say nothing about each other; --dir names another directory, --other-host uses it all the same",
                known = escape_text(known)
            ))),
        }
    }

    /// An experiment is over: puts the comparison into its numbers.
    pub(super) fn take(&mut self, result: &mut LabResult, others: OtherPrograms) {
        let Asked { args, host, .. } = &self.asked;
        let summary = &mut result.summary;
        if let Some(baseline) = &self.compared {
            let terms = LabTerms {
                fail_above: self.asked.limits(),
                other_host: args.other_host,
                together: self.together,
            };
            summary.baseline = Some(against(&summary.session, host, others, baseline, terms));
        }
        if args.save_baseline.is_some() {
            self.measured.push(saved_session(&summary.session, host, others));
        }
    }

    /// Saves the sessions if that was asked for, and says how `lab` ends where all experiments have run to their end.
    pub(super) fn finish(&self, results: &[LabResult], quiet: bool) -> Result<Exit, Stop> {
        let comparisons = || results.iter().filter_map(|result| result.summary.baseline.as_ref());
        let failed = comparisons().any(|comparison| comparison.with.failed);
        self.asked.save(failed, quiet, words, |name, kept: Option<&LabBaseline>| {
            let mut sessions = kept.map_or_else(Vec::new, |kept| kept.sessions.clone());
            for session in &self.measured {
                let session =
                    session.as_ref().map_err(|why| Stop::own(not_saved(name, why.as_str())))?;
                if !quiet {
                    say_few_rounds(session);
                }
                let is_same =
                    |a: &LabBaselineSession, b: &LabBaselineSession| a.experiment == b.experiment;
                sessions = with_session(Some(&sessions), session.clone(), is_same);
            }
            Ok(LabBaseline { name: name.to_owned(), sessions })
        })?;
        let compared = self.compared.as_ref();
        self.asked.end(failed, compared.map(|_| comparisons().any(|one| one.compares())))
    }

    /// Says why nothing is saved where not all experiments have run to their end.
    pub(super) fn say_not_saved(&self, why: &str) {
        if let Some(name) = &self.asked.args.save_baseline {
            output::say(not_saved(name, why));
        }
    }
}

/// Below these rounds nothing could be compared.
fn check_rounds(args: &LabArgs) -> Result<(), Stop> {
    let is_asked = args.baselines.baseline.is_some() || args.baselines.save_baseline.is_some();
    match args.amount.rounds.filter(|&rounds| (rounds as usize) < MIN_ROUNDS && is_asked) {
        None => Ok(()),
        Some(few) => Err(Stop::usage(format_args!(
            "--rounds {few}: a baseline needs at least {MIN_ROUNDS}, the fewest rounds with a confidence interval"
        ))),
    }
}

fn say_few_rounds(session: &LabBaselineSession) {
    let (few, all) = few_rounds(session);
    if few > 0 {
        output::say(format_args!(
            "lab {}: {few} of {all} cells have fewer than {MIN_ROUNDS} rounds with a valid sample; they can't be compared with",
            session.experiment
        ));
    }
}

/// `2 sessions, 2026-11-20 to 2026-11-26`.
fn words(baseline: &LabBaseline) -> String {
    sessions_of(baseline.sessions.iter().map(|session| session.started_at))
}

fn check_host(asked: &Asked<'_>, baseline: &LabBaseline) -> Result<(), Stop> {
    asked.check_host(&baseline.name, baseline.sessions.iter().map(Into::into))
}

/// Experiments of which nothing can be compared are run for nothing.
fn check_experiments(baseline: &LabBaseline, experiments: &[&Experiment]) -> Result<(), Stop> {
    let mut known: Vec<&str> =
        baseline.sessions.iter().map(|session| session.experiment.as_str()).collect();
    known.sort_unstable();
    known.dedup();
    if experiments.iter().any(|one| known.contains(&one.name)) {
        return Ok(());
    }
    Err(Stop::usage(format_args!(
        "the baseline {} has none of these experiments; it has {}",
        baseline.name,
        escape_text(&known.join(", "))
    )))
}
