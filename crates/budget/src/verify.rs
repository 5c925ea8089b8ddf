//! What the words of a budget allow, and no run could be judged by.

use std::collections::HashSet;

use hotset_analysis::RULES;
use hotset_analysis::check::{LimitOf, Number, rule_of};
use hotset_facts::Unit;
use hotset_facts::budget::{Amount, Bound, Budget, Check, Limit, Limits, Words};

use crate::error::BudgetError;
use crate::nearest::did_you_mean;

/// Refuses a budget without checks, two checks of one name, and checks that can't be meant.
pub(crate) fn verify(budget: &Budget) -> Result<(), BudgetError> {
    if budget.checks.is_empty() {
        return Err(BudgetError::new(
            "no check is in it; expected [[check]] tables, such as `hotset check --init -- CMD` writes",
        ));
    }
    let mut names = HashSet::new();
    for check in &budget.checks {
        if check.name.trim().is_empty() {
            return Err(BudgetError::new("a check has an empty name"));
        }
        if !names.insert(check.name.as_str()) {
            return Err(BudgetError::new(format!(
                "two checks are named \"{}\"; expected a name for each",
                check.name
            )));
        }
        verify_check(check)
            .map_err(|why| BudgetError::new(format!("check \"{}\": {why}", check.name)))?;
    }
    Ok(())
}

fn verify_check(check: &Check) -> Result<(), String> {
    let is_empty = match &check.command {
        Words::Line(line) => line.trim().is_empty(),
        Words::List(words) => words.first().is_none_or(String::is_empty),
    };
    if is_empty {
        return Err("command is empty; expected a program and its arguments".to_owned());
    }
    let has_baseline = check.baseline.is_some();
    limits(&check.limits, LimitOf::Run, has_baseline)?;
    for files in &check.file {
        let of = |why| format!("file \"{}\": {why}", files.pattern);
        limits(&files.limits, LimitOf::Files, has_baseline).map_err(of)?;
    }
    for processes in &check.process {
        let of = |why| format!("process \"{}\": {why}", processes.name);
        limits(&processes.limits, LimitOf::Processes, has_baseline).map_err(of)?;
    }
    for text in &check.forbid {
        let (rule, _) = rule_of(text);
        if !RULES.iter().any(|known| known.id == rule) {
            let near = did_you_mean(rule, RULES.iter().map(|known| known.id));
            return Err(format!("forbid: there is no rule \"{rule}\"{near}"));
        }
    }
    Ok(())
}

fn limits(limits: &Limits, on: LimitOf, has_baseline: bool) -> Result<(), String> {
    for (name, limit) in &limits.0 {
        let Some(number) = Number::named(name) else {
            let all = Number::all();
            let near = did_you_mean(name, all.iter().map(|number| number.name));
            return Err(format!("there is no number \"{name}\"{near}"));
        };
        if !number.is_of(on) {
            let whose = if on == LimitOf::Files { "some files" } else { "some processes" };
            return Err(format!(
                "{name} is not known of {whose}; expected it in the limits of the whole run"
            ));
        }
        unit(number, limit)?;
        if matches!(limit.bound, Bound::AboveBaseline { .. }) && !has_baseline {
            return Err(format!(
                "{name} has a limit above the baseline; expected baseline = \"FILE\", a profile such as `hotset check --update` writes"
            ));
        }
    }
    Ok(())
}

/// A bare number is right for all.
fn unit(number: Number, limit: &Limit) -> Result<(), String> {
    let (Bound::AtMost(amount) | Bound::Exactly(amount) | Bound::AtLeast(amount)) = limit.bound
    else {
        return Ok(());
    };
    match amount {
        Amount { unit: None, .. } => Ok(()),
        Amount { unit: Some(unit), .. } if unit == number.unit => Ok(()),
        Amount { unit: Some(unit), .. } => Err(format!(
            "{}: \"{limit}\" is in {}; expected {}",
            number.name,
            words(unit),
            words(number.unit)
        )),
    }
}

fn words(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes, such as 4 MiB",
        Unit::Pages => "pages, as a number without a unit",
        Unit::Nanoseconds => "a time, such as 10 ms",
        Unit::Count => "a number without a unit",
    }
}

#[cfg(test)]
mod tests {
    use crate::read;

    fn wrong(keys: &str) -> String {
        let text = format!("[[check]]\nname = \"a\"\ncommand = \"true\"\n{keys}\n");
        read(&text).map_or_else(|error| error.to_string(), |_| "right".to_owned())
    }

    #[test]
    fn what_can_not_be_meant_is_refused_with_what_would_be_right() {
        let cases = [
            (
                "limits.read.call = 1",
                "there is no number \"read.call\"; did you mean \"read.calls\"?",
            ),
            (
                "limits.read.calls = \"at most 4 MiB\"",
                "is in bytes, such as 4 MiB; expected a number without a unit",
            ),
            ("limits.read.bytes = \"at most 4 ms\"", "is in a time, such as 10 ms; expected bytes"),
            (
                "limits.read.calls = \"at most 5 % above the baseline\"",
                "expected baseline = \"FILE\"",
            ),
            ("forbid = [\"fsync-per-writ\"]", "did you mean \"fsync-per-write\"?"),
            ("command = \"\"", "line 4: "),
            (
                "[[check.file]]\npattern = \"x\"\nlimits.command.wall_ns = 1",
                "not known of some files",
            ),
            (
                "[[check.process]]\nname = \"x\"\nlimits.files.opened = 1",
                "not known of some processes",
            ),
            ("[[check]]\nname = \"a\"\ncommand = \"false\"", "two checks are named \"a\""),
            ("[[check]]\nname = \" \"\ncommand = \"false\"", "empty name"),
            ("[[check]]\nname = \"b\"\ncommand = []", "check \"b\": command is empty"),
        ];
        for (keys, words) in cases {
            let told = wrong(keys);
            assert!(told.contains(words), "{keys}\n{told}");
        }
        assert_eq!(wrong("limits.totals.read.calls = 1"), "right");
        assert_eq!(wrong("[[check.process]]\nname = \"x\"\nlimits.lookups.failed = 1"), "right");
        assert!(
            read("")
                .map_or_else(|e| e.to_string(), |_| String::new())
                .contains("no check is in it")
        );
    }
}
