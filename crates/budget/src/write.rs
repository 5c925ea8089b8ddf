//! A new budget, as text.

use std::fmt::Write as _;
use std::path::Path;

use hotset_analysis::check::{LeftOut, Proposal, Proposed, WithoutShared};
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
    /// Its limits, and numbers without one.
    pub proposal: &'a Proposal,
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
    for line in check.remarks.iter().flat_map(|remark| remark.lines()) {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "\n[check.limits] # from {} runs", check.runs);
    let Proposal { limits, without_shared, left_out } = check.proposal;
    let width = limits.iter().map(|limit| limit.number.len()).max().unwrap_or(0);
    for limit in limits {
        write_limit(&mut text, &format!("{:width$}", limit.number), limit);
    }
    for LeftOut { number, why } in left_out {
        let _ = writeln!(text, "# {number}: no limit: {why}");
    }
    if let Some(own) = without_shared {
        write_without_shared(&mut text, own);
    }
    text
}

fn write_limit(text: &mut String, name: &str, Proposed { limit, remark, .. }: &Proposed) {
    let _ = write!(text, "{name} = {}", Value::from(limit.to_string()));
    if let Some(remark) = remark {
        let _ = write!(text, " # {remark}");
    }
    text.push('\n');
}

fn write_without_shared(text: &mut String, own: &WithoutShared) {
    text.push_str(
        "\n# Other programs had pages of these cached before cold runs: what a run reads of them depends on what else runs.\n\
         [[check.file]]\npattern = \"**\"\nexcept = [\n",
    );
    for path in &own.shared {
        let _ = writeln!(text, "    {},", Value::from(escaped(path)).to_string().trim());
    }
    text.push_str("]\n");
    write_limit(text, &format!("limits.{}", own.limit.number), &own.limit);
}

/// A path as a pattern that fits no other.
fn escaped(path: &str) -> String {
    let mut pattern = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '*' | '?' | '[' | ']' | '{' | '}' | '!' => pattern.extend(['[', c, ']']),
            '\\' => pattern.push_str("\\\\"),
            other => pattern.push(other),
        }
    }
    pattern
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
            proposal: &Proposal {
                limits: vec![
                    limit("read.calls", "exactly 12", None),
                    limit("read.bytes", "at most 43 KiB", Some("40 to 41 KiB in 5 runs")),
                ],
                without_shared: Some(WithoutShared {
                    shared: vec!["/lib/a.so".to_owned(), "/lib/[b]\"*.so".to_owned()],
                    limit: limit("from_device", "at most 4 MiB", Some("3 MiB in 5 runs")),
                }),
                left_out: vec![LeftOut { number: "processes", why: "it varies".to_owned() }],
            },
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
        let own = &check.file[0];
        assert_eq!(own.except, ["/lib/a.so", "/lib/[[]b[]]\"[*].so"]);
        assert!(own.limits.0.contains_key("from_device"), "{text}");
        assert!(text.contains("# processes: no limit: it varies\n"), "{text}");
    }
}
