//! How much does buffering writes gain, and how large should the buffer be?

mod answers;
mod charts;
mod plan;
mod published;

use hotset_lab::experiment::file_calls;
use hotset_sys::rawio::buffered;

use crate::Experiment;

const NAME: &str = "buffer";

/// `hotset lab buffer`.
pub(crate) static BUFFER: Experiment = Experiment {
    name: NAME,
    question: "How much does buffering writes gain, and how large should the buffer be?",
    options: &["--sizes", "--pieces", "--buffers", "--writers", "--interpreter"],
    plan: plan::plan,
    jobs: &[("write", buffered::write)],
    answers: answers::answers,
    charts: charts::CHARTS,
    published: published::FIGURES,
    count_calls: file_calls,
    after: None,
};
