//! Replays of a recording: text, JSON (`hotset.replay/1`).

#[cfg(test)]
mod tests;
mod text;
mod words;

pub use text::render_replay;
