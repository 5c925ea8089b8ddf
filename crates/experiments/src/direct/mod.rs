//! Which program bypasses the cache?

mod answers;
mod charts;
mod found;
mod plan;
mod published;
mod sensor;
mod target;

use hotset_lab::experiment::{Place, file_calls};
use hotset_sys::rawio::stream;

use crate::{Experiment, Request};

const NAME: &str = "direct";

/// `hotset lab direct`.
pub(crate) static DIRECT: Experiment = Experiment {
    name: NAME,
    question: "Which program bypasses the cache?",
    options: &["--count", "--sleep", "--block", "--size", "--device"],
    plan: plan::plan,
    jobs: &[("stream", stream::stream)],
    answers: answers::answers,
    charts: charts::CHARTS,
    published: published::FIGURES,
    count_calls: file_calls,
    after: Some(sensor::after),
};

/// What the file system of the file that the program reads can do.
fn place(request: &Request) -> Place {
    let place = request.place.clone();
    match request.options.device.as_deref() {
        Some(path) => place.reading(path),
        None => place,
    }
}
