//! fread, read, pread, mmap, io_uring or direct; forwards, backwards or at random?

mod answers;
mod charts;
mod plan;
mod published;

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::experiment::{ExperimentPlan, PlanError, Request};
use hotset_sys::rawio::{Job, access};
use hotset_view::lab::ChartSpec;

use crate::Experiment;

/// `hotset lab access`.
pub(crate) struct Access;

const NAME: &str = "access";

impl Experiment for Access {
    fn name(&self) -> &'static str {
        NAME
    }

    fn question(&self) -> &'static str {
        "fread, read, pread, mmap, io_uring or direct; forwards, backwards or at random?"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--block", "--size", "--methods"]
    }

    fn plan(&self, request: &Request) -> Result<ExperimentPlan, PlanError> {
        plan::plan(request)
    }

    fn jobs(&self) -> &'static [Job] {
        &[("access", access::access), ("null", access::null)]
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
