//! Why a number is null: what stands beside the nulls of an object.

use hotset_facts::{Observed, Reason, ReasonKind};
use serde::{Deserialize, Serialize};

use crate::results::ReadError;
use crate::wire::intern;

/// Why values of a key are null.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MissingV1 {
    /// The key, such as `conditions.clock_ns`, or `cpu_ns` of a cell's runs.
    pub(super) key: String,
    /// `unsupported`, `denied`, `lost` or `not measured`.
    kind: String,
    /// What would be needed.
    detail: String,
    /// Which entries of the key's list; null where it is no list, or all of them are missing for this reason.
    #[serde(default)]
    entries: Option<Vec<usize>>,
}

/// Writes values and collects why some are missing.
#[derive(Default)]
pub(super) struct Missing(pub(super) Vec<MissingV1>);

impl Missing {
    /// One value.
    pub(super) fn one(&mut self, key: &str, value: Observed<u64>) -> Option<u64> {
        if let Some(reason) = value.reason() {
            self.0.push(MissingV1::new(key, reason, None));
        }
        value.value()
    }

    /// A list of values.
    pub(super) fn list<T: Copy>(&mut self, key: &str, values: Vec<Observed<T>>) -> Vec<Option<T>> {
        let mut reasons: Vec<(Reason, Vec<usize>)> = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let Some(reason) = value.reason() else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, entries)) => entries.push(at),
                None => reasons.push((reason, vec![at])),
            }
        }
        for (reason, entries) in reasons {
            let all = entries.len() == values.len();
            self.0.push(MissingV1::new(key, reason, (!all).then_some(entries)));
        }
        values.into_iter().map(Observed::value).collect()
    }
}

impl MissingV1 {
    fn new(key: &str, reason: Reason, entries: Option<Vec<usize>>) -> Self {
        let (kind, detail) = (reason.kind.as_str().to_owned(), reason.detail.to_owned());
        Self { key: key.to_owned(), kind, detail, entries }
    }

    fn reason(&self, place: &str) -> Result<Reason, ReadError> {
        let kinds = [
            ReasonKind::Unsupported,
            ReasonKind::Denied,
            ReasonKind::Lost,
            ReasonKind::NotMeasured,
        ];
        let kind = kinds.into_iter().find(|kind| kind.as_str() == self.kind);
        let kind = kind.ok_or_else(|| {
            ReadError::at(
                format!("{place}missing"),
                format!(
                    "\"{}\" is no kind of reason; expected one of unsupported, denied, lost, not measured",
                    self.kind
                ),
            )
        })?;
        Ok(Reason { kind, detail: intern(&self.detail) })
    }
}

/// Reads nulls back: `place` is where `missing` stands, such as `cells[3].runs.`.
pub(super) struct Reasons<'a> {
    pub(super) place: String,
    pub(super) missing: &'a [MissingV1],
}

impl Reasons<'_> {
    /// The entry at a place of a key's list.
    pub(super) fn entry<T>(
        &self,
        key: &str,
        at: Option<usize>,
        value: Option<T>,
    ) -> Result<Observed<T>, ReadError> {
        if let Some(value) = value {
            return Ok(Observed::Value(value));
        }
        let holds = |one: &&MissingV1| {
            let entries = one.entries.as_ref();
            one.key == key && entries.is_none_or(|all| at.is_some_and(|at| all.contains(&at)))
        };
        match self.missing.iter().find(holds) {
            Some(one) => Ok(Observed::Missing(one.reason(&self.place)?)),
            None => Ok(Observed::Missing(Reason::not_measured("the file does not say why"))),
        }
    }
}
