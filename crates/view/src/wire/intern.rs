//! Words that the vocabulary has as constants, read from a file.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The same text for as long as the program runs. Each text is kept once: what is never freed is at most what was read.
pub(crate) fn intern(text: &str) -> &'static str {
    static KNOWN: OnceLock<Mutex<BTreeSet<&'static str>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Mutex::default);
    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.get(text) {
        return known;
    }
    let kept: &'static str = Box::leak(text.to_owned().into_boxed_str());
    known.insert(kept);
    kept
}
