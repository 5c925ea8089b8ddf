//! Who is not using the cache?

mod answers;
mod charts;
mod found;
mod plan;
mod published;
mod sensor;

use hotset_analysis::lab::{CellNumbers, LabAnswer, PublishedFigure};
use hotset_facts::LabSession;
use hotset_lab::experiment::{ExperimentPlan, Place, PlanError, Request};
use hotset_sys::rawio::{Job, stream};
use hotset_view::lab::ChartSpec;

use crate::{AfterRun, Experiment};

/// `hotset lab direct`.
pub(crate) struct Direct;

const NAME: &str = "direct";

impl Experiment for Direct {
    fn name(&self) -> &'static str {
        NAME
    }

    fn question(&self) -> &'static str {
        "Who is not using the cache?"
    }

    fn options(&self) -> &'static [&'static str] {
        &["--count", "--sleep", "--block", "--size", "--device"]
    }

    fn plan(&self, request: &Request) -> Result<ExperimentPlan, PlanError> {
        plan::plan(request)
    }

    fn jobs(&self) -> &'static [Job] {
        &[("stream", stream::stream)]
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

    fn after(&self, session: &mut LabSession, run: &mut AfterRun<'_>) {
        sensor::after(session, run);
    }
}

/// What the file system of the file that the program reads can do.
fn place(request: &Request) -> Place {
    let place = request.place.clone();
    match request.options.device.as_deref() {
        Some(path) => place.reading(path),
        None => place,
    }
}
