//! A value, or the reason why there is none. Missing is not zero.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::format::Text;

crate::words! {
    /// Why a value could not be measured.
    pub enum ReasonKind {
        /// The kernel or the file system does not offer it.
        Unsupported = "unsupported",
        /// The caller lacks the permission.
        Denied = "denied",
        /// It was measured, but events or entries were lost.
        Lost = "lost",
        /// Nobody measured it in this run.
        NotMeasured = "not measured",
    }
}

/// Why a value is missing, and what would be needed to have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reason {
    /// The class that scripts can match on.
    pub kind: ReasonKind,
    /// A short phrase for people, without a full stop.
    #[serde(deserialize_with = "crate::format::text::read")]
    pub detail: Text,
}

impl Reason {
    /// The kernel or the file system does not offer it.
    pub const fn unsupported(detail: Text) -> Self {
        Self { kind: ReasonKind::Unsupported, detail }
    }

    /// The caller lacks the permission.
    pub const fn denied(detail: Text) -> Self {
        Self { kind: ReasonKind::Denied, detail }
    }

    /// Events or entries were lost.
    pub const fn lost(detail: Text) -> Self {
        Self { kind: ReasonKind::Lost, detail }
    }

    /// Nobody measured it.
    pub const fn not_measured(detail: Text) -> Self {
        Self { kind: ReasonKind::NotMeasured, detail }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.detail)
    }
}

/// A measured value, or the reason why it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Observed<T> {
    /// What was measured.
    Value(T),
    /// Why there is nothing.
    Missing(Reason),
}

impl<T> Observed<T> {
    /// The value, if there is one.
    pub fn value(self) -> Option<T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing(_) => None,
        }
    }

    /// The value by reference, if there is one.
    pub fn as_value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing(_) => None,
        }
    }

    /// The value by mutable reference, if there is one.
    pub fn as_value_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Missing(_) => None,
        }
    }

    /// Why the value is missing, if it is.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            Self::Value(_) => None,
            Self::Missing(reason) => Some(*reason),
        }
    }

    /// The value mapped by `f`; a reason stays as it is.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Observed<U> {
        match self {
            Self::Value(value) => Observed::Value(f(value)),
            Self::Missing(reason) => Observed::Missing(reason),
        }
    }

    /// Both values combined; the first reason wins where one is missing.
    pub fn zip_with<U, V>(self, other: Observed<U>, f: impl FnOnce(T, U) -> V) -> Observed<V> {
        match (self, other) {
            (Self::Value(a), Observed::Value(b)) => Observed::Value(f(a, b)),
            (Self::Missing(reason), _) | (_, Observed::Missing(reason)) => {
                Observed::Missing(reason)
            }
        }
    }
}

impl<T> From<T> for Observed<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_makes_the_sum_missing() {
        let none: Observed<u64> = Observed::Missing(Reason::denied("needs root"));
        assert_eq!(Observed::Value(1_u64).zip_with(none, |a, b| a + b), none);
        assert_eq!(
            Observed::Value(1_u64).zip_with(Observed::Value(2), |a, b| a + b).value(),
            Some(3)
        );
    }

    #[test]
    fn a_reason_prints_its_kind_first() {
        assert_eq!(Reason::lost("ring full").to_string(), "lost: ring full");
    }
}
