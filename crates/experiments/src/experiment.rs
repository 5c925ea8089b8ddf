//! What an experiment is.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::Invocation;
use hotset_lab::experiment::{ExperimentPlan, Sensor};
use hotset_sys::rawio::Job;
use hotset_view::lab::ChartSpec;

use crate::Request;

/// An experiment: everything that the engine, the summary and the views need to be told of it.
#[derive(Debug)]
pub struct Experiment {
    /// What is typed, and what its results are called.
    pub name: &'static str,
    /// What it asks.
    pub question: &'static str,
    /// The options of `hotset lab` that it knows, as they are typed: `--sizes`.
    pub options: &'static [&'static str],
    /// What it is going to measure; an error where what was asked for can't be meant, or can't be measured here.
    pub(crate) plan: fn(&Request) -> Result<ExperimentPlan, String>,
    /// What its native probes can be asked to do.
    pub(crate) jobs: &'static [Job],
    /// What its cells say, the most important first.
    pub(crate) answers: fn(&LabSession, &[CellNumbers]) -> Vec<LabAnswer>,
    /// How its cells are drawn. Where it says nothing, there is one chart of all.
    pub(crate) charts: &'static [ChartSpec<'static>],
    /// What others measured of the same.
    pub(crate) published: &'static [PublishedFigure],
    /// Counts the calls of a cell, in a run apart from the timed ones; an error says why they can't be counted.
    pub count_calls: fn(&mut dyn Sensor, &Invocation, &[PathBuf]) -> Result<u64, String>,
    /// Adds what it asks the sensor after its last round, in runs of their own.
    pub after: Option<fn(&mut LabSession, &mut AfterRun<'_>)>,
}

/// What there is to work with after the last round.
pub struct AfterRun<'a> {
    /// What the experiment was asked to be. Its files are still there.
    pub request: &'a Request,
    /// The words that run a native probe, before its job.
    pub native: &'a [OsString],
    /// None where it is not to be used.
    pub sensor: Option<&'a mut dyn Sensor>,
    /// Set when it should end.
    pub stop: &'a AtomicBool,
}

impl AfterRun<'_> {
    /// True once it should end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
