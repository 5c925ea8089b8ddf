//! What the sensor and the kernel found of the same programs in runs apart: facts of the session, written by `sensor` and
//! read by `answers`.

use hotset_facts::{FactValue, LabFact, LabSession};

/// What is told of a program in a state or a mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Pages that it asked the cache for.
    PagesRequested,
    /// Pages among them that were not there.
    Misses,
    /// Pages that read-ahead had brought in before.
    ReadaheadHits,
    /// Bytes past the cache.
    BytesReadDirectly,
    /// Bytes in all.
    BytesRead,
    /// Pages of the file in the cache before it ran.
    CachedBefore,
    /// And after it.
    CachedAfter,
    /// Folios of any file that entered the cache meanwhile.
    FoliosAdded,
    /// How it opened its file.
    OpenFlags,
}

impl Quantity {
    fn as_str(self) -> &'static str {
        match self {
            Self::PagesRequested => "pages requested",
            Self::Misses => "misses",
            Self::ReadaheadHits => "read-ahead hits",
            Self::BytesReadDirectly => "bytes read directly",
            Self::BytesRead => "bytes read",
            Self::CachedBefore => "cached before",
            Self::CachedAfter => "cached after",
            Self::FoliosAdded => "folios added",
            Self::OpenFlags => "open flags",
        }
    }
}

/// A fact of `dd` or `app`, in a state or a mode.
pub(super) fn fact(
    case: &str,
    how: &str,
    quantity: Quantity,
    value: impl Into<FactValue>,
) -> LabFact {
    LabFact {
        condition: Some(how.to_owned()),
        quantity: Some(quantity.as_str().to_owned()),
        ..LabFact::new(case, value)
    }
}

/// What was found, if anything was.
fn value<'a>(
    session: &'a LabSession,
    case: &str,
    how: &str,
    quantity: Quantity,
) -> Option<&'a FactValue> {
    let is_asked = |fact: &&LabFact| {
        fact.subject == case
            && fact.condition.as_deref() == Some(how)
            && fact.quantity.as_deref() == Some(quantity.as_str())
    };
    session.facts.iter().find(is_asked).map(|fact| &fact.value)
}

/// A number that was found.
pub(super) fn number(
    session: &LabSession,
    case: &str,
    how: &str,
    quantity: Quantity,
) -> Option<u64> {
    match value(session, case, how, quantity)? {
        FactValue::Number(number) => Some(*number),
        FactValue::Text(_) => None,
    }
}

/// A text that was found.
pub(super) fn text<'a>(
    session: &'a LabSession,
    case: &str,
    how: &str,
    quantity: Quantity,
) -> Option<&'a str> {
    match value(session, case, how, quantity)? {
        FactValue::Text(text) => Some(text),
        FactValue::Number(_) => None,
    }
}
