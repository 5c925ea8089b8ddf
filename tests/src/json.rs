//! Reading profiles and truths.

use std::path::Path;

use serde_json::{Value, json};

/// The number at `pointer` (`/read/pages`); panics where it is missing, null or no count.
pub fn number(value: &Value, pointer: &str) -> u64 {
    match value.pointer(pointer).map(Value::as_u64) {
        Some(Some(number)) => number,
        Some(None) => {
            panic!("{pointer} is no count but {}", value.pointer(pointer).unwrap_or(value))
        }
        None => panic!("no {pointer} in {value}"),
    }
}

/// How often the sensor lost something that it counts, of every cause.
pub fn lost_counts(profile: &Value) -> u64 {
    let losses = profile["sensor"]["losses"].as_object().expect("losses");
    losses
        .iter()
        .filter(|(cause, _)| *cause != "events")
        .map(|(_, n)| n.as_u64().expect("a count"))
        .sum()
}

/// Bytes of so many pages, by the truth's page size.
pub fn bytes_of(truth: &Value, pages: u64) -> u64 {
    pages * number(truth, "/page_size")
}

/// The profile's row of the file that a truth describes (`truth.file`, `truth.file2`), by device and inode.
pub fn file_row<'a>(profile: &'a Value, file: &Value) -> Option<&'a Value> {
    profile["files"]
        .as_array()?
        .iter()
        .find(|row| row["dev"] == file["dev"] && row["ino"] == file["ino"])
}

/// The profile's row of the file at `path`; panics where there is none.
pub fn row_at<'a>(profile: &'a Value, path: &Path) -> &'a Value {
    let stat = rustix::fs::stat(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let id = hotset_sys::file_id(&stat);
    let file = json!({ "dev": id.dev.to_string(), "ino": id.ino });
    file_row(profile, &file).unwrap_or_else(|| panic!("no row for {}", path.display()))
}

/// The profile's row of a process.
pub fn process_row(profile: &Value, pid: u64) -> Option<&Value> {
    profile["processes"].as_array()?.iter().find(|row| row["pid"] == pid)
}
