//! `hotset lab`: from words to plans, the experiments one after the other, and where their results go.

mod asked;
mod probe;
mod progress;
mod session;

pub(crate) use probe::probe;
pub(crate) use session::lab;
