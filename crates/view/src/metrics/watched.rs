//! How much of watched paths is cached.

use std::time::UNIX_EPOCH;

use super::{Family, Kind, Labels, Measured, Unit, Value, WatchedNumbers};

/// A gauge of a watched path; nothing where it can't be told.
type Gauge = (&'static str, Unit, &'static str, fn(&WatchedNumbers) -> Option<Value>);

const GAUGES: [Gauge; 8] = [
    ("cached_bytes", Unit::Bytes, "Bytes of a watched path that are in the page cache", |path| {
        known(path).then_some(Value::Whole(path.cached_bytes))
    }),
    ("dirty_bytes", Unit::Bytes, "Bytes of a watched path that wait to be written back", |path| {
        path.dirty_bytes.filter(|_| known(path)).map(Value::Whole)
    }),
    ("size_bytes", Unit::Bytes, "Bytes of the files of a watched path", |path| {
        known(path).then_some(Value::Whole(path.size_bytes))
    }),
    ("files", Unit::Count, "Files of a watched path whose state is known", |path| {
        Some(Value::Whole(path.files))
    }),
    (
        "unknown_files",
        Unit::Count,
        "Files of a watched path whose state could not be told",
        |path| Some(Value::Whole(path.unknown)),
    ),
    (
        "complete",
        Unit::Count,
        "Whether the last walk of a watched path came to its end within its bounds",
        |path| Some(Value::Whole(u64::from(path.complete))),
    ),
    ("walk_seconds", Unit::Seconds, "How long the last walk of a watched path took", |path| {
        Some(Value::Nanos(path.walk_ns))
    }),
    (
        "last_walk_timestamp_seconds",
        Unit::Seconds,
        "When the last walk of a watched path ended, since the epoch",
        |path| {
            let since = path.at.duration_since(UNIX_EPOCH).ok()?;
            Some(Value::Nanos(u64::try_from(since.as_nanos()).ok()?))
        },
    ),
];

/// Where no file's state could be told there are no bytes to tell either; an empty directory has none.
fn known(path: &WatchedNumbers) -> bool {
    path.files > 0 || path.unknown == 0
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
