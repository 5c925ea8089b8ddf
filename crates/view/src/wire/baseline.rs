//! `hotset.baseline/1`: what `hotset bench --save-baseline` keeps under a name.

use std::collections::HashSet;

use hotset_facts::{Baseline, BaselineSession, ConditionRole};

use super::{Document, Envelope, ReadError};

/// The schema's name.
pub(crate) const SCHEMA: &str = "hotset.baseline/1";

/// One line of JSON, schema `hotset.baseline/1`.
pub fn baseline_json(baseline: &Baseline) -> Vec<u8> {
    Envelope::new(SCHEMA, baseline).to_line()
}

/// What [`baseline_json`] wrote.
///
/// # Errors
/// The place of what is missing or wrong, and what would be right.
pub fn read_baseline(document: &Document<'_>) -> Result<Baseline, ReadError> {
    let baseline: Baseline = document.read(SCHEMA)?;
    if baseline.sessions.is_empty() {
        return Err(ReadError::at("sessions", "it is empty; expected at least one session"));
    }
    for (at, session) in baseline.sessions.iter().enumerate() {
        check(session).map_err(|error| {
            ReadError::at(format!("sessions[{at}].{}", error.place), error.text)
        })?;
    }
    Ok(baseline)
}

/// Indices must lead somewhere, and a condition has one run a round.
fn check(session: &BaselineSession) -> Result<(), ReadError> {
    let (commands, conditions) = (session.commands.len(), session.conditions.len());
    for (at, one) in session.conditions.iter().enumerate() {
        let wrong = |key: &str, of: &str, number: usize| {
            let text = format!("there are {number} {of}; expected a smaller number");
            Err(ReadError::at(format!("conditions[{at}].{key}"), text))
        };
        if one.condition.command >= commands {
            return wrong("command", "commands", commands);
        }
        if matches!(one.condition.role, ConditionRole::NoiseFloor { twin_of } if twin_of >= conditions)
        {
            return wrong("repeats", "conditions", conditions);
        }
        let mut rounds = HashSet::new();
        if let Some(run) = one.samples.iter().position(|sample| !rounds.insert(sample.round)) {
            let place = format!("conditions[{at}].samples[{run}].round");
            return Err(ReadError::at(place, "it is there twice; expected one run a round"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::bench::testing::saved;
    use crate::wire::documents;

    fn read(bytes: &[u8]) -> Result<Baseline, String> {
        let documents = documents(bytes).map_err(|error| error.to_string())?;
        read_baseline(&documents[0]).map_err(|error| error.to_string())
    }

    #[test]
    fn a_baseline_is_read_back_whole() {
        let baseline = saved(2);
        assert_eq!(read(&baseline_json(&baseline)), Ok(baseline));
    }

    #[test]
    fn what_leads_nowhere_or_stands_twice_is_an_error() -> Result<(), serde_json::Error> {
        let good: Value = serde_json::from_slice(&baseline_json(&saved(1)))?;
        let first = "/sessions/0/conditions/0";
        for (pointer, value, place) in [
            ("/sessions".to_owned(), Value::Array(Vec::new()), "sessions: it is empty"),
            (format!("{first}/command"), 9.into(), "sessions[0].conditions[0].command: there are"),
            (format!("{first}/repeats"), 9.into(), "sessions[0].conditions[0].repeats: there are"),
            (
                format!("{first}/samples/1/round"),
                0.into(),
                "sessions[0].conditions[0].samples[1].round: it is there twice",
            ),
            ("/schema".to_owned(), "hotset.baseline/2".into(), "expected \"hotset.baseline/1\""),
        ] {
            let mut json = good.clone();
            let at = json.pointer_mut(&pointer);
            *at.unwrap_or_else(|| panic!("{pointer}")) = value;
            let error = read(&serde_json::to_vec(&json)?).expect_err(&pointer);
            assert!(error.contains(place), "{error}");
        }
        Ok(())
    }

    #[test]
    fn half_a_file_is_said_to_end_early() {
        let mut bytes = baseline_json(&saved(1));
        bytes.truncate(bytes.len() / 2);
        assert!(read(&bytes).is_err_and(|error| error.contains("ends in the middle")));
    }
}
