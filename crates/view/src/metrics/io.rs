//! The counters of I/O: of the host, by command, by control group, by file system.

use hotset_analysis::live::SeriesSet;
use hotset_facts::LiveIo;

use super::{Family, Kind, Labels, Measured, Point, Unit, Value};

/// How one of [`LiveIo::NAMES`] is exported.
struct Exported {
    /// Its name there.
    field: &'static str,
    /// The name behind the prefix, without `_total`.
    name: &'static str,
    unit: Unit,
    help: &'static str,
}

const fn exported(
    field: &'static str,
    name: &'static str,
    unit: Unit,
    help: &'static str,
) -> Exported {
    Exported { field, name, unit, help }
}

/// In the order of [`LiveIo::NAMES`].
const EXPORTED: [Exported; LiveIo::NAMES.len()] = [
    exported("read_calls", "read_calls", Unit::Count, "Buffered read calls"),
    exported("read_bytes", "read_bytes", Unit::Bytes, "Bytes that buffered reads returned"),
    exported("read_pages", "read_pages", Unit::Pages, "Pages that buffered reads asked for"),
    exported(
        "read_misses",
        "read_missed_pages",
        Unit::Pages,
        "Pages that buffered reads asked for and that were not in the page cache",
    ),
    exported(
        "readahead_hits",
        "read_readahead_hit_pages",
        Unit::Pages,
        "Pages that buffered reads found in the page cache only because the kernel had read ahead",
    ),
    exported("write_calls", "write_calls", Unit::Count, "Buffered write calls"),
    exported("write_bytes", "write_bytes", Unit::Bytes, "Bytes that buffered writes accepted"),
    exported("write_pages", "write_pages", Unit::Pages, "Pages that buffered writes wrote to"),
    exported(
        "new_pages",
        "write_new_pages",
        Unit::Pages,
        "Pages that buffered writes created in the page cache",
    ),
    exported(
        "write_misses",
        "write_missed_pages",
        Unit::Pages,
        "Pages that had to be read because a buffered write changed only a part of them",
    ),
    exported(
        "dirtied_pages",
        "dirtied_pages",
        Unit::Pages,
        "Pages that turned from clean to dirty",
    ),
    exported(
        "direct_read_calls",
        "direct_read_calls",
        Unit::Count,
        "Read calls that bypassed the page cache",
    ),
    exported(
        "direct_read_bytes",
        "direct_read_bytes",
        Unit::Bytes,
        "Bytes that direct reads returned",
    ),
    exported(
        "direct_write_calls",
        "direct_write_calls",
        Unit::Count,
        "Write calls that bypassed the page cache",
    ),
    exported(
        "direct_write_bytes",
        "direct_write_bytes",
        Unit::Bytes,
        "Bytes that direct writes accepted",
    ),
    exported("faults", "mapped_faults", Unit::Count, "Page faults on file mappings"),
    exported(
        "major_faults",
        "mapped_major_faults",
        Unit::Count,
        "Page faults on file mappings that had to read",
    ),
    exported(
        "fault_pages",
        "mapped_fault_read_pages",
        Unit::Pages,
        "Pages that faults on file mappings brought in",
    ),
    exported("readahead_pages", "readahead_pages", Unit::Pages, "Pages that were read ahead"),
    exported("sync_calls", "sync_calls", Unit::Count, "Calls of fsync and its kin"),
    exported(
        "device_read_bytes",
        "device_read_bytes",
        Unit::Bytes,
        "Bytes that the block layer was asked to read",
    ),
    exported(
        "device_write_bytes",
        "device_written_bytes",
        Unit::Bytes,
        "Bytes that the block layer was asked to write",
    ),
    exported(
        "read_hit_ns",
        "read_hit_seconds",
        Unit::Seconds,
        "Time in buffered reads that found every page in the page cache",
    ),
    exported(
        "read_wait_ns",
        "read_wait_seconds",
        Unit::Seconds,
        "Time in buffered reads that missed, or waited for pages that were being read",
    ),
    exported("write_ns", "write_seconds", Unit::Seconds, "Time in buffered writes"),
    exported("direct_ns", "direct_seconds", Unit::Seconds, "Time in direct reads and writes"),
    exported("sync_ns", "sync_seconds", Unit::Seconds, "Time in fsync and its kin"),
];

/// What the rest is labelled.
const OTHER: &str = "other";

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
    let groups = rows(&counted.cgroups, "cgroup", |path| {
        let known = (measured.group)(path);
        Labels::from([
            ("cgroup", path.to_string()),
            ("container", known.container.unwrap_or_default()),
            ("pod", known.pod.unwrap_or_default()),
        ])
    });
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
        .map(|one| Row { labels: labels(&one.key), since: Some(one.since), io: one.io })
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
    let values: Vec<_> = rows.iter().map(|row| row.io.values()).collect();
    for (at, one) in EXPORTED.iter().enumerate() {
        if measured.absent.contains(&one.field) {
            continue;
        }
        let (name, help) = (format!("{prefix}{}", one.name), format!("{}, {of}", one.help));
        let mut family = Family::new(name, Kind::Counter, one.unit, &help);
        family.points = (rows.iter().zip(&values))
            .map(|(row, values)| {
                let number = values[at];
                let value = match one.unit {
                    Unit::Seconds => Value::Nanos(number),
                    _ => Value::Whole(number),
                };
                Point { labels: row.labels.clone(), since: row.since, value }
            })
            .collect();
        families.push(family);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_its_name_and_its_unit() {
        for (one, field) in EXPORTED.iter().zip(LiveIo::NAMES) {
            assert_eq!(one.field, *field);
            assert_eq!(one.field.ends_with("_ns"), one.unit == Unit::Seconds, "{field}");
            let last = one.name.rsplit('_').next();
            assert_eq!(
                one.unit.as_str(),
                last.filter(|last| ["bytes", "pages", "seconds"].contains(last)),
                "{field}"
            );
        }
    }
}
