//! Paths and words: as text, and exactly where the text is not exact.
//!
//! Wherever a path stands in a format there are two keys: `path` is text, with U+FFFD for what is no UTF-8, and
//! `path_hex` is null where that text is exact, else the bytes in hexadecimal. Other names of paths have other first
//! halves: `mount` and `mount_hex`, `argv` and `argv_hex`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{required, stands_for};
use crate::Observed;

/// Bytes in hexadecimal; null where the text beside them is exact.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hex(
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^([0-9a-f]{2})*$")))] String,
);

/// Why bytes could not be read.
const NO_HEX: &str = "expected pairs of hexadecimal digits";

impl Hex {
    fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    fn bytes(&self) -> Result<Vec<u8>, &'static str> {
        let pair = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        };
        self.0.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>().ok_or(NO_HEX)
    }
}

/// What is written by two keys: any bytes, or such as may be unknown or not there.
pub trait TwoKeys: Sized {
    /// The text of the first key, as far as there is any.
    type Text;

    /// The text, and the bytes where the text is not exact.
    fn split(&self) -> (Self::Text, Option<Hex>);

    /// Out of both keys.
    ///
    /// # Errors
    /// Where the second holds no bytes.
    fn join(text: Self::Text, hex: Option<Hex>) -> Result<Self, &'static str>;
}

/// A NUL is as little text as what is no UTF-8: the mark of a missing value begins with one.
fn split(bytes: &[u8]) -> (String, Option<Hex>) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => (text.to_owned(), None),
        _ => {
            let text = String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}");
            (text, Some(Hex::of(bytes)))
        }
    }
}

impl TwoKeys for Vec<u8> {
    type Text = String;

    fn split(&self) -> (String, Option<Hex>) {
        split(self)
    }

    fn join(text: String, hex: Option<Hex>) -> Result<Self, &'static str> {
        hex.map_or_else(|| Ok(text.into_bytes()), |hex| hex.bytes())
    }
}

macro_rules! as_bytes {
    ($($Held:ty),*) => {$(
        impl TwoKeys for $Held {
            type Text = String;

            fn split(&self) -> (String, Option<Hex>) {
                split(self.as_os_str().as_bytes())
            }

            fn join(text: String, hex: Option<Hex>) -> Result<Self, &'static str> {
                Vec::join(text, hex).map(|bytes| OsString::from_vec(bytes).into())
            }
        }
    )*};
}

as_bytes!(PathBuf, OsString);

impl<T: TwoKeys> TwoKeys for Arc<T> {
    type Text = T::Text;

    fn split(&self) -> (Self::Text, Option<Hex>) {
        self.as_ref().split()
    }

    fn join(text: Self::Text, hex: Option<Hex>) -> Result<Self, &'static str> {
        T::join(text, hex).map(Self::new)
    }
}

impl<T: TwoKeys> TwoKeys for Option<T> {
    type Text = Option<T::Text>;

    fn split(&self) -> (Self::Text, Option<Hex>) {
        let (text, hex) = self.as_ref().map(T::split).unzip();
        (text, hex.flatten())
    }

    fn join(text: Self::Text, hex: Option<Hex>) -> Result<Self, &'static str> {
        text.map(|text| T::join(text, hex)).transpose()
    }
}

impl<T: TwoKeys> TwoKeys for Observed<T> {
    type Text = Observed<T::Text>;

    fn split(&self) -> (Self::Text, Option<Hex>) {
        match self {
            Self::Value(held) => {
                let (text, hex) = held.split();
                (Observed::Value(text), hex)
            }
            Self::Missing(reason) => (Observed::Missing(*reason), None),
        }
    }

    fn join(text: Self::Text, hex: Option<Hex>) -> Result<Self, &'static str> {
        match text {
            Observed::Value(text) => T::join(text, hex).map(Self::Value),
            Observed::Missing(reason) => Ok(Self::Missing(reason)),
        }
    }
}

/// The names of two keys, for `#[serde(flatten, with = "Path")]`. What may be unknown or not there says so by its text:
/// `Path::<Observed<String>>`.
macro_rules! two_keys {
    ($($(#[$doc:meta])* $Keys:ident { $text:ident, $hex:ident })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(bound(deserialize = "Text: Deserialize<'de>"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
        pub struct $Keys<Text = String> {
            $(#[$doc])*
            /// As text, with U+FFFD for bytes that are no UTF-8; null where there is none.
            #[serde(deserialize_with = "required")]
            $text: Text,
            /// Its bytes in hexadecimal, where the text is not exact.
            #[serde(deserialize_with = "required")]
            $hex: Option<Hex>,
        }

        impl<Text> $Keys<Text> {
            /// The keys of what is held.
            pub fn of(held: &impl TwoKeys<Text = Text>) -> Self {
                let ($text, $hex) = held.split();
                Self { $text, $hex }
            }

            /// Writes what these keys hold.
            ///
            /// # Errors
            /// As the serialiser gives them.
            pub fn serialize<T, S>(held: &T, to: S) -> Result<S::Ok, S::Error>
            where
                Text: Serialize,
                T: TwoKeys<Text = Text>,
                S: Serializer,
            {
                Serialize::serialize(&Self::of(held), to)
            }

            /// Reads it.
            ///
            /// # Errors
            /// Where the second key holds no bytes.
            pub fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
            where
                Text: Deserialize<'de>,
                T: TwoKeys<Text = Text>,
                D: Deserializer<'de>,
            {
                let Self { $text, $hex } = Deserialize::deserialize(from)?;
                T::join($text, $hex).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

two_keys! {
    /// A path.
    Path { path, path_hex }
    /// Where a file system is mounted.
    Mount { mount, mount_hex }
    /// The file that was read or written.
    File { file, file_hex }
    /// A directory.
    Directory { directory, directory_hex }
    /// The path of a control group.
    Cgroup { cgroup, cgroup_hex }
    /// The name of a row: a path, or the words of a command.
    Name { name, name_hex }
    /// The shell that a command runs in.
    Shell { shell, shell_hex }
    /// The end of what a command wrote.
    OutputTail { output_tail, output_tail_hex }
}

/// The words of a command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Argv {
    /// The words.
    /// As text, with U+FFFD for bytes that are no UTF-8.
    argv: Vec<String>,
    /// All words in hexadecimal, where one of the texts is not exact.
    #[serde(deserialize_with = "crate::format::required")]
    argv_hex: Option<Vec<Hex>>,
}

impl From<&Vec<OsString>> for Argv {
    fn from(words: &Vec<OsString>) -> Self {
        let exact = words.iter().all(|word| word.to_str().is_some());
        Self {
            argv: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            argv_hex: (!exact).then(|| words.iter().map(|word| Hex::of(word.as_bytes())).collect()),
        }
    }
}

impl TryFrom<Argv> for Vec<OsString> {
    type Error = &'static str;

    fn try_from(keys: Argv) -> Result<Self, Self::Error> {
        match keys.argv_hex {
            Some(all) => all.iter().map(|hex| hex.bytes().map(OsString::from_vec)).collect(),
            None => Ok(keys.argv.into_iter().map(OsString::from).collect()),
        }
    }
}

stands_for!(Argv => Vec<OsString>);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Reason;

    type TestResult = Result<(), serde_json::Error>;

    fn path(bytes: &[u8]) -> PathBuf {
        OsString::from_vec(bytes.to_vec()).into()
    }

    fn written<Text: Serialize>(
        held: &impl TwoKeys<Text = Text>,
    ) -> Result<Value, serde_json::Error> {
        Path::serialize(held, serde_json::value::Serializer)
    }

    #[test]
    fn text_that_is_exact_needs_no_bytes() -> TestResult {
        for exact in ["", "/a b", "/日本語\n"] {
            let json = written(&path(exact.as_bytes()))?;
            assert_eq!(json, json!({"path": exact, "path_hex": null}));
            assert_eq!(Path::<String>::deserialize::<PathBuf, _>(json)?, path(exact.as_bytes()));
        }
        Ok(())
    }

    #[test]
    fn bytes_that_are_no_text_are_kept() -> TestResult {
        let json = written(&path(b"/\xff"))?;
        assert_eq!(json, json!({"path": "/\u{fffd}", "path_hex": "2fff"}));
        assert_eq!(Path::<String>::deserialize::<PathBuf, _>(json)?, path(b"/\xff"));
        // The mark of a missing value begins with a NUL.
        let output = b"\0missing\0lost\0".to_vec();
        let json = OutputTail::serialize(&output, serde_json::value::Serializer)?;
        assert!(json["output_tail_hex"].is_string(), "{json}");
        assert_eq!(OutputTail::<String>::deserialize::<Vec<u8>, _>(json)?, output);
        Ok(())
    }

    #[test]
    fn what_is_not_there_or_not_known_comes_back() -> TestResult {
        let none: Option<PathBuf> = None;
        let json = written(&none)?;
        assert_eq!(json, json!({"path": null, "path_hex": null}));
        assert_eq!(Path::<Option<String>>::deserialize::<Option<PathBuf>, _>(json)?, none);
        for held in
            [Observed::Missing(Reason::lost("no name")), Observed::Value(Arc::new(path(b"\xfe")))]
        {
            let json = written(&held)?;
            let read: Observed<Arc<PathBuf>> = Path::<Observed<String>>::deserialize(json)?;
            assert_eq!(read, held);
        }
        Ok(())
    }

    #[test]
    fn what_is_no_path_is_an_error() {
        for wrong in [
            json!({"path": "/a"}),
            json!({"path_hex": null}),
            json!({"path": null, "path_hex": null}),
            json!({"path": "/a", "path_hex": "2"}),
            json!({"path": "/a", "path_hex": "2g"}),
            json!({"path": "/a", "path_hex": "é"}),
        ] {
            let read: Result<PathBuf, _> = Path::<String>::deserialize(&wrong);
            assert!(read.is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_all_exact_or_all_bytes() -> TestResult {
        let words = |words: &[&[u8]]| -> Vec<OsString> {
            words.iter().map(|word| OsString::from_vec(word.to_vec())).collect()
        };
        for (argv, hex) in [
            (words(&[]), json!(null)),
            (words(&[b"cat", b""]), json!(null)),
            (words(&[b"cat", b"\xff"]), json!(["636174", "ff"])),
        ] {
            let json = Argv::serialize(&argv, serde_json::value::Serializer)?;
            assert_eq!(json["argv_hex"], hex);
            assert_eq!(Argv::deserialize(json)?, argv);
        }
        assert!(Argv::deserialize(json!({"argv": ["cat"]})).is_err(), "argv_hex is not there");
        Ok(())
    }
}
