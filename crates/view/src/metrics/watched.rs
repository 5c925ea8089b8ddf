//! How much of watched paths is cached.

use std::time::UNIX_EPOCH;

use super::{Family, Kind, Labels, Measured, Unit, Value, WatchedNumbers};

/// A gauge of a watched path; nothing where it can't be told.
type Gauge = (&'static str, Unit, &'static str, fn(&WatchedNumbers) -> Option<Value>);

const GAUGES: [Gauge; 8] = [
    ("cached_bytes", Unit::Bytes, "Bytes of a watched path that are in the page cache", |one| {
        known(one).then_some(Value::Whole(one.cached_bytes))
    }),
    ("dirty_bytes", Unit::Bytes, "Bytes of a watched path that wait to be written back", |one| {
        one.dirty_bytes.filter(|_| known(one)).map(Value::Whole)
    }),
    ("size_bytes", Unit::Bytes, "Bytes of the files of a watched path", |one| {
        known(one).then_some(Value::Whole(one.size_bytes))
    }),
    ("files", Unit::Count, "Files of a watched path whose state is known", |one| {
        Some(Value::Whole(one.files))
    }),
    (
        "unknown_files",
        Unit::Count,
        "Files of a watched path whose state could not be told",
        |one| Some(Value::Whole(one.unknown)),
    ),
    (
        "complete",
        Unit::Count,
        "Whether the last walk of a watched path came to its end within its bounds",
        |one| Some(Value::Whole(u64::from(one.complete))),
    ),
    ("walk_seconds", Unit::Seconds, "How long the last walk of a watched path took", |one| {
        Some(Value::Nanos(one.walk_ns))
    }),
    (
        "last_walk_timestamp_seconds",
        Unit::Seconds,
        "When the last walk of a watched path ended, since the epoch",
        |one| {
            let since = one.at.duration_since(UNIX_EPOCH).ok()?;
            Some(Value::Nanos(u64::try_from(since.as_nanos()).ok()?))
        },
    ),
];

/// Where no file's state could be told there are no bytes to tell either; an empty directory has none.
fn known(one: &WatchedNumbers) -> bool {
    one.files > 0 || one.unknown == 0
}

pub(super) fn push(measured: &Measured<'_>, families: &mut Vec<Family>) {
    for (name, unit, help, of) in GAUGES {
        let mut family = Family::new(format!("hotset_watch_{name}"), Kind::Gauge, unit, help);
        for one in measured.watched {
            if let Some(value) = of(one) {
                family.push(Labels::from([("path", one.path.clone())]), value);
            }
        }
        if !family.points.is_empty() {
            families.push(family);
        }
    }
}
