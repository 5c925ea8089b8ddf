//! Is reading a file a second time faster, and does it matter?

mod answers;
mod charts;
mod jobs;
mod plan;
mod published;

use hotset_lab::experiment::file_calls;

use crate::Experiment;

const NAME: &str = "reread";

/// `hotset lab reread`.
pub(crate) static REREAD: Experiment = Experiment {
    name: NAME,
    question: "Is reading a file a second time faster, and does it matter?",
    options: &[
        "--sizes",
        "--file",
        "--document",
        "--count",
        "--sleep",
        "--interpreter",
        "--runtime",
    ],
    plan: plan::plan,
    jobs: &[("reread", jobs::reread)],
    answers: answers::answers,
    charts: charts::CHARTS,
    published: published::FIGURES,
    count_calls: file_calls,
    after: None,
};
