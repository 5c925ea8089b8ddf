//! What `warm`, `evict`, `pin`, `save`, `restore` and `ls` decide: the order of the work, budgets, which file counts as
//! reached, when to stop because memory is short or somebody asked, and what is refused.
//!
//! Each command is a function that takes plain options and a flag that stops it, and returns a report of facts. Whoever
//! calls hears of progress through [`Progress`], and gets the rows of a listing through [`listing::RowSink`].
//!
//! System calls stand in `hotset-sys`. It must not read arguments, print, or make text for people beyond the reason of a
//! failure.

#![forbid(unsafe_code)]

mod error;
mod evict;
mod globs;
pub mod listing;
mod outcomes;
mod pin;
mod progress;
mod restore;
mod save;
mod system;
#[cfg(test)]
mod testing;
mod unchanged;
mod warm;

pub use error::ControlFailure;
pub use evict::{EvictOptions, evict, evict_everything};
pub use globs::{Globs, Patterns};
pub use outcomes::{Controlled, NamedFiles};
pub use pin::{FollowListener, Held, PinOptions, PinRefused, Pinned, pin};
pub use progress::Progress;
pub use restore::{RestoreOptions, RestoreOrder, restore};
pub use save::{SaveOptions, SaveTo, save, save_ranges};
pub use system::{InodeList, SystemOptions, system_cache};
pub use warm::{WarmOptions, warm};
