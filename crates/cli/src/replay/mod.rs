//! `hotset replay`, in `command`, and `hotset explain`, with what it can `emit`; what they have replayed, in `session`,
//! and how much of it, in `room`.

mod command;
mod emit;
mod explain;
mod room;
mod session;

pub(crate) use command::replay;
pub(crate) use explain::explain;
