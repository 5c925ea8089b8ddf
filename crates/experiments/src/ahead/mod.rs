//! What does read-ahead save on a cold file?

use hotset_analysis::lab::{CellNumbers, Cells, ConstLevel, LabAnswer, confidence, words};
use hotset_facts::{LabSession, WantedState};
use hotset_lab::experiment::{
    CellPlan, Contents, Expects, ExperimentPlan, ProbeCommand, TestFile, file_calls, name,
};

use crate::{Experiment, Request};

/// `hotset lab ahead`.
pub(crate) static AHEAD: Experiment = Experiment {
    name: "ahead",
    question: "What does read-ahead save on a cold file?",
    options: &["--size"],
    plan,
    // The jobs of `access` do.
    jobs: &[],
    answers,
    charts: &[],
    published: &[],
    count_calls: file_calls,
    after: None,
};

const FILE_BYTES: u64 = 64 << 20;
const BLOCK_BYTES: u64 = 4096;
const READS: u64 = 2000;

/// The same number of cold reads, in the order that the kernel reads ahead of and in one that it can't foresee.
fn plan(request: &Request) -> Result<ExperimentPlan, String> {
    let bytes = request.options.file_bytes.unwrap_or(FILE_BYTES);
    let path = request.path("file");
    let mut plan = ExperimentPlan::new("ahead", request.size, request.rounds(6, 15, 60));
    for order in ["sequential", "random"] {
        let words = [
            ("method", "pread".into()),
            ("order", order.into()),
            ("block", BLOCK_BYTES.to_string().into()),
            ("operations", READS.to_string().into()),
            ("seed", "1".into()),
            ("file", path.clone().into()),
        ];
        let probe = ProbeCommand::native("access", words);
        let mut cell = CellPlan::new(vec![name("order", order)], WantedState::Cold, probe);
        cell.files = vec![path.clone()];
        cell.expects = Expects::cold(READS * BLOCK_BYTES);
        plan.cells.push(cell);
    }
    plan.prepare = vec![TestFile { path, contents: Contents::Pattern { bytes } }];
    Ok(plan)
}

fn answers(session: &LabSession, cells: &[CellNumbers]) -> Vec<LabAnswer> {
    let all = Cells::of(session, cells);
    let order = |order| all.one(&[("order", ConstLevel::Name(order))]);
    let Some((ahead, random)) = order("sequential").zip(order("random")) else { return Vec::new() };
    let Some(ratio) = ahead.to(&random) else { return Vec::new() };
    vec![LabAnswer {
        question: AHEAD.question.to_owned(),
        answer: format!(
            "A cold read of 4 KiB takes {} as long where the kernel can't foresee the next one.",
            words::times(ratio.ratio)
        ),
        number: words::times(ratio.ratio),
        confidence: confidence(&ratio),
        evidence: vec![ahead.id(), random.id()],
    }]
}
