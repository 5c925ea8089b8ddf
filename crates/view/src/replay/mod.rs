//! Replays of a recording, and the changes that they can make: text, page, JSON (`hotset.replay/1`).

mod caveats;
mod changes;
pub(crate) mod page;
pub(crate) mod picture;
#[cfg(test)]
pub(crate) mod tests;
mod text;
pub(crate) mod words;

pub use changes::{ChangeEntry, render_changes};
pub use page::{replay_page, write_replay_html};
pub use text::render_replay;
