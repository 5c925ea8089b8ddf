//! `hotset.lab-baseline/1`: what `hotset lab --save-baseline` keeps under a name.

use hotset_facts::LabBaseline;

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.lab-baseline/1";

/// One line of JSON, schema `hotset.lab-baseline/1`.
pub fn lab_baseline_json(baseline: &LabBaseline) -> Vec<u8> {
    Envelope::new(SCHEMA, baseline).to_line()
}

/// What [`lab_baseline_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_lab_baseline(document: &Document<'_>) -> Result<LabBaseline, ReadError> {
    let baseline: LabBaseline = document.read(SCHEMA)?;
    if baseline.sessions.is_empty() {
        return Err(ReadError::at("sessions", "it is empty; expected at least one session"));
    }
    Ok(baseline)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::lab::testing::saved;
    use crate::wire::documents;

    fn read(bytes: &[u8]) -> Result<LabBaseline, String> {
        let documents = documents(bytes).map_err(|error| error.to_string())?;
        read_lab_baseline(&documents[0]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_baseline_is_read_back_whole() {
        let baseline = saved(2);
        assert_eq!(read(&lab_baseline_json(&baseline)), Ok(baseline));
    }

    #[test]
    fn what_is_empty_or_of_unequal_length_is_an_error() -> Result<(), serde_json::Error> {
        let good: Value = serde_json::from_slice(&lab_baseline_json(&saved(1)))?;
        for (pointer, value, says) in [
            ("/sessions", Value::Array(Vec::new()), "sessions: it is empty"),
            ("/sessions/0/cells/0/runs/bytes", Value::Array(Vec::new()), "bytes has 0 entries"),
            ("/schema", "hotset.lab-baseline/2".into(), "expected \"hotset.lab-baseline/1\""),
        ] {
            let mut json = good.clone();
            *json.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
            let error = read(&serde_json::to_vec(&json)?).expect_err(pointer);
            assert!(error.contains(says), "{error}");
        }
        Ok(())
    }

    #[test]
    fn half_a_file_is_said_to_end_early() {
        let mut bytes = lab_baseline_json(&saved(1));
        bytes.truncate(bytes.len() / 2);
        assert!(read(&bytes).is_err_and(|error| error.contains("ends in the middle")));
    }
}
