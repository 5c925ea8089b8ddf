//! How types that know nothing of serde are written and read: by a declaration that stands here in their place.
//!
//! A *declaration* is a struct or an enum with `#[serde(remote = "…")]`: it has the same fields as the fact, in the order
//! and by the names of the format, and the compiler compares both. [`List`] and [`Maybe`], and [`super::observed::Null`],
//! carry a declaration into a list, an option and a value that may be missing: `#[serde(with = "List::<FileDef>")]`.

use std::marker::PhantomData;

use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What writes and reads facts of one type.
pub(crate) trait Wire {
    /// The type of the facts.
    type Fact;

    /// Writes a fact.
    fn serialize<S: Serializer>(fact: &Self::Fact, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads one.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Fact, D::Error>;
}

/// Declarations with `#[serde(remote = "…")]`, and the facts that they stand for.
macro_rules! remote {
    ($($definition:ident => $fact:ty),* $(,)?) => {$(
        impl $crate::wire::adapt::Wire for $definition {
            type Fact = $fact;

            fn serialize<S: serde::Serializer>(fact: &$fact, to: S) -> Result<S::Ok, S::Error> {
                $definition::serialize(fact, to)
            }

            fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<$fact, D::Error> {
                $definition::deserialize(from)
            }
        }
    )*};
}
pub(crate) use remote;

/// Declarations that are made from the fact, and turned into it.
macro_rules! converted {
    ($($definition:ident => $fact:ty),* $(,)?) => {$(
        impl $definition {
            /// Writes a fact.
            #[allow(clippy::ptr_arg, reason = "serde hands it a reference to the field")]
            pub(crate) fn serialize<S: serde::Serializer>(
                fact: &$fact,
                to: S,
            ) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&<$definition>::from(fact.clone()), to)
            }

            /// Reads one.
            pub(crate) fn deserialize<'de, D: serde::Deserializer<'de>>(
                from: D,
            ) -> Result<$fact, D::Error> {
                let read: $definition = serde::Deserialize::deserialize(from)?;
                <$fact>::try_from(read).map_err(<D::Error as serde::de::Error>::custom)
            }
        }

        $crate::wire::adapt::remote!($definition => $fact);
    )*};
}
pub(crate) use converted;

/// Types that are written as they are.
macro_rules! plain {
    ($($fact:ty),*) => {$(
        impl Wire for $fact {
            type Fact = $fact;

            fn serialize<S: Serializer>(fact: &$fact, to: S) -> Result<S::Ok, S::Error> {
                Serialize::serialize(fact, to)
            }

            fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$fact, D::Error> {
                Deserialize::deserialize(from)
            }
        }
    )*};
}

plain!(bool, u32, u64, i32, f64, String);

/// A fact that is written by a declaration.
struct Borrowed<'a, W: Wire>(&'a W::Fact);

impl<W: Wire> Serialize for Borrowed<'_, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        W::serialize(self.0, serializer)
    }
}

/// A fact that is read by a declaration.
pub(crate) struct Owned<W: Wire>(pub(crate) W::Fact);

impl<'de, W: Wire> Deserialize<'de> for Owned<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        W::deserialize(deserializer).map(Self)
    }
}

/// A fact for a serialiser.
pub(crate) fn by<'a, W: Wire + 'a>(fact: &'a W::Fact) -> impl Serialize + 'a {
    Borrowed::<W>(fact)
}

/// A list of facts.
pub(crate) struct List<W>(PhantomData<W>);

impl<W: Wire> Wire for List<W> {
    type Fact = Vec<W::Fact>;

    fn serialize<S: Serializer>(facts: &Vec<W::Fact>, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(facts.len()))?;
        for fact in facts {
            list.serialize_element(&Borrowed::<W>(fact))?;
        }
        list.end()
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<W::Fact>, D::Error> {
        let all: Vec<Owned<W>> = Deserialize::deserialize(from)?;
        Ok(all.into_iter().map(|read| read.0).collect())
    }
}

/// A fact, or null where there is none: nothing that could have been measured.
pub(crate) struct Maybe<W>(PhantomData<W>);

impl<W: Wire> Wire for Maybe<W> {
    type Fact = Option<W::Fact>;

    fn serialize<S: Serializer>(fact: &Option<W::Fact>, to: S) -> Result<S::Ok, S::Error> {
        fact.as_ref().map(Borrowed::<W>).serialize(to)
    }

    fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<W::Fact>, D::Error> {
        let read: Option<Owned<W>> = Deserialize::deserialize(from)?;
        Ok(read.map(|read| read.0))
    }
}

/// The schema of one type is that of another.
#[cfg(test)]
macro_rules! schema_as {
    ($($adaptor:ident as $other:ty),* $(,)?) => {$(
        impl<W: schemars::JsonSchema> schemars::JsonSchema for $adaptor<W> {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$other>::schema_name()
            }

            fn inline_schema() -> bool {
                <$other>::inline_schema()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$other>::json_schema(generator)
            }
        }
    )*};
}
#[cfg(test)]
pub(crate) use schema_as;

#[cfg(test)]
schema_as!(List as Vec<W>, Maybe as Option<W>);
