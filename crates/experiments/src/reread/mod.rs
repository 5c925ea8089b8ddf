//! Does reading a file a second time get faster, and does it matter?

mod answers;
mod charts;
mod jobs;
mod plan;
mod published;

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::experiment::{ExperimentPlan, PlanError, Request};
use hotset_sys::rawio::Job;
use hotset_view::lab::ChartSpec;

use crate::Experiment;

/// `hotset lab reread`.
pub(crate) struct Reread;

const NAME: &str = "reread";

impl Experiment for Reread {
    fn name(&self) -> &'static str {
        NAME
    }

    fn question(&self) -> &'static str {
        "Does reading a file a second time get faster, and does it matter?"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--sizes", "--count", "--sleep", "--interpreter"]
    }

    fn plan(&self, request: &Request) -> Result<ExperimentPlan, PlanError> {
        plan::plan(request)
    }

    fn jobs(&self) -> &'static [Job] {
        &[("reread", jobs::reread)]
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
}
