//! Why is loading many small files slow?

mod answers;
mod charts;
mod plan;
mod published;
mod sensor;

use std::path::PathBuf;

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::Invocation;
use hotset_lab::experiment::{ExperimentPlan, PlanError, Request, Sensor};
use hotset_view::lab::ChartSpec;

use crate::{AfterRun, Experiment};

/// `hotset lab load`.
pub(crate) struct Load;

const NAME: &str = "load";

impl Experiment for Load {
    fn name(&self) -> &'static str {
        NAME
    }

    fn question(&self) -> &'static str {
        "Why is loading many small files slow?"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--interpreter", "--library", "--runtime"]
    }

    fn plan(&self, request: &Request) -> Result<ExperimentPlan, PlanError> {
        plan::plan(request)
    }

    fn answers(&self, session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
        answers::answers(session, cells)
    }

    fn charts(&self) -> Vec<ChartSpec<'static>> {
        charts::charts()
    }

    fn published(&self) -> &'static [PublishedFigure] {
        published::FIGURES
    }

    fn count_calls(
        &self,
        sensor: &mut dyn Sensor,
        invocation: &Invocation,
        files: &[PathBuf],
    ) -> Result<u64, String> {
        sensor::count_calls(sensor, invocation, files)
    }

    fn after(&self, session: &mut LabSession, run: &mut AfterRun<'_>) {
        sensor::after(session, run);
    }
}
