//! `hotset stat --csv`: exact numbers, the same names as in JSON.

use super::Row;
use super::columns::{COLUMNS, Cell};
use hotset_facts::format::rfc3339;

/// The names of the columns, with a line end.
pub fn csv_header() -> String {
    let names = COLUMNS.map(|(_, _, name, _)| name);
    format!("time,seconds,{},at_least\n", names.join(","))
}

/// One line, with a line end. What is not known is empty.
pub fn csv_line(row: &Row<'_>) -> String {
    let fields = COLUMNS.map(|(_, _, _, cell)| match cell(row.line) {
        Cell::Count(value) | Cell::Bytes(value, _) => value.value().map(|value| value.to_string()),
        Cell::Share(share) => share.map(|share| share.to_string()),
    });
    let (time, seconds) = (rfc3339(row.at), row.line.numbers.seconds);
    format!(
        "{time},{seconds},{},{}\n",
        fields.map(Option::unwrap_or_default).join(","),
        row.at_least()
    )
}
