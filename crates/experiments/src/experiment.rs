//! What an experiment is.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::Invocation;
use hotset_lab::experiment::{ExperimentPlan, PlanError, Request, Sensor, file_calls};
use hotset_sys::rawio::Job;
use hotset_view::lab::ChartSpec;

/// An experiment: everything that the engine, the summary and the views need to be told of it.
pub trait Experiment: Sync {
    /// What is typed, and what its results are called.
    fn name(&self) -> &'static str;

    /// What it asks.
    fn question(&self) -> &'static str;

    /// The options of `hotset lab` that it knows, as they are typed: `--sizes`.
    fn options(&self) -> &'static [&'static str];

    /// What it is going to measure.
    ///
    /// # Errors
    /// Where what was asked for can't be meant, or can't be measured here.
    fn plan(&self, request: &Request) -> Result<ExperimentPlan, PlanError>;

    /// What its native probes can be asked to do.
    fn jobs(&self) -> &'static [Job] {
        &[]
    }

    /// What its cells say, the most important first.
    fn answers(&self, session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer>;

    /// How its cells are drawn. Where it says nothing, there is one chart of all.
    fn charts(&self) -> Vec<ChartSpec<'static>> {
        Vec::new()
    }

    /// What others measured of the same.
    fn published(&self) -> &'static [PublishedFigure] {
        &[]
    }

    /// Counts the calls of a cell, in a run apart from the timed ones.
    ///
    /// # Errors
    /// Says why they can't be counted.
    fn count_calls(
        &self,
        sensor: &mut dyn Sensor,
        invocation: &Invocation,
        files: &[PathBuf],
    ) -> Result<u64, String> {
        file_calls(sensor, invocation, files)
    }

    /// Adds what it asks the sensor after its last round, in runs of their own.
    fn after(&self, _session: &mut LabSession, _run: &mut AfterRun<'_>) {}
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
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
