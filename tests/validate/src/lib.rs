//! Does a document fit a JSON Schema? For tests, of several crates.
//!
//! Python's jsonschema answers, a validator that many of our users have: it knows nothing of how our schemas and documents
//! came about, and costs our builds nothing (the Rust crate brings 50 others). As many processes serve a test binary as
//! it has tests that ask at once.
//!
//! It must not be used by anything but tests.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

const SCRIPT: &str = include_str!("validate.py");

/// The distribution's interpreter, which sees the distribution's package; another may come first in PATH.
const PYTHON: &str = "/usr/bin/python3";

/// The validator, which answers a line with a line until its input ends.
struct Validator {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Validator {
    fn start() -> Self {
        let mut process = Command::new(PYTHON)
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{PYTHON}: {error}"));
        let questions = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        Self { process, questions, answers }
    }

    fn ask(&mut self, question: &Value) -> Vec<String> {
        let mut line = String::new();
        let _ = writeln!(self.questions, "{question}");
        let answer = self.answers.read_line(&mut line);
        match answer.ok().and_then(|_| serde_json::from_str(&line).ok()) {
            Some(errors) => errors,
            None => panic!(
                "the validator gave no answer (its error is above; it needs Debian's python3-jsonschema): {:?}",
                self.process.wait()
            ),
        }
    }
}

/// Every place of a document that isn't as the schema, given as its text, says. None where it fits.
///
/// # Panics
/// Where the schema is not as its `$schema` says (draft 2020-12 where it says nothing), and where there is no validator to
/// ask: a test that can't run must not pass.
pub fn violations(schema: &str, document: &Value) -> Vec<String> {
    static IDLE: Mutex<Vec<Validator>> = Mutex::new(Vec::new());
    let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = idle().pop();
    let mut validator = known.unwrap_or_else(Validator::start);
    let errors = validator.ask(&json!({ "schema": schema, "document": document }));
    idle().push(validator);
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}},
        "additionalProperties": false}"#;

    #[test]
    fn what_fits_and_what_does_not() {
        assert_eq!(violations(SCHEMA, &json!({"a": 1})), [""; 0]);
        let wrong = json!({"a": "1", "b": 2});
        let mut errors = violations(SCHEMA, &wrong);
        errors.sort();
        let unknown = "$: Additional properties are not allowed ('b' was unexpected)";
        assert_eq!(errors, ["$.a: '1' is not of type 'integer'", unknown]);
        assert_eq!(violations(SCHEMA, &json!({})), ["$: 'a' is a required property"]);
    }

    #[test]
    #[should_panic(expected = "no answer")]
    fn a_schema_that_is_none_is_no_verdict() {
        Validator::start().ask(&json!({"schema": r#"{"type": "number of files"}"#, "document": 1}));
    }
}
