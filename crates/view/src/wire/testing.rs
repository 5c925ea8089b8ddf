//! Documents of every format, for tests that hold for all of them.

use std::sync::LazyLock;

use hotset_analysis::bench::summarise_bench;
use hotset_facts::{
    ControlVerb, ExitStatus, LiveLosses, NamedFew, Observed, RestoreReport, RestoreStop,
    SaveReport, StopReason, Target, Unreadable,
};

use super::{Document, ReadError, documents};
use crate::bench::testing::versus;
use crate::testing::{summary, three_files, unprivileged, with_sites};
use crate::tui::testing::{Known, gaps, interval};

/// A document, and what reads it.
pub(crate) struct Sample {
    /// Its format; a recording has two kinds of lines.
    pub(crate) format: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) read: fn(&[u8]) -> Result<(), String>,
}

/// Of each format, what has every key that its schema knows: an entry in each list, and each kind that there is.
pub(crate) static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let mut all = vec![lab(), lab_baseline(), listing(), doctor(), save()];
    all.extend([
        profile(three_files()),
        profile(with_sites()),
        profile(attached(Target::Pid { pid: 7 })),
    ]);
    all.push(profile(attached(Target::Cgroup { path: "/a.slice".into() })));
    let (exit, output_tail) = (ExitStatus::Code(3), b"no\n".to_vec());
    let failed = StopReason::Failed { condition: 0, exit, output_tail };
    let around = StopReason::Error { message: "the --prepare command failed".to_owned() };
    all.extend([profile(unprivileged()), bench(versus(), failed), bench(versus(), around)]);
    all.extend(crate::system::tests::documents().map(|bytes| Sample {
        format: super::system::SCHEMA,
        bytes,
        read: |bytes| first(bytes, super::read_system),
    }));
    all.push(baseline());
    all.extend(control());
    all.extend(crate::live::stat::tests::documents().map(|bytes| Sample {
        format: super::stat::SCHEMA,
        bytes,
        read: |bytes| first(bytes, super::read_stat),
    }));
    all.extend(restore());
    all.extend(recording());
    all.extend(replays());
    all.extend(explanations());
    all.extend(sizes());
    all.extend(differences());
    all.extend(fleets());
    all
});

/// Reads the only document in these bytes.
fn first<T>(bytes: &[u8], read: fn(&Document<'_>) -> Result<T, ReadError>) -> Result<(), String> {
    let documents = documents(bytes).map_err(|error| error.to_string())?;
    documents
        .iter()
        .try_for_each(|document| read(document).map(drop).map_err(|error| error.to_string()))
}

/// Writing to memory does not fail.
fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = write(&mut bytes);
    bytes
}

fn lab() -> Sample {
    let mut session = crate::lab::testing::access();
    // Two states of one way at one size.
    session.cells.truncate(2);
    let mut result = crate::lab::testing::present(session);
    result.summary.baseline = crate::lab::testing::beside_baseline().summary.baseline;
    let results = [result];
    Sample {
        format: super::lab::SCHEMA,
        bytes: written(|out| super::write_lab_json(&results, out)),
        read: |bytes| first(bytes, super::read_lab),
    }
}

fn lab_baseline() -> Sample {
    let mut baseline = crate::lab::testing::saved(1);
    for session in &mut baseline.sessions {
        // One whose samples lack nothing.
        session.cells.truncate(1);
    }
    Sample {
        format: super::lab_baseline::SCHEMA,
        bytes: super::lab_baseline_json(&baseline),
        read: |bytes| first(bytes, super::read_lab_baseline),
    }
}

fn bench(mut session: hotset_facts::BenchSession, stop: StopReason) -> Sample {
    // Six rounds: fewer have no interval.
    session.runs.truncate(6 * session.conditions.len());
    for run in &mut session.runs {
        run.inputs_changed.push(0);
    }
    for set in &mut session.sets {
        let unreadable = Unreadable { path: "/root/x".into(), reason: "Permission denied".into() };
        set.unreadable.push(unreadable);
    }
    session.stop = stop;
    let mut summary = summarise_bench(session);
    summary.baseline = crate::bench::testing::beside_baseline().baseline;
    Sample {
        format: super::bench::SCHEMA,
        bytes: written(|out| super::write_bench_json(&summary, out)),
        read: |bytes| first(bytes, super::read_bench),
    }
}

fn baseline() -> Sample {
    let mut baseline = crate::bench::testing::saved(1);
    for session in &mut baseline.sessions {
        for one in &mut session.conditions {
            one.samples.truncate(1);
        }
    }
    Sample {
        format: super::baseline::SCHEMA,
        bytes: super::baseline_json(&baseline),
        read: |bytes| first(bytes, super::read_baseline),
    }
}

fn attached(target: Target) -> hotset_facts::Profile {
    let mut profile = three_files();
    profile.command.target = target;
    profile.files.clear();
    profile.processes.clear();
    profile
}

fn profile(profile: hotset_facts::Profile) -> Sample {
    Sample {
        format: super::profile::SCHEMA,
        bytes: written(|out| super::write_profile_json(&summary(profile), out)),
        read: |bytes| first(bytes, super::read_profile),
    }
}

fn listing() -> Sample {
    Sample {
        format: super::residency::SCHEMA,
        bytes: crate::listing::tests::json(),
        read: |bytes| first(bytes, super::read_listing),
    }
}

fn doctor() -> Sample {
    Sample {
        format: super::doctor::SCHEMA,
        bytes: super::doctor_json(&crate::doctor::tests::support()),
        read: |bytes| first(bytes, super::read_doctor),
    }
}

fn control() -> impl Iterator<Item = Sample> {
    [ControlVerb::Warm, ControlVerb::Evict, ControlVerb::Pin].into_iter().map(|verb| Sample {
        format: super::control::SCHEMA,
        bytes: super::control_json(&crate::control::tests::short_of(verb), 4096),
        read: |bytes| first(bytes, super::read_control),
    })
}

fn few() -> NamedFew {
    let mut few = NamedFew::default();
    few.add("/gone", "No such file");
    few
}

fn save() -> Sample {
    let report = SaveReport { files: 3, page_bytes: 4096, refused: few(), ..Default::default() };
    Sample {
        format: super::save::SAVE,
        bytes: super::save_json(&report),
        read: |bytes| first(bytes, super::read_save),
    }
}

fn restore() -> impl Iterator<Item = Sample> {
    let memory = RestoreStop::Memory { room_bytes: 7, group: Some("/g".into()) };
    let stops = [memory, RestoreStop::Interrupted].map(Some).into_iter();
    stops.chain([None]).map(|stopped| {
        let report = RestoreReport {
            stopped,
            changed: few(),
            vanished: few(),
            refused: few(),
            ..RestoreReport::default()
        };
        Sample {
            format: super::save::RESTORE,
            bytes: super::restore_json(&report),
            read: |bytes| first(bytes, super::read_restore),
        }
    })
}

/// What a recording by `top` says of itself, on a kernel that lacks what [`gaps`] lists.
pub(crate) fn recording_header() -> super::top::Header {
    super::top::Header {
        hotset: "0.1.0".into(),
        host: "db-7".into(),
        interval_ns: 1_000_000_000,
        scope: Some("process 12".into()),
        not_measured: gaps(),
    }
}

fn recording() -> [Sample; 2] {
    let mut one = interval(1);
    one.losses = LiveLosses { tasks: 3, ..LiveLosses::default() };
    one.host.refaulted_pages = Observed::Value(9);
    let frame = hotset_analysis::top::TopFrame::of(one, &mut Known);
    [
        Sample {
            format: super::top::SCHEMA,
            bytes: super::top::header_line(&recording_header()),
            read: |bytes| super::top::read_header(bytes).map(drop),
        },
        Sample {
            format: super::top::SCHEMA,
            bytes: super::top::interval_line(&frame),
            read: |bytes| super::top::read_interval(bytes).map(drop),
        },
    ]
}

/// Replays of a change with all that can be said of them.
fn replays() -> [Sample; 3] {
    let of = |target| hotset_facts::replay::ReplaySession {
        head: crate::replay::tests::telling_head(target),
        syscall_ns: Observed::Missing(hotset_facts::Reason::denied("perf_event_open")),
        ..crate::replay::tests::changed()
    };
    let one = of(Target::Pid { pid: 7 });
    let group = of(Target::Cgroup { path: "/a.slice".into() });
    [crate::replay::tests::doubtful(), one, group].map(|session| Sample {
        format: super::replay::SCHEMA,
        bytes: super::replay_json(&hotset_analysis::replay::summarise_replay(session)),
        read: |bytes| first(bytes, super::read_replay),
    })
}

fn explanations() -> impl Iterator<Item = Sample> {
    crate::explain::tests::documents().into_iter().map(|bytes| Sample {
        format: super::explanation::SCHEMA,
        bytes,
        read: |bytes| first(bytes, super::read_explanation),
    })
}

fn sizes() -> impl Iterator<Item = Sample> {
    crate::size::tests::documents().into_iter().map(|bytes| Sample {
        format: super::size::SCHEMA,
        bytes,
        read: |bytes| first(bytes, super::read_size),
    })
}

fn fleets() -> impl Iterator<Item = Sample> {
    crate::fleet::tests::documents_of_fleets().into_iter().map(|bytes| Sample {
        format: super::fleet::SCHEMA,
        bytes,
        read: |bytes| first(bytes, super::read_fleet),
    })
}

fn differences() -> impl Iterator<Item = Sample> {
    crate::diff::tests::documents().into_iter().map(|bytes| Sample {
        format: super::diff::SCHEMA,
        bytes,
        read: |bytes| first(bytes, super::read_diff),
    })
}
