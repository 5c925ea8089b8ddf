//! `hotset replay`, in `command`, and `hotset explain`; what they have replayed, in `session`.

mod command;
mod explain;
mod session;

pub(crate) use command::replay;
pub(crate) use explain::explain;
