//! The limits of a budget file: texts by the names of numbers, which may be written as tables in tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, de};

use super::Limit;

/// Limits by the names of their numbers, in the order of these names. `read.calls = …` is a table in a table for TOML, and a
/// name with a dot here.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Limits(pub BTreeMap<String, Limit>);

/// What stands behind a name or a part of one.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a whole number, or a text such as \"at most 4 MiB\" or \"exactly 12\""
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum Node {
    /// At most so much.
    Number(u64),
    /// "at most N", "exactly N", "at least N" or "at most N % above the baseline", with ", if measured" behind it where the number may
    /// be missing; N with a unit where it has one.
    Text(String),
    /// Limits whose names begin with the same words.
    Group(BTreeMap<String, Node>),
}

impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut limits = BTreeMap::new();
        for (name, node) in BTreeMap::<String, Node>::deserialize(from)? {
            flatten(name, node, &mut limits).map_err(de::Error::custom)?;
        }
        Ok(Self(limits))
    }
}

/// Refuses a name that stands there twice, as `read.calls` and as `"read.calls"`.
fn flatten(name: String, node: Node, limits: &mut BTreeMap<String, Limit>) -> Result<(), String> {
    let limit = match node {
        Node::Number(number) => Limit::at_most(number),
        Node::Text(text) => text.parse().map_err(|why| format!("{name}: {why}"))?,
        Node::Group(group) => {
            return group
                .into_iter()
                .try_for_each(|(part, node)| flatten(format!("{name}.{part}"), node, limits));
        }
    };
    match limits.insert(name.clone(), limit) {
        None => Ok(()),
        Some(_) => Err(format!("{name} has two limits; expected one")),
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Limits {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Limits".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BTreeMap::<String, Node>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<Vec<String>, String> {
        let limits: Limits = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Ok(limits.0.into_iter().map(|(name, limit)| format!("{name}: {limit}")).collect())
    }

    #[test]
    fn tables_in_tables_are_names_with_dots() {
        let nested =
            json!({"read": {"calls": 12, "bytes": "at most 1 MiB"}, "sync.calls": "exactly 0"});
        let flat = ["read.bytes: at most 1 MiB", "read.calls: at most 12", "sync.calls: exactly 0"];
        assert_eq!(read(nested), Ok(flat.map(str::to_owned).to_vec()));
        assert_eq!(read(json!({})), Ok(Vec::new()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let twice = read(json!({"read": {"calls": 1}, "read.calls": 2})).unwrap_err();
        assert!(twice.contains("read.calls has two limits"), "{twice}");
        let none = read(json!({"read": {"calls": "few"}})).unwrap_err();
        assert!(none.starts_with("read.calls: \"few\": expected e.g."), "{none}");
        let real = read(json!({"read": 1.5})).unwrap_err();
        assert!(real.starts_with("expected a whole number"), "{real}");
    }
}
