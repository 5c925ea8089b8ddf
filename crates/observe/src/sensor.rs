//! The sensor's own account: its losses, and what this kernel kept from it.

use hotset_facts::{Feature, NotMeasured, Sensor, SensorLevel, SensorLosses};

use crate::collector::Collector;
use crate::record::Globals;
use crate::select::{Build, Selection};

/// Describes the sensor of a finished session.
pub(crate) fn describe(
    selection: &Selection,
    globals: &Globals,
    skipped: u64,
    limited: Option<&NotMeasured>,
    collector: &Collector,
) -> Sensor {
    let complete = selection.missing.is_empty();
    Sensor {
        name: match selection.build {
            Build::Full => "bpf",
            Build::Compat => "bpf-compat",
        },
        level: if complete { SensorLevel::Full } else { SensorLevel::Reduced },
        losses: SensorLosses {
            events: globals.events_lost + collector.lost,
            unattributed: globals.rows_lost + globals.processes_lost,
            origins: globals.chunks_lost,
            tasks: globals.tasks_lost,
            requests: globals.requests_lost,
            skipped_programs: skipped,
        },
        not_measured: not_measured(selection, globals, limited),
    }
}

/// Of reads and writes of files beyond the table, whether they went on where the one before ended.
pub(crate) fn unordered(calls: u64) -> Option<NotMeasured> {
    let reason = || format!("{calls} calls on files beyond the table of rows (--max-rows)");
    (calls > 0).then(|| NotMeasured { feature: Feature::CallOrder, reason: reason() })
}

/// What this kernel does not let the sensor count, what it could not decode, and what its own memory disturbs.
pub(crate) fn not_measured(
    selection: &Selection,
    globals: &Globals,
    limited: Option<&NotMeasured>,
) -> Vec<NotMeasured> {
    let lacking = selection.missing.iter().copied().map(NotMeasured::lacking);
    let met = [
        (
            Feature::CompatCalls,
            globals.compat_calls,
            "calls of the i386 and x32 ABIs were not decoded",
        ),
        (
            Feature::SharedCopies,
            globals.shared_copies,
            "calls on a file system that can share blocks: they may have copied nothing",
        ),
        (
            Feature::DelayedReads,
            globals.delayed_reads,
            "reads were held back by the kernel, as a control group's limit has it do: whose they are is not known",
        ),
        (Feature::IoUring, globals.uring_unknown, "requests whose file could not be found"),
        (
            Feature::Subvolumes,
            globals.subvolumes_unknown.min(1),
            "or more files with one number in several subvolumes of btrfs may be one row: its types are not known, or it was loaded after the sensor",
        ),
        (
            Feature::MarksAtOnce,
            globals.marks_raced,
            "times two CPUs marked the same pages at once, which this kernel (before Linux 5.12) can lose",
        ),
        (
            Feature::IoUring,
            globals.uring_silent,
            "requests leave no completion where they succeed (IOSQE_CQE_SKIP_SUCCESS)",
        ),
        (Feature::IoUring, globals.uring_paths, "lookups failed whose path is not known"),
        (
            Feature::LinuxAio,
            globals.aio_pending.wrapping_add(globals.aio_unseen),
            "requests whose result was not seen: under way at the end, never taken, or not followed before Linux 6.2",
        ),
    ];
    let met = met.into_iter().filter(|(_, times, _)| *times > 0);
    lacking
        .chain(met.map(|(feature, times, what)| NotMeasured {
            feature,
            reason: format!("{times} {what}"),
        }))
        .chain(limited.cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection() -> Selection {
        Selection {
            build: Build::Full,
            atomics: true,
            programs: vec![],
            again: vec![],
            preemptible: false,
            mappings: false,
            missing: vec![],
        }
    }

    fn globals() -> Globals {
        crate::record::read(&[0; size_of::<Globals>()]).unwrap()
    }

    #[test]
    fn a_full_sensor_has_nothing_to_say() {
        let sensor = describe(&selection(), &globals(), 0, None, &Collector::default());
        assert_eq!(sensor.level, SensorLevel::Full);
        assert!(sensor.not_measured.is_empty());
    }

    #[test]
    fn losses_add_up_and_gaps_are_named() {
        let globals = Globals {
            rows_lost: 3,
            chunks_lost: 4,
            events_lost: 5,
            compat_calls: 6,
            marks_raced: 7,
            ..globals()
        };
        let selection = Selection { missing: vec![Feature::FileFaults], ..selection() };
        let limited = NotMeasured::lacking(Feature::FreeTables);
        let sensor = describe(&selection, &globals, 0, Some(&limited), &Collector::default());
        let wanted =
            SensorLosses { events: 5, unattributed: 3, origins: 4, ..SensorLosses::default() };
        assert_eq!((sensor.losses, sensor.losses.of_counts()), (wanted, 7));
        assert_eq!(sensor.level, SensorLevel::Reduced);
        assert!(sensor.not_measured.iter().any(|gap| gap.feature == Feature::FileFaults));
        let said = |what: &str| sensor.not_measured.iter().any(|gap| gap.reason.contains(what));
        assert!(said("6 calls of the i386") && said("7 times two CPUs marked the same pages"));
        assert!(sensor.not_measured.contains(&limited));
    }
}
