//! Paths and words: as text, and exactly where the text is not exact.
//!
//! Wherever a path stands in a format there are two keys: `path` is text, with U+FFFD for what is no UTF-8, and
//! `path_hex` is null where that text is exact, else the bytes in hexadecimal. Other names of paths have other first
//! halves: `mount` and `mount_hex`, `argv` and `argv_hex`.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use hotset_facts::{Observed, Unreadable};
use serde::{Deserialize, Serialize};

use super::adapt::{Maybe, Wire as _, converted, remote};
use super::observed::Null;

/// Bytes in hexadecimal; null where the text beside them is exact.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Hex(#[cfg_attr(test, schemars(regex(pattern = "^([0-9a-f]{2})*$")))] String);

/// Why bytes could not be read.
pub(crate) const NO_HEX: &str = "expected pairs of hexadecimal digits";

impl Hex {
    fn of(bytes: &[u8]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, &'static str> {
        let pair = |pair: &[u8]| {
            let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        };
        self.0.as_bytes().chunks(2).map(pair).collect::<Option<Vec<u8>>>().ok_or(NO_HEX)
    }
}

/// Text, and its bytes where the text is not exact.
pub(crate) fn split(exact: &[u8]) -> (String, Option<Hex>) {
    match std::str::from_utf8(exact) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (String::from_utf8_lossy(exact).into_owned(), Some(Hex::of(exact))),
    }
}

fn join(text: String, hex: Option<Hex>) -> Result<OsString, &'static str> {
    match hex {
        Some(hex) => hex.bytes().map(OsString::from_vec),
        None => Ok(text.into()),
    }
}

/// Two keys for a path: its name and what holds its text.
macro_rules! path_keys {
    ($(#[$doc:meta])* $name:ident { $text:ident: $held:ty as $by:literal, $hex:ident } of $fact:ty) => {
        $(#[$doc])*
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub(crate) struct $name {
            /// As text, with U+FFFD for bytes that are no UTF-8.
            #[serde(with = $by)]
            $text: $held,
            /// Its bytes in hexadecimal, where the text is not exact.
            $hex: Option<Hex>,
        }

        impl From<$fact> for $name {
            fn from(path: $fact) -> Self {
                let mut exact = None;
                let $text = path.map(|path| {
                    let (text, hex) = split(path.as_os_str().as_bytes());
                    exact = hex;
                    text
                });
                Self { $text, $hex: exact }
            }
        }

        impl TryFrom<$name> for $fact {
            type Error = &'static str;

            fn try_from(keys: $name) -> Result<Self, Self::Error> {
                let mut wrong = None;
                let path = keys.$text.map(|text| match join(text, keys.$hex) {
                    Ok(path) => path.into(),
                    Err(error) => {
                        wrong = Some(error);
                        Default::default()
                    }
                });
                wrong.map_or(Ok(path), Err)
            }
        }

        converted!($name => $fact);
    };
}

path_keys!(
    /// A path that may be unknown.
    ObservedPath { path: Observed<String> as "Null::<String>", path_hex } of Observed<PathBuf>
);
path_keys!(
    /// The path of a control group, or null where there is none.
    CgroupPath { cgroup: Option<String> as "Maybe::<String>", cgroup_hex } of Option<PathBuf>
);
path_keys!(
    /// The file that was written, or null where it went to standard output.
    OptionalFile { file: Option<String> as "Maybe::<String>", file_hex } of Option<PathBuf>
);
path_keys!(
    /// Where a file system is mounted, or null where it isn't here.
    OptionalMount { mount: Option<String> as "Maybe::<String>", mount_hex } of Option<PathBuf>
);
path_keys!(
    /// The shell that a command runs in, or null where there is none.
    Shell { shell: Option<String> as "Maybe::<String>", shell_hex } of Option<OsString>
);

/// Two keys for a path that is always there.
macro_rules! plain_path_keys {
    ($(#[$doc:meta])* $name:ident { $text:ident, $hex:ident }) => {
        $(#[$doc])*
        #[derive(Serialize, Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        pub(crate) struct $name {
            /// As text, with U+FFFD for bytes that are no UTF-8.
            $text: String,
            /// Its bytes in hexadecimal, where the text is not exact.
            $hex: Option<Hex>,
        }

        impl From<PathBuf> for $name {
            fn from(path: PathBuf) -> Self {
                let ($text, $hex) = split(path.as_os_str().as_bytes());
                Self { $text, $hex }
            }
        }

        impl TryFrom<$name> for PathBuf {
            type Error = &'static str;

            fn try_from(keys: $name) -> Result<Self, Self::Error> {
                join(keys.$text, keys.$hex).map(PathBuf::from)
            }
        }

        converted!($name => PathBuf);
    };
}

plain_path_keys!(
    /// A path.
    Path { path, path_hex }
);
plain_path_keys!(
    /// Where a file system is mounted.
    Mount { mount, mount_hex }
);
plain_path_keys!(
    /// The file that was read.
    File { file, file_hex }
);
plain_path_keys!(
    /// A directory.
    Directory { directory, directory_hex }
);

/// The words of a command.
#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Words {
    /// As text, with U+FFFD for bytes that are no UTF-8.
    argv: Vec<String>,
    /// All words in hexadecimal, where one of the texts is not exact.
    argv_hex: Option<Vec<Hex>>,
}

impl From<Vec<OsString>> for Words {
    fn from(words: Vec<OsString>) -> Self {
        let exact = words.iter().all(|word| word.to_str().is_some());
        Self {
            argv: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            argv_hex: (!exact).then(|| words.iter().map(|word| Hex::of(word.as_bytes())).collect()),
        }
    }
}

impl TryFrom<Words> for Vec<OsString> {
    type Error = &'static str;

    fn try_from(keys: Words) -> Result<Self, Self::Error> {
        match keys.argv_hex {
            Some(all) => all.iter().map(|hex| hex.bytes().map(OsString::from_vec)).collect(),
            None => Ok(keys.argv.into_iter().map(OsString::from).collect()),
        }
    }
}

converted!(Words => Vec<OsString>);

/// A path that could not be looked at.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Unreadable")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct UnreadableDef {
    #[serde(flatten, with = "Path")]
    path: PathBuf,
    /// What the kernel said.
    reason: String,
}

remote!(UnreadableDef => Unreadable);
