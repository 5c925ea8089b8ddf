//! Replays of a recording, and the changes that they can make: text, JSON (`hotset.replay/1`).

mod changes;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod words;

pub use changes::{ChangeEntry, render_changes};
pub use text::render_replay;
