//! How facts are written and read, where a derive does not say it.
//!
//! A fact is declared once, and its declaration is its format: the names and doc comments of its fields are those of the
//! committed schema. Here stands what std's types lack: paths and words that may be no UTF-8, times, and text that lives
//! as long as the program; and [`mark`], the form of a value that is missing. A type of this module stands for a field in
//! `#[serde(with = "…")]`, and describes it too.

pub mod mark;
mod path;
pub(crate) mod text;
pub(crate) mod time;
mod words;

use serde::{Deserialize, Deserializer};

pub use crate::feature::NotMeasuredList;
pub(crate) use path::TwoKeys;
pub use path::{Argv, Cgroup, Directory, File, Hex, Mount, Name, OutputTail, Path, Shell};
pub use text::{Text, constant};
pub use time::{KnownTime, Time, rfc3339};

/// Reads a value whose key must be there: without this, serde takes a key that is gone for a null.
///
/// # Errors
/// As the value's type gives them.
pub fn required<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    T::deserialize(from)
}

/// Describes a key in a schema: a field that is flattened does not bring its own words there.
#[cfg(feature = "schema")]
pub fn about(key: &str, text: &str) -> impl FnMut(&mut schemars::Schema) {
    move |schema| {
        let key = schema.get_mut("properties").and_then(|keys| keys.get_mut(key)?.as_object_mut());
        let Some(key) = key else { return };
        // What follows the first line is about text and bytes.
        let known = key.get("description").and_then(|known| known.as_str());
        let rest = known.and_then(|known| known.split_once('\n')).map(|(_, rest)| rest);
        let lines: Vec<&str> = [Some(text), rest].into_iter().flatten().collect();
        let text = lines.join("\n");
        key.insert("description".to_owned(), text.into());
    }
}

/// Lets a type of this module stand in `#[serde(with = "…")]` for facts that are made into it and out of it.
#[macro_export]
macro_rules! stands_for {
    ($($Keys:ident => $Fact:ty),* $(,)?) => {$(
        #[allow(unreachable_pub, reason = "some types that stand for facts are private")]
        impl $Keys {
            /// Writes a fact.
            ///
            /// # Errors
            /// As the serialiser gives them.
            #[allow(clippy::ptr_arg, reason = "serde hands it a reference to the field")]
            pub fn serialize<S: serde::Serializer>(fact: &$Fact, to: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&<$Keys>::from(fact), to)
            }

            /// Reads one.
            ///
            /// # Errors
            /// What would be right, where it is none.
            pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<$Fact, D::Error> {
                let read: $Keys = serde::Deserialize::deserialize(from)?;
                <$Fact>::try_from(read).map_err(<D::Error as serde::de::Error>::custom)
            }
        }
    )*};
}
pub use stands_for;
