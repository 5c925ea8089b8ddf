//! Text that the vocabulary has as constants, read from a file.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Deserializer};

/// Text that lives as long as the program. By this name serde does not take it for text borrowed from what is read.
pub type Text = &'static str;

/// The same text for as long as the program runs. Each text is kept once: what is never freed is at most what was read.
pub fn constant(text: &str) -> Text {
    static KNOWN: OnceLock<Mutex<BTreeSet<Text>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(text) {
        return known;
    }
    let kept: Text = Box::leak(text.to_owned().into_boxed_str());
    known.insert(kept);
    kept
}

/// Reads a [`Text`].
pub(crate) fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    String::deserialize(from).map(|text| constant(&text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let typed_anew = ["the ring", "was full"].join(" ");
        let (first, again) = (constant("the ring was full"), constant(&typed_anew));
        assert_eq!(first, "the ring was full");
        assert!(std::ptr::eq(first, again));
        assert_ne!(constant("the ring"), first);
    }
}
