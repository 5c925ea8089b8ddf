//! fread, read, pread, mmap, io_uring or direct; forwards, backwards or at random?

mod answers;
mod charts;
mod plan;
mod published;

use hotset_lab::experiment::file_calls;
use hotset_sys::rawio::access;

use crate::Experiment;

const NAME: &str = "access";

/// `hotset lab access`.
pub(crate) static ACCESS: Experiment = Experiment {
    name: NAME,
    question: "fread, read, pread, mmap, io_uring or direct; forwards, backwards or at random?",
    options: &["--block", "--size", "--methods", "--orders", "--reads"],
    plan: plan::plan,
    jobs: &[("access", access::access), ("null", access::null)],
    answers: answers::answers,
    charts: charts::CHARTS,
    published: published::FIGURES,
    count_calls: file_calls,
    after: None,
};
