//! The counters of I/O: of the host, by command, by control group, by file system.

use hotset_analysis::live::SeriesSet;
use hotset_facts::{self as facts, LiveIo};

use super::{Family, Kind, Labels, Measured, Point, Unit, Value};

/// What the rest is labelled.
pub(super) const OTHER: &str = "other";

/// One series of every counter.
struct Row {
    labels: Labels,
    since: Option<std::time::SystemTime>,
    io: LiveIo,
}

pub(super) fn push(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let counted = measured.counted;
    let total = Row { labels: Labels::from([]), since: None, io: counted.totals.io };
    table(measured, "hotset_", "on the host", vec![total], families);
    let groups =
        rows(&counted.cgroups, "cgroup", |path| Labels::from(group_labels(measured, path)));
    table(measured, "hotset_cgroup_", "by control group", groups, families);
    let commands = rows_of_commands(measured);
    table(measured, "hotset_command_", "by name of program", commands, families);
    if let Some(mount) = measured.mount {
        let mounts = rows(&counted.mounts, "device", |&dev| {
            let known = mount(dev);
            Labels::from([
                ("device", format!("{}:{}", dev.major, dev.minor)),
                ("mountpoint", known.mountpoint),
                ("fstype", known.fstype),
            ])
        });
        table(measured, "hotset_mount_", "by file system", mounts, families);
    }
}

/// How a control group is labelled in every metric.
pub(super) fn group_labels(measured: &Measured<'_>, path: &str) -> [(&'static str, String); 3] {
    let known = (measured.group)(path);
    [
        ("cgroup", path.to_owned()),
        ("container", known.container.unwrap_or_default()),
        ("pod", known.pod.unwrap_or_default()),
    ]
}

fn rows_of_commands(measured: &Measured<'_>) -> Vec<Row> {
    rows(&measured.counted.commands, "command", |comm| {
        // Longer than a name can be, so that it is nobody else's.
        let name = if &**comm == OTHER { "other (a command)" } else { comm };
        Labels::from([("command", name.to_owned())])
    })
}

fn rows<K: std::hash::Hash + Eq + Clone>(
    set: &SeriesSet<K>,
    label: &'static str,
    labels: impl Fn(&K) -> Labels,
) -> Vec<Row> {
    let mut rows: Vec<Row> = (set.series().iter())
        .map(|series| Row { labels: labels(&series.key), since: Some(series.since), io: series.io })
        .collect();
    rows.sort_by(|a, b| a.labels.cmp(&b.labels));
    let labels = Labels::from([(label, OTHER.to_owned())]);
    rows.push(Row { labels, since: None, io: *set.other() });
    rows
}

fn table(
    measured: &Measured<'_>,
    prefix: &str,
    of: &str,
    rows: Vec<Row>,
    families: &mut Vec<Family>,
) {
    for counter in LiveIo::COUNTERS {
        if counter.gap(measured.not_measured).is_some() {
            continue;
        }
        let (unit, value): (_, fn(u64) -> Value) = match counter.unit {
            facts::Unit::Count => (Unit::Count, Value::Whole),
            facts::Unit::Bytes => (Unit::Bytes, Value::Whole),
            facts::Unit::Pages => (Unit::Pages, Value::Whole),
            facts::Unit::Nanoseconds => (Unit::Seconds, Value::Nanos),
        };
        let (name, help) =
            (format!("{prefix}{}", counter.metric), format!("{}, {of}", counter.help));
        let mut family = Family::new(name, Kind::Counter, unit, &help);
        let point = |row: &Row| Point {
            labels: row.labels.clone(),
            since: row.since,
            value: value((counter.of)(&row.io)),
        };
        family.points = rows.iter().map(point).collect();
        families.push(family);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_with_its_unit() {
        for counter in LiveIo::COUNTERS {
            let last = match counter.unit {
                facts::Unit::Count => None,
                facts::Unit::Bytes => Some("bytes"),
                facts::Unit::Pages => Some("pages"),
                facts::Unit::Nanoseconds => Some("seconds"),
            };
            let word = counter.metric.rsplit('_').next();
            let unit = word.filter(|word| ["bytes", "pages", "seconds"].contains(word));
            assert_eq!(unit, last, "{}", counter.metric);
        }
    }
}
