//! Saving which pages are cached, and restoring them: the wiring between walker, snapshot format and reader.

mod compare;
mod destination;
mod gather;
mod restore;
mod save;
mod source;
mod survey;
mod systems;
mod users;
mod watch;

pub(crate) use restore::restore;
pub(crate) use save::save;
