//! The head of a trace as JSON: values that are missing are null, with their reasons beside them.
//!
//! A fact serialises a missing value as a mark (`hotset_facts::format::mark`), a text that no value has. Here it becomes null in
//! the file, and an entry of `missing` whose `key` is its JSON pointer (RFC 6901).

use hotset_facts::format::{constant, mark};
use hotset_facts::trace::TraceHead;
use hotset_facts::{Reason, ReasonKind};
use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use crate::meta::SCHEMA;

/// Why a value is null.
#[derive(Serialize, Deserialize)]
struct Missing {
    /// Its place.
    key: String,
    kind: ReasonKind,
    /// Why, for people.
    detail: String,
}

#[derive(Serialize)]
struct VersionedHead<'a> {
    schema: &'static str,
    #[serde(flatten)]
    head: &'a TraceHead,
}

/// A head as it is written.
///
/// # Errors
/// Where it has no form in JSON.
pub(crate) fn to_json(head: &TraceHead) -> Result<Value, Error> {
    let mut value = serde_json::to_value(VersionedHead { schema: SCHEMA, head })?;
    let mut missing = Vec::new();
    take_marks(&mut value, String::new(), &mut missing);
    if let Value::Object(keys) = &mut value {
        keys.insert("missing".to_owned(), serde_json::to_value(missing)?);
    }
    Ok(value)
}

/// A head that was read.
///
/// # Errors
/// Where it is none.
pub(crate) fn from_json(mut value: Value) -> Result<TraceHead, Error> {
    let missing = value.get("missing").cloned().map(serde_json::from_value::<Vec<Missing>>);
    for Missing { key, kind, detail } in missing.transpose()?.unwrap_or_default() {
        if let Some(null) = value.pointer_mut(&key).filter(|found| found.is_null()) {
            *null = mark::of(Reason { kind, detail: constant(&detail) }).into();
        }
    }
    serde_json::from_value(value)
}

fn take_marks(value: &mut Value, place: String, missing: &mut Vec<Missing>) {
    match value {
        Value::String(text) => {
            let Some(Reason { kind, detail }) = mark::reason(text) else { return };
            missing.push(Missing { key: place, kind, detail: detail.to_owned() });
            *value = Value::Null;
        }
        Value::Array(values) => {
            for (at, value) in values.iter_mut().enumerate() {
                take_marks(value, format!("{place}/{at}"), missing);
            }
        }
        // No key of a head needs the escapes of a pointer.
        Value::Object(keys) => {
            for (key, value) in keys {
                take_marks(value, format!("{place}/{key}"), missing);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::TraceSource;
    use hotset_facts::{Command, Observed, Target};

    use super::*;

    #[test]
    fn what_is_missing_is_null_and_comes_back_with_its_reason() -> Result<(), Error> {
        let missing = Reason::not_measured("the command still runs");
        let command = Command {
            target: Target::Command,
            argv: vec!["make".into()],
            exit: Observed::Missing(missing),
            wall_ns: 5,
            user_ns: Observed::Missing(missing),
            system_ns: Observed::Value(3),
            max_rss_bytes: Observed::Missing(missing),
            still_running: 0,
        };
        let head = TraceHead {
            hotset: "0.1.0".to_owned(),
            source: TraceSource::Recorded,
            started_at: None,
            environment: None,
            command: Some(command),
            cost: None,
            memory: None,
            memory_steps: Vec::new(),
            reclaim: None,
            not_measured: Vec::new(),
            lacks: Vec::new(),
        };
        let json = to_json(&head)?;
        assert_eq!(json["command"]["user_ns"], Value::Null);
        assert_eq!(json["command"]["system_ns"], 3);
        assert!(!json.to_string().contains("\\u0000"), "{json}");
        assert_eq!(json["missing"][0]["detail"], "the command still runs");
        assert_eq!(from_json(json)?, head);
        Ok(())
    }
}
