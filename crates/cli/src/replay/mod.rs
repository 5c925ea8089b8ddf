//! `hotset replay`, in `command`, and `hotset explain`, with what it can `emit`; what they have replayed, in `session`.

mod command;
mod emit;
mod explain;
mod session;

pub(crate) use command::replay;
pub(crate) use explain::explain;
