//! Replays of a recording: text, JSON (`hotset.replay/1`).

mod text;
mod words;

pub use text::render_replay;
