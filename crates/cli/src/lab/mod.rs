//! `hotset lab`: from words to plans, the experiments one after the other, and where their results go.

mod asked;
mod counter;
mod direct;
mod jobs;
mod load;
mod probe;
mod session;
mod watcher;

pub(crate) use probe::probe;
pub(crate) use session::lab;
