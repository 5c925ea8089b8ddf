//! The sensor's own account: its losses, and what this kernel kept from it.

use hotset_facts::{NotMeasured, Sensor, SensorLevel};

use crate::collector::Collector;
use crate::record::Globals;
use crate::select::{Build, Selection};

/// Describes the sensor of a finished session.
pub(crate) fn describe(
    selection: &Selection,
    globals: &Globals,
    skipped: u64,
    collector: &Collector,
) -> Sensor {
    let complete = selection.faults && selection.uring && selection.dirty && selection.block;
    Sensor {
        name: match selection.build {
            Build::Full => "bpf",
            Build::Compat => "bpf-compat",
        },
        level: if complete { SensorLevel::Full } else { SensorLevel::Reduced },
        events_lost: globals.events_lost + collector.lost,
        entries_lost: skipped
            + globals.rows_lost
            + globals.processes_lost
            + globals.chunks_lost
            + globals.tasks_lost
            + globals.requests_lost,
        not_measured: not_measured(selection, globals),
    }
}

/// What this kernel does not let the sensor count, and what it could not decode.
pub(crate) fn not_measured(selection: &Selection, globals: &Globals) -> Vec<NotMeasured> {
    let mut gaps: Vec<(&str, String)> = Vec::new();
    if !selection.faults {
        let reason = "this kernel has no tracepoints for file faults (Linux 6.12), or no software perf events";
        gaps.push(("mmap.faults", reason.into()));
        gaps.push(("mmap.minor_faults", reason.into()));
        gaps.push(("mmap.major_faults", reason.into()));
        gaps.push(("time.fault_ns", reason.into()));
    }
    if !selection.uring {
        gaps.push((
            "io_uring",
            "this kernel's io_uring tracepoints don't carry the request (Linux 6.0)".into(),
        ));
    }
    if !selection.dirty {
        gaps.push((
            "write.dirtied_pages",
            "this kernel has no writeback_dirty_folio tracepoint".into(),
        ));
    }
    if !selection.block {
        gaps.push(("device", "this kernel has no block_bio_queue tracepoint".into()));
    }
    if globals.compat_calls > 0 {
        gaps.push((
            "32-bit system calls",
            format!("{} calls of 32-bit programs were not decoded", globals.compat_calls),
        ));
    }
    if globals.shared_copies > 0 {
        let calls = globals.shared_copies;
        gaps.push((
            "copy_file_range",
            format!(
                "{calls} calls on a file system that can share blocks: they may have copied nothing"
            ),
        ));
    }
    if globals.uring_unknown > 0 {
        gaps.push((
            "io_uring",
            format!("{} requests whose file could not be found", globals.uring_unknown),
        ));
    }
    gaps.into_iter().map(|(what, reason)| NotMeasured { what: what.into(), reason }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection() -> Selection {
        Selection {
            build: Build::Full,
            programs: vec![],
            faults: true,
            uring: true,
            dirty: true,
            block: true,
        }
    }

    fn globals() -> Globals {
        crate::record::read(&[0; size_of::<Globals>()]).unwrap()
    }

    #[test]
    fn a_full_sensor_has_nothing_to_say() {
        let sensor = describe(&selection(), &globals(), 0, &Collector::default());
        assert_eq!(sensor.level, SensorLevel::Full);
        assert!(sensor.not_measured.is_empty());
    }

    #[test]
    fn losses_add_up_and_gaps_are_named() {
        let globals =
            Globals { rows_lost: 3, chunks_lost: 4, events_lost: 5, compat_calls: 6, ..globals() };
        let selection = Selection { faults: false, ..selection() };
        let sensor = describe(&selection, &globals, 0, &Collector::default());
        assert_eq!((sensor.entries_lost, sensor.events_lost), (7, 5));
        assert_eq!(sensor.level, SensorLevel::Reduced);
        assert!(sensor.not_measured.iter().any(|gap| gap.what == "mmap.faults"));
        assert!(sensor.not_measured.iter().any(|gap| gap.reason.contains("6 calls of 32-bit")));
    }
}
