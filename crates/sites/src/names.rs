//! Names as programmers write them.

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Bytes of a name at most: templates make names of many kilobytes, which nobody reads and every trace would carry.
const MAX_NAME: usize = 1_024;

/// Nesting at most in a mangled name: the demangler recurses.
const MAX_NESTING: u32 = 96;

/// Demangles what C++ and Rust make of a name; other names stay as they are. Parameters are left out, and so is the hash of
/// older Rust.
pub(crate) fn readable(raw: &[u8]) -> String {
    let raw = String::from_utf8_lossy(raw);
    shorten(rust(&raw).or_else(|| cpp(&raw)).unwrap_or_else(|| raw.into_owned()))
}

/// Cuts a name that is too long, and says so by an ellipsis.
pub(crate) fn shorten(mut name: String) -> String {
    if name.len() > MAX_NAME {
        let mut end = MAX_NAME;
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        name.truncate(end);
        name.push('…');
    }
    name
}

fn rust(raw: &str) -> Option<String> {
    Some(format!("{:#}", rustc_demangle::try_demangle(raw).ok()?))
}

fn cpp(raw: &str) -> Option<String> {
    if !raw.starts_with("_Z") {
        return None;
    }
    let limits = ParseOptions::default().recursion_limit(MAX_NESTING);
    let options = DemangleOptions::new().no_params().recursion_limit(MAX_NESTING);
    Symbol::new_with_options(raw, &limits).ok()?.demangle_with_options(&options).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_three_languages() {
        assert_eq!(readable(b"pread"), "pread");
        assert_eq!(readable(b"_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(readable(b"_RNvCs15kBYyAo9fc_7mycrate7example"), "mycrate::example");
        assert_eq!(readable(b"_ZN5store6Reader4loadEPKcm"), "store::Reader::load");
        assert_eq!(readable(b"_Zno"), "_Zno");
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let name = readable("é".repeat(2_000).as_bytes());
        assert!(name.ends_with("é…") && name.len() <= MAX_NAME + '…'.len_utf8());
    }

    proptest! {
        #[test]
        fn any_bytes_have_a_name(raw in "(_Z|_R)?[ -~]{0,80}") {
            prop_assert!(readable(raw.as_bytes()).len() <= MAX_NAME + 3);
        }
    }
}
