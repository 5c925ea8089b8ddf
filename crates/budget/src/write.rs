//! A new budget, as text.

use std::fmt::Write as _;
use std::path::Path;

use hotset_analysis::check::{LeftOut, Proposed};
use hotset_facts::WantedState;
use toml_edit::{Array, Value};

/// What a new check is made of.
#[derive(Debug, Clone)]
pub struct NewCheck<'a> {
    /// Its name.
    pub name: &'a str,
    /// The command's words.
    pub command: &'a [String],
    /// The state that its runs began in.
    pub state: WantedState,
    /// The profile that was kept of a run.
    pub baseline: Option<&'a Path>,
    /// Runs that the limits rest on.
    pub runs: usize,
    /// Its limits.
    pub limits: &'a [Proposed],
    /// Numbers without one.
    pub left_out: &'a [LeftOut],
    /// What else a reader should know.
    pub remarks: &'a [String],
}

/// A check with its limits, and the reasons beside them.
pub fn write(check: &NewCheck<'_>) -> String {
    let mut text = String::from("[[check]]\n");
    let words: Array = check.command.iter().map(String::as_str).collect();
    let mut key = |name: &str, value: Value| {
        let _ = writeln!(text, "{name} = {}", value.to_string().trim());
    };
    key("name", check.name.into());
    key("command", words.into());
    key("state", check.state.to_string().into());
    if let Some(baseline) = check.baseline {
        key("baseline", baseline.to_string_lossy().into_owned().into());
    }
    for remark in check.remarks {
        let _ = writeln!(text, "# {remark}");
    }
    let _ = writeln!(text, "\n[check.limits] # from {} runs", check.runs);
    let width = check.limits.iter().map(|limit| limit.number.len()).max().unwrap_or(0);
    for Proposed { number, limit, remark } in check.limits {
        let _ = write!(text, "{number:width$} = {}", Value::from(limit.to_string()));
        if let Some(remark) = remark {
            let _ = write!(text, " # {remark}");
        }
        text.push('\n');
    }
    for LeftOut { number, why } in check.left_out {
        let _ = writeln!(text, "# {number}: no limit: {why}");
    }
    text
}

#[cfg(test)]
mod tests {
    use hotset_facts::budget::Limit;

    use super::*;

    #[test]
    fn what_is_written_is_a_budget() {
        let limit = |number, limit: &str, remark: Option<&str>| Proposed {
            number,
            limit: limit.parse::<Limit>().expect("a limit"),
            remark: remark.map(str::to_owned),
        };
        let text = write(&NewCheck {
            name: "a \"quoted\" name",
            command: &["sh".to_owned(), "-c".to_owned(), "echo 'x'\n".to_owned()],
            state: WantedState::Cold,
            baseline: Some(Path::new(".hotset/a.json")),
            runs: 5,
            limits: &[
                limit("read.calls", "exactly 12", None),
                limit("read.bytes", "at most 43 KiB", Some("40 to 41 KiB in 5 runs")),
            ],
            left_out: &[LeftOut { number: "processes", why: "it varies".to_owned() }],
            remarks: &["one run of six failed".to_owned()],
        });
        let read = crate::read(&text).expect(&text);
        let check = &read.checks[0];
        assert_eq!(check.name, "a \"quoted\" name");
        assert_eq!(check.limits.0.len(), 2);
        assert_eq!(check.state, WantedState::Cold);
        assert!(
            text.contains("read.bytes = \"at most 43 KiB\" # 40 to 41 KiB in 5 runs\n"),
            "{text}"
        );
        assert!(text.contains("# processes: no limit: it varies\n"), "{text}");
    }
}
