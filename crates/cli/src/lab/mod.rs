//! `hotset lab`: from words to plans, the experiments one after the other, and where their results go.

mod asked;
mod baseline;
mod probe;
mod progress;
mod session;

pub(crate) use probe::{REPLAY, probe};
pub(crate) use session::{lab, native};
