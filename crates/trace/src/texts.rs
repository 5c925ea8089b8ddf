//! Texts of a row group, each kept once and known by a code.

use std::collections::HashMap;

use bytes::Bytes;
use parquet::data_type::ByteArray;

/// The code of a text that is not there.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// A text as both of its columns have it.
struct Text {
    shown: ByteArray,
    /// Its bytes, where what is shown is not exact.
    exact: Option<ByteArray>,
}

/// Texts by code.
#[derive(Default)]
pub(crate) struct Texts {
    entries: Vec<Text>,
    codes: HashMap<Bytes, u32>,
    bytes: usize,
}

impl Texts {
    /// The code of these bytes.
    pub(crate) fn code(&mut self, bytes: &[u8]) -> u32 {
        if let Some(code) = self.codes.get(bytes) {
            return *code;
        }
        let kept = Bytes::copy_from_slice(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(_) => Text { shown: kept.clone().into(), exact: None },
            Err(_) => {
                let shown = String::from_utf8_lossy(bytes).into_owned().into_bytes();
                Text { shown: shown.into(), exact: Some(kept.clone().into()) }
            }
        };
        self.bytes += bytes.len();
        let code = u32::try_from(self.entries.len()).unwrap_or(NO_TEXT);
        self.entries.push(text);
        self.codes.insert(kept, code);
        code
    }

    /// A text as UTF-8, with U+FFFD for what is none.
    pub(crate) fn shown(&self, code: u32) -> Option<&ByteArray> {
        self.entries.get(code as usize).map(|text| &text.shown)
    }

    /// Its bytes, where that text is not exact.
    pub(crate) fn exact(&self, code: u32) -> Option<&ByteArray> {
        self.entries.get(code as usize)?.exact.as_ref()
    }

    /// Bytes of all texts.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.codes.clear();
        self.bytes = 0;
    }
}

/// Texts that never change, by code.
pub(crate) fn constants(words: impl IntoIterator<Item = &'static str>) -> Vec<ByteArray> {
    words.into_iter().map(|word| Bytes::from_static(word.as_bytes()).into()).collect()
}
