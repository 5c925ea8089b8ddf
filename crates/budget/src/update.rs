//! New limits in a budget that stays otherwise as a person wrote it.

use std::ops::Range;

use hotset_facts::Unit;
use hotset_facts::budget::{Amount, Bound, Limit};
use toml_edit::{Document, Item, TableLike, Value};

use crate::error::BudgetError;

/// A number that a run came to, for a limit of the budget.
#[derive(Debug, Clone)]
pub struct Changed<'a> {
    /// The check.
    pub check: &'a str,
    /// The key that the limit is in (`file` or `process`), and which of these; none of the whole run.
    pub among: Option<(&'static str, usize)>,
    /// The number's name in the budget.
    pub number: &'a str,
    /// In what it counts.
    pub unit: Unit,
    /// What it came to.
    pub value: u64,
}

/// The text with limits that hold what the runs came to: those that were broken, and exact ones that are not right any more.
/// Comments, order and all else stay.
///
/// # Errors
/// Where the text is no TOML, or a limit is not there.
pub fn update(text: &str, changes: &[Changed<'_>]) -> Result<String, BudgetError> {
    let document = Document::parse(text).map_err(|error| {
        BudgetError::at(text, error.span().map(|span| span.start), error.message())
    })?;
    let mut places = Vec::with_capacity(changes.len());
    for change in changes {
        let place = place(&document, change).ok_or_else(|| {
            BudgetError::new(format!("check \"{}\": {} is not found", change.check, change.number))
        })?;
        places.push(place);
    }
    // From the end on, so that places before it stay right. Not by `DocumentMut`, which puts dotted keys together.
    places.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut new = text.to_owned();
    places.into_iter().for_each(|(span, value)| new.replace_range(span, &value));
    Ok(new)
}

/// Where a limit stands, and what is to stand there.
fn place(document: &Document<&str>, change: &Changed<'_>) -> Option<(Range<usize>, String)> {
    let is_it =
        |check: &&dyn TableLike| check.get("name").and_then(Item::as_str) == Some(change.check);
    let check = tables(document.get("check")?).into_iter().find(is_it)?;
    let limits = match change.among {
        None => check.get("limits"),
        Some((key, at)) => tables(check.get(key)?).get(at).and_then(|table| table.get("limits")),
    };
    let limits = limits?.as_table_like()?;
    let value = find(limits, change.number)?;
    let old = match value.as_str() {
        Some(text) => text.parse().ok()?,
        None => Limit::at_most(value.as_integer()?.try_into().ok()?),
    };
    let new = Value::from(renewed(&old, change).to_string());
    Some((value.span()?, new.to_string()))
}

fn renewed(old: &Limit, change: &Changed<'_>) -> Limit {
    let amount = Amount { number: change.value, unit: Some(change.unit) };
    let bound = match old.bound {
        Bound::AtMost(_) => Bound::AtMost(amount),
        Bound::Exactly(_) => Bound::Exactly(amount),
        Bound::AtLeast(_) => Bound::AtLeast(amount),
        // Its number is in the baseline.
        above @ Bound::AboveBaseline { .. } => above,
    };
    Limit { bound, ..*old }
}

/// The tables of an array, however that is written.
fn tables(item: &Item) -> Vec<&dyn TableLike> {
    match item {
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Item::Value(Value::Array(values)) => {
            let inline = values.iter().filter_map(Value::as_inline_table);
            inline.map(|table| table as &dyn TableLike).collect()
        }
        _ => Vec::new(),
    }
}

/// The value of a name that may be written as tables in tables.
fn find<'t>(limits: &'t dyn TableLike, name: &str) -> Option<&'t Value> {
    if let Some(item) = limits.get(name) {
        return item.as_value();
    }
    name.match_indices('.').find_map(|(dot, _)| {
        let group = limits.get(&name[..dot])?.as_table_like()?;
        find(group, &name[dot + 1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# ours\n[[check]]\nname = \"a\"\ncommand = \"true\"\n\n[check.limits] # by hand\nread.calls = \"exactly 3\" # three\n\"sync.calls\" = 0\nread.bytes   = \"at most 4 KiB, if measured\"\n\n[[check.file]]\npattern = \"x\"\nlimits.opens = 1\n";

    fn changed(
        among: Option<(&'static str, usize)>,
        number: &'static str,
        unit: Unit,
        value: u64,
    ) -> Changed<'static> {
        Changed { check: "a", among, number, unit, value }
    }

    #[test]
    fn limits_change_in_place() {
        let new = update(
            TEXT,
            &[
                changed(None, "read.calls", Unit::Count, 5),
                changed(None, "sync.calls", Unit::Count, 1),
                changed(None, "read.bytes", Unit::Bytes, 8192),
                changed(Some(("file", 0)), "opens", Unit::Count, 2),
            ],
        );
        let wanted = TEXT
            .replace("exactly 3", "exactly 5")
            .replace("\"sync.calls\" = 0", "\"sync.calls\" = \"at most 1\"")
            .replace("at most 4 KiB", "at most 8 KiB")
            .replace("limits.opens = 1", "limits.opens = \"at most 2\"");
        assert_eq!(new.as_deref(), Ok(wanted.as_str()));
        assert!(crate::read(&wanted).is_ok());
    }

    #[test]
    fn tables_may_be_written_in_a_line() {
        let text = "check = [{ name = \"a\", command = \"true\", limits = { read.calls = 3 }, file = [{ pattern = \"x\", limits.opens = 1 }] }]\n";
        assert!(crate::read(text).is_ok());
        let new = update(
            text,
            &[
                changed(None, "read.calls", Unit::Count, 5),
                changed(Some(("file", 0)), "opens", Unit::Count, 2),
            ],
        );
        let wanted = text.replace("calls = 3", "calls = \"at most 5\"");
        assert_eq!(new, Ok(wanted.replace("opens = 1", "opens = \"at most 2\"")));
    }

    #[test]
    fn a_limit_that_is_not_there_is_an_error() {
        let none = update(TEXT, &[changed(None, "write.calls", Unit::Count, 5)]);
        assert!(none.is_err_and(|error| error.to_string().contains("write.calls is not found")));
        assert!(update("[[check]", &[]).is_err());
    }
}
