//! File names as a terminal sees them: no control character comes out, and no width is exceeded.

#![no_main]

use hotset_view::{escape_bytes, escape_text, shorten_middle};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&[u8], u8)| {
    let (name, width) = input;
    let escaped = escape_bytes(name);
    assert!(!escaped.chars().any(char::is_control), "{escaped:?}");
    if let Ok(text) = std::str::from_utf8(name) {
        assert!(!escape_text(text).chars().any(char::is_control), "{text:?}");
    }
    let _ = shorten_middle(&escaped, usize::from(width));
});
