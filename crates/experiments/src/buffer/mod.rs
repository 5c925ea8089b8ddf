//! What does buffering writes buy, and how big should the buffer be?

mod answers;
mod charts;
mod plan;
mod published;

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::experiment::{ExperimentPlan, PlanError, Request};
use hotset_sys::rawio::{Job, buffered};
use hotset_view::lab::ChartSpec;

use crate::Experiment;

/// `hotset lab buffer`.
pub(crate) struct Buffer;

const NAME: &str = "buffer";

impl Experiment for Buffer {
    fn name(&self) -> &'static str {
        NAME
    }

    fn question(&self) -> &'static str {
        "What does buffering writes buy, and how big should the buffer be?"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--sizes", "--interpreter"]
    }

    fn plan(&self, request: &Request) -> Result<ExperimentPlan, PlanError> {
        plan::plan(request)
    }

    fn jobs(&self) -> &'static [Job] {
        &[("write", buffered::write)]
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
