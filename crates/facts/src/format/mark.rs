//! A value that is missing, written and read: a text that no value has, the mark. What writes documents puts a null in its
//! place and the reason beside it, and puts the mark back before it reads. So a field says only that it can be missing.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{Error, MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, IntoDeserializer as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::constant;
use crate::{Observed, Reason, ReasonKind};

/// What every mark begins with. No path, name or word of a command holds a NUL, and other bytes that do are written as bytes.
const MARK: &str = "\u{0}missing\u{0}";
/// The same as JSON has it, with the quote before it.
pub const IN_JSON: &[u8] = b"\"\\u0000missing\\u0000";
/// The reason of a null that nothing explains.
pub const UNSAID: Reason = Reason::not_measured("the file does not say why");

/// The mark of a value that is missing for this reason.
pub fn of(reason: Reason) -> String {
    format!("{MARK}{}\u{0}{}", reason.kind.as_str(), reason.detail)
}

/// The reason that a mark holds; nothing where the text is none.
pub fn reason(text: &str) -> Option<Reason> {
    let (kind, detail) = text.strip_prefix(MARK)?.split_once('\u{0}')?;
    let kind: Result<ReasonKind, Error> = ReasonKind::deserialize(kind.into_deserializer());
    Some(Reason { kind: kind.ok()?, detail: constant(detail) })
}

impl<T: Serialize> Serialize for Observed<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(to),
            Self::Missing(reason) => to.serialize_str(&of(*reason)),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Observed<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(ObservedVisitor(PhantomData))
    }
}

/// Tells a mark and a null from a value.
struct ObservedVisitor<T>(PhantomData<T>);

/// Hands a plain value to its type.
macro_rules! visit_plain {
    ($($visit:ident: $type:ty),*) => {$(
        fn $visit<E: serde::de::Error>(self, value: $type) -> Result<Self::Value, E> {
            T::deserialize(value.into_deserializer()).map(Observed::Value)
        }
    )*};
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObservedVisitor<T> {
    type Value = Observed<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    visit_plain!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64);

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match reason(text) {
            Some(reason) => Ok(Observed::Missing(reason)),
            None => T::deserialize(text.into_deserializer()).map(Observed::Value),
        }
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Self::Value, E> {
        Ok(Observed::Missing(UNSAID))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Observed::Value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::deserialize(SeqAccessDeserializer::new(list)).map(Observed::Value)
    }
}

/// Null, or the value.
#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Observed<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        <Option<T>>::schema_name()
    }

    fn inline_schema() -> bool {
        <Option<T>>::inline_schema()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Option<T>>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const WHY: Reason = Reason::lost("the ring was full");

    #[test]
    fn a_mark_holds_its_reason_and_other_text_none() {
        assert_eq!(reason(&of(WHY)), Some(WHY));
        let unknown_kind = of(WHY).replace("lost", "mislaid");
        for text in ["", "lost", "missing", "\0missing\0lost", &unknown_kind] {
            assert_eq!(reason(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_mark_is_found_in_json_by_how_it_begins() -> Result<(), serde_json::Error> {
        assert!(serde_json::to_vec(&of(WHY))?.starts_with(IN_JSON));
        assert!(serde_json::to_vec(&Observed::<u64>::Missing(WHY))?.starts_with(IN_JSON));
        Ok(())
    }

    #[test]
    fn values_of_every_kind_are_told_from_marks_and_nulls() -> Result<(), serde_json::Error> {
        fn all<T>(value: &serde_json::Value, right: T) -> Result<(), serde_json::Error>
        where
            T: for<'de> Deserialize<'de> + Serialize + PartialEq + fmt::Debug,
        {
            let read: Observed<T> = serde_json::from_value(value.clone())?;
            assert_eq!(serde_json::to_value(&read)?, *value);
            assert_eq!(read, Observed::Value(right));
            let missing: Observed<T> = serde_json::from_value(json!(of(WHY)))?;
            assert_eq!(missing, Observed::Missing(WHY));
            let null: Observed<T> = serde_json::from_value(json!(null))?;
            assert_eq!(null, Observed::Missing(UNSAID));
            Ok(())
        }
        all(&json!(true), true)?;
        all(&json!(7), 7_u64)?;
        all(&json!(-7), -7_i32)?;
        all(&json!(0.5), 0.5)?;
        all(&json!("text"), "text".to_owned())?;
        all(&json!([1, 2]), vec![1, 2])?;
        all(&json!({"a": 1}), std::collections::BTreeMap::from([("a".to_owned(), 1)]))?;
        let wrong: Result<Observed<u64>, _> = serde_json::from_value(json!("seven"));
        assert!(wrong.is_err(), "text is no number");
        Ok(())
    }
}
