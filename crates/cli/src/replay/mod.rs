//! `hotset replay`: the `command`, and what it has replayed, in `session`.

mod command;
mod session;

pub(crate) use command::replay;
