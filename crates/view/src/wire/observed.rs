//! Why a number is null: every object that is written for itself ends with `missing`, the reasons of its nulls.
//!
//! A fact serialises a value that is missing as a text that no value has, the mark ([`mark`]). [`to_object`] takes the marks
//! out of what was serialised, leaves nulls, and lists their places and reasons; [`from_object`] puts the marks back before
//! the object is deserialised. So a fact says only that a value can be missing, and its reason comes back.

use std::marker::PhantomData;

use hotset_facts::format::{constant, mark};
use hotset_facts::{Reason, ReasonKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ReadError;

/// Why values of a key are null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct Missing {
    /// The place in this object, such as `totals.read` or `filesystems[2].read_ahead_kb`.
    key: String,
    /// The class of the reason, for scripts.
    kind: ReasonKind,
    /// Why, for people, and what would be needed.
    detail: String,
    /// Which entries of the key's list; null where it is no list, or all of them are missing for this reason.
    #[serde(deserialize_with = "hotset_facts::format::required")]
    entries: Option<Vec<usize>>,
}

/// An object as JSON, with `missing` as its last key. Facts have text as keys and no part that fails.
pub(crate) fn to_object(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).unwrap_or_default();
    if memchr::memmem::find(&bytes, mark::IN_JSON).is_some()
        && let Ok(mut value) = serde_json::from_slice(&bytes)
    {
        let mut found = Vec::new();
        take_marks(&mut value, &mut String::new(), &mut found);
        value["missing"] = serde_json::to_value(gathered(found)).unwrap_or_default();
        return serde_json::to_vec(&value).unwrap_or_default();
    }
    if bytes.pop() == Some(b'}') {
        let comma: &[u8] = if bytes.len() > 1 { b"," } else { b"" };
        bytes.extend_from_slice(comma);
        bytes.extend_from_slice(b"\"missing\":[]}");
    }
    bytes
}

/// A mark that was found: the key of its place, or of its list and where in it; and why.
struct Found {
    key: String,
    entry: Option<(usize, usize)>,
    reason: Reason,
}

/// Replaces marks by nulls.
fn take_marks(value: &mut Value, place: &mut String, found: &mut Vec<Found>) {
    let length = place.len();
    match value {
        Value::String(text) => {
            let Some(reason) = mark::reason(text) else { return };
            *value = Value::Null;
            found.push(Found { key: place.clone(), entry: None, reason });
        }
        Value::Array(values) => {
            let count = values.len();
            for (at, value) in values.iter_mut().enumerate() {
                if let Some(reason) = value.as_str().and_then(mark::reason) {
                    *value = Value::Null;
                    found.push(Found { key: place.clone(), entry: Some((at, count)), reason });
                    continue;
                }
                place.push_str(&format!("[{at}]"));
                take_marks(value, place, found);
                place.truncate(length);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                if length > 0 {
                    place.push('.');
                }
                place.push_str(key);
                take_marks(value, place, found);
                place.truncate(length);
            }
        }
        _ => {}
    }
}

/// One entry for all values of a list that are missing for the same reason.
fn gathered(found: Vec<Found>) -> Vec<Missing> {
    let mut all: Vec<(Missing, usize)> = Vec::new();
    for one in found {
        let Found { key, entry, reason } = one;
        let same = |missing: &Missing| {
            missing.entries.is_some()
                && missing.key == key
                && (missing.kind, missing.detail.as_str()) == (reason.kind, reason.detail)
        };
        // What is missing of one list comes in a row.
        let list = all.iter_mut().rev().take_while(|(missing, _)| missing.key == key);
        let known = list.map(|(missing, _)| missing).find(|missing| same(missing));
        match (known.and_then(|missing| missing.entries.as_mut()), entry) {
            (Some(entries), Some((at, _))) => entries.push(at),
            _ => {
                let detail = reason.detail.to_owned();
                let (entries, of) = (entry.map(|(at, _)| vec![at]), entry.map_or(0, |(_, of)| of));
                all.push((Missing { key, kind: reason.kind, detail, entries }, of));
            }
        }
    }
    let whole = |(missing, of): (Missing, usize)| Missing {
        entries: missing.entries.filter(|entries| entries.len() < of),
        ..missing
    };
    all.into_iter().map(whole).collect()
}

/// An object that [`to_object`] wrote, or a part of a document.
pub(crate) fn from_object<T: DeserializeOwned>(mut value: Value) -> Result<T, ReadError> {
    let Value::Object(map) = &mut value else {
        return Err(ReadError::at("", "expected a JSON object"));
    };
    let missing = map.remove("missing");
    let missing = missing.ok_or_else(|| ReadError::at("", "missing field `missing`"))?;
    let missing: Vec<Missing> = serde_path_to_error::deserialize(missing)
        .map_err(|error| ReadError::in_part("missing", &error))?;
    for one in &missing {
        put_marks(&mut value, one);
    }
    serde_path_to_error::deserialize(value).map_err(|error| ReadError::in_part("", &error))
}

/// Puts a mark where the nulls of an entry are. What is no null stays: the reader says what is wrong with it.
fn put_marks(value: &mut Value, missing: &Missing) {
    let Some(found) = at_place(value, &missing.key) else { return };
    let reason = Reason { kind: missing.kind, detail: constant(&missing.detail) };
    let marked = Value::String(mark::of(reason));
    let put = |value: &mut Value| {
        if value.is_null() {
            *value = marked.clone();
        }
    };
    match (found, &missing.entries) {
        (Value::Array(values), Some(entries)) => {
            for &at in entries {
                values.get_mut(at).map(put);
            }
        }
        (Value::Array(values), None) => values.iter_mut().for_each(put),
        (value, _) => put(value),
    }
}

/// The value at a place such as `filesystems[2].read_ahead_kb`.
fn at_place<'a>(value: &'a mut Value, place: &str) -> Option<&'a mut Value> {
    let mut at = value;
    for step in place.split('.') {
        let (key, indices) = step.split_once('[').map_or((step, ""), |(key, rest)| (key, rest));
        at = at.get_mut(key)?;
        for index in indices.split('[').filter(|index| !index.is_empty()) {
            at = at.get_mut(index.strip_suffix(']')?.parse::<usize>().ok()?)?;
        }
    }
    Some(at)
}

/// Objects of a list, each with its own `missing`, read one after the other.
pub(crate) struct Rows<T>(pub(crate) Vec<T>);

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Rows<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(RowsVisitor::<T>(PhantomData))
    }
}

struct RowsVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> serde::de::Visitor<'de> for RowsVisitor<T> {
    type Value = Rows<T>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of objects")
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Rows<T>, A::Error> {
        let mut rows = Vec::new();
        while let Some(text) = list.next_element::<&RawValue>()? {
            rows.push(row(text.get()).map_err(<A::Error as serde::de::Error>::custom)?);
        }
        Ok(Rows(rows))
    }
}

/// A row out of its text: straight where it ends as [`to_object`] ends what has no reasons, which spares most rows a detour.
fn row<T: DeserializeOwned>(text: &str) -> Result<T, ReadError> {
    let wrong = |error: serde_json::Error| ReadError::at("", error.to_string());
    match text.ends_with("\"missing\":[]}") {
        true => serde_json::from_str(text).map_err(wrong),
        false => from_object(serde_json::from_str(text).map_err(wrong)?),
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::Observed;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Pair {
        a: Observed<u64>,
        b: Observed<u64>,
    }

    const LOST: Reason = Reason::lost("the ring was full");

    fn read(text: &str) -> Result<Vec<Pair>, String> {
        let rows: Result<Rows<Pair>, _> = serde_json::from_str(text);
        rows.map(|rows| rows.0).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_come_back_with_and_without_reasons() -> Result<(), Box<dyn std::error::Error>> {
        let whole = || Pair { a: Observed::Value(1), b: Observed::Value(2) };
        let part = || Pair { a: Observed::Missing(LOST), b: Observed::Value(2) };
        let text = [whole(), part()].map(|pair| String::from_utf8(to_object(&pair)));
        let [plain, marked] = text;
        let (plain, marked) = (plain?, marked?);
        assert!(plain.ends_with("\"missing\":[]}") && !marked.ends_with("\"missing\":[]}"));
        assert_eq!(read(&format!("[{plain},\n{marked}]"))?, [whole(), part()]);
        let pretty: Value = serde_json::from_str(&plain)?;
        assert_eq!(read(&format!("[{pretty:#}]"))?, [whole()], "as another program has it");
        Ok(())
    }

    #[test]
    fn a_row_that_is_damaged_is_an_error() {
        for wrong in [
            r#"[{"a":1,"b":2}]"#,
            r#"[{"a":1,"missing":[]}]"#,
            r#"[{"a":1,"b":2,"missing":[{"key":"a"}]}]"#,
            r#"[{"a":1,"b":"two","missing":[]}]"#,
            "[7]",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
