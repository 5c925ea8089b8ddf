//! Bytes of a path as a JSON text: each byte is the character of its number. Only for another process of this program.

use serde::{Deserialize, Deserializer, Serializer, de};

#[allow(clippy::ptr_arg, reason = "serde hands it a reference to the field")]
pub(super) fn serialize<S: Serializer>(bytes: &Vec<u8>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&bytes.iter().map(|byte| char::from(*byte)).collect::<String>())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    let byte = |character| u8::try_from(character);
    text.chars().map(byte).collect::<Result<_, _>>().map_err(de::Error::custom)
}
