//! Why is loading many small files slow?

mod answers;
mod charts;
mod plan;
mod published;
mod sensor;

use crate::Experiment;

const NAME: &str = "load";

/// `hotset lab load`.
pub(crate) static LOAD: Experiment = Experiment {
    name: NAME,
    question: "Why is loading many small files slow?",
    options: &["--what", "--interpreter", "--library", "--runtime"],
    plan: plan::plan,
    jobs: &[],
    answers: answers::answers,
    charts: charts::CHARTS,
    published: published::FIGURES,
    count_calls: sensor::count_calls,
    after: Some(sensor::after),
};
