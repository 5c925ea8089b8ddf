//! From the text of a budget to what it means.

use hotset_facts::budget::Budget;

use crate::error::BudgetError;
use crate::nearest::did_you_mean;
use crate::verify::verify;

/// Reads a budget, and refuses what no run could be judged by.
///
/// # Errors
/// The first thing that is wrong, with its line or its check, and what would be right.
pub fn read(text: &str) -> Result<Budget, BudgetError> {
    let budget: Budget = toml_edit::de::from_str(text).map_err(|error| {
        let message = error.message().trim().replace('\n', "; ");
        let message = format!("{message}{}", suggestion(&message));
        BudgetError::at(text, error.span().map(|span| span.start), message)
    })?;
    verify(&budget)?;
    Ok(budget)
}

/// serde says of a key that is none which there are: "unknown field `a`, expected one of `b`, `c`".
fn suggestion(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(name) if message.starts_with("unknown field") => did_you_mean(name, quoted),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        read(text).map_or_else(|error| error.to_string(), |budget| format!("{budget:?}"))
    }

    #[test]
    fn a_budget_is_read_with_its_tables() {
        let text = r#"
            [[check]]
            name = "selftest"
            command = ["./app", "--selftest"]
            env = { LANG = "C" }
            state = "cold"
            timeout = "30 s"
            forbid = ["fsync-per-write"]
            limits.read.calls = "exactly 12"
            limits.from_device = "at most 4 MiB"

            [[check.file]]
            pattern = "/usr/**"
            limits.opens = 3
        "#;
        let budget = read(text).expect("a budget");
        let check = &budget.checks[0];
        assert_eq!(check.name, "selftest");
        assert_eq!(check.timeout, Some(std::time::Duration::from_secs(30)));
        let limits: Vec<_> =
            check.limits.0.iter().map(|(name, limit)| format!("{name} {limit}")).collect();
        assert_eq!(limits, ["from_device at most 4 MiB", "read.calls exactly 12"]);
        assert_eq!(check.file[0].limits.0.len(), 1);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line_and_the_nearest_name() {
        let unknown = wrong("[[check]]\nname = \"a\"\ncomand = \"true\"\n");
        assert!(unknown.starts_with("line 3: unknown field `comand`"), "{unknown}");
        assert!(unknown.ends_with("did you mean \"command\"?"), "{unknown}");
        let missing = wrong("[[check]]\nname = \"a\"\n");
        assert!(missing.contains("missing field `command`"), "{missing}");
        let syntax = wrong("[[check]\n");
        assert!(syntax.starts_with("line 1: "), "{syntax}");
        let unit = wrong(
            "[[check]]\nname = \"a\"\ncommand = \"true\"\nlimits.read.bytes = \"at most 4 MiX\"\n",
        );
        assert!(unit.contains("unknown unit \"MiX\"") && unit.contains("read.bytes"), "{unit}");
        let state = wrong("[[check]]\nname = \"a\"\ncommand = \"true\"\nstate = \"hot\"\n");
        assert!(state.starts_with("line 4: ") && state.contains("expected as-is, cold"), "{state}");
    }
}
