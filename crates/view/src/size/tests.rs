//! What a need looks like on a terminal.

use std::path::Path;

use hotset_analysis::size::{
    Access, KernelVersion, Must, PolicyKind, Recommended, Sampled, Seen, SizeHost, SizeLimit,
    SizeSummary, TooLittle, VerifiedLimit, of_lru, predictor,
};
use hotset_facts::trace::{Reclaim, TraceHead, TraceMemory};

use super::*;
use hotset_facts::{ExitStatus, Io, LimitedRun, Observed, Reason, Target};

use crate::replay::tests::telling_head;
use crate::report::Options;
use crate::wire::schema_tests::refused;
use crate::wire::size_json;

const MIB: u64 = 1 << 20;
const MUST: Must = Must {
    anon_bytes: 96 * MIB,
    shmem_bytes: MIB,
    page_tables_bytes: MIB / 2,
    code_bytes: 4 * MIB,
    index_bytes: 190_000,
};

pub(super) fn limit(cache_mib: u64, hits: u64, misses: u64, refaults: u64) -> SizeLimit {
    let waited_ns = misses * 50_000;
    SizeLimit {
        limit_bytes: Some((cache_mib + 110) * MIB),
        cache_bytes: cache_mib * MIB,
        hits,
        misses,
        filled: 10,
        beside_pages: 256,
        refaults,
        lacks_code: false,
        written_pages: 0,
        hit_ratio: hits as f64 / (hits + misses) as f64,
        hit_ratio_range: (0.0, 1.0),
        run_ns: Some(2_000_000_000 + waited_ns),
        waited_ns: Some(waited_ns),
        device_read_bytes_per_s: Some(misses as f64 * 4096.0 / 2.5),
    }
}

pub(super) fn summary() -> SizeSummary {
    let host = SizeHost { kernel: KernelVersion::new(6, 12), multi_gen_lru: true };
    let limits = vec![
        limit(10, 100_000, 100_000, 80_000),
        limit(40, 150_000, 50_000, 30_000),
        limit(80, 180_000, 20_000, 0),
    ];
    SizeSummary {
        seen: Seen {
            read_pages: 190_000,
            written_pages: 10_000,
            faults: 120,
            files: 12,
            threads: 4,
            lost: 3,
            direct_bytes: 100 * MIB,
            span_ns: 12_300_000_000,
            ..Seen::default()
        },
        distinct_pages: 20_000,
        host: Some(host),
        prediction: Some(predictor(host.kernel, host.multi_gen_lru, &[])),
        policy: PolicyKind::Mglru,
        miss_ns: Some(50_000.0),
        must: Some(MUST),
        killed_below_bytes: None,
        sampled: None,
        too_little: None,
        limits,
        asked_cache_bytes: Vec::new(),
        enough: Some(limit(70, 179_000, 21_000, 1_000)),
        thrash: Some(limit(20, 110_000, 90_000, 70_000)),
        request: Some(Recommended {
            bytes: 112 * MIB,
            must_bytes: MUST.bytes(),
            cache_bytes: 0,
            margin_bytes: 10 * MIB,
        }),
        limit: Some(Recommended {
            bytes: 182 * MIB,
            must_bytes: MUST.bytes(),
            cache_bytes: 70 * MIB,
            margin_bytes: 10 * MIB,
        }),
        verified: Vec::new(),
    }
}

pub(super) fn text(head: &TraceHead, summary: &SizeSummary) -> String {
    let sized = SizedTrace { path: Some(Path::new("app.parquet")), head, summary };
    render_size(&sized, &Options::default())
}

pub(super) fn full() -> TraceHead {
    let memory = TraceMemory { longest_gap_ns: 2_500_000_000, ..TraceMemory::default() };
    let reclaim = Reclaim { multi_gen_lru: true, swap_bytes: MIB };
    TraceHead { memory: Some(memory), reclaim: Some(reclaim), ..telling_head(Target::Command) }
}

/// A need whose prediction was compared with real kernels.
pub(super) fn compared() -> SizeSummary {
    let host = SizeHost { kernel: KernelVersion::new(6, 12), multi_gen_lru: true };
    let prediction = predictor(host.kernel, host.multi_gen_lru, &[Access::Read, Access::Mapped]);
    SizeSummary { prediction: Some(prediction), ..summary() }
}

/// Needs of what can be recorded, with all that can be said of them.
pub(crate) fn documents() -> [Vec<u8>; 3] {
    let verified = vec![verified(compared().limits[1], 210, ExitStatus::Code(0))];
    let summary = SizeSummary { verified, ..compared() };
    let group = Target::Cgroup { path: "/a.slice".into() };
    let needs =
        [(Target::Command, &summary), (Target::Pid { pid: 7 }, &watched()), (group, &summary)];
    needs.map(|(target, summary)| {
        let mut head = telling_head(target);
        let host = head.environment.iter_mut().flat_map(|host| &mut host.filesystems);
        let unknown = Observed::Missing(Reason::denied("/sys/block"));
        host.for_each(|one| one.read_ahead_kb = unknown);
        size_json(&SizedTrace { path: Some(Path::new("a.parquet")), head: &head, summary })
    })
}

#[test]
fn the_terminal_says_it_like_this() {
    insta::assert_snapshot!("all", text(&full(), &summary()));
    let widest = text(&full(), &summary()).lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
}

#[test]
fn json_is_as_its_schema_says() -> Result<(), Box<dyn std::error::Error>> {
    let summary = summary();
    let head = full();
    let sized = SizedTrace { path: Some(Path::new("app.parquet")), head: &head, summary: &summary };
    let json = size_json(&sized);
    assert_eq!(refused("hotset.size/1", &json)?, [""; 0]);
    let json: serde_json::Value = serde_json::from_slice(&json)?;
    assert_eq!((&json["policy"], &json["kernel"]), (&"mglru".into(), &"6.12".into()));
    assert_eq!(json["limits"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["limit"]["bytes"], 182 * MIB);
    assert!(json["error"].is_null() && json["too_little"].is_null());
    Ok(())
}

/// A need of an imported recording: no times, no memory, no kernel.
pub(super) fn unknown() -> SizeSummary {
    let unknown = |limit: SizeLimit| SizeLimit {
        limit_bytes: None,
        run_ns: None,
        waited_ns: None,
        device_read_bytes_per_s: None,
        ..limit
    };
    let some = summary();
    SizeSummary {
        host: None,
        prediction: None,
        policy: PolicyKind::Lru,
        miss_ns: None,
        must: None,
        limits: some.limits.iter().copied().map(unknown).collect(),
        enough: some.enough.map(unknown),
        thrash: None,
        request: None,
        limit: None,
        ..some
    }
}

/// The need of what was watched.
pub(super) fn watched() -> SizeSummary {
    let sampled = Sampled {
        one_in: 8,
        pages: 2_500,
        lost: 7,
        least_cache_bytes: MIB / 2,
        requested_pages: 200_000,
        direct_bytes: 90 * MIB,
        span_ns: 12_300_000_000,
    };
    SizeSummary {
        sampled: Some(sampled),
        seen: sampled.seen(),
        prediction: Some(of_lru(true)),
        ..unknown()
    }
}

#[test]
fn what_was_watched_has_the_limits_of_a_sample() {
    let head = TraceHead { memory: None, ..telling_head(Target::Pid { pid: 7 }) };
    let sized = SizedTrace { path: None, head: &head, summary: &watched() };
    insta::assert_snapshot!("watched", render_size(&sized, &Options::default()));
    let few = SizeSummary {
        too_little: Some(TooLittle::FewSampled),
        limits: Vec::new(),
        enough: None,
        ..watched()
    };
    let said = render_size(&SizedTrace { summary: &few, ..sized }, &Options::default());
    assert!(said.contains("too few were sampled"), "{said}");
}

#[test]
fn what_is_not_known_is_said() {
    let summary = unknown();
    let head = TraceHead { memory: None, reclaim: None, ..telling_head(Target::Command) };
    insta::assert_snapshot!("unknown", text(&head, &summary));
}

#[test]
fn where_no_limit_matters_none_is_shown() {
    for why in [TooLittle::Gaps, TooLittle::NoReferences, TooLittle::OnePass, TooLittle::FewPages] {
        let summary = SizeSummary {
            too_little: Some(why),
            limits: Vec::new(),
            enough: None,
            thrash: None,
            limit: None,
            ..summary()
        };
        let said = text(&full(), &summary);
        assert!(!said.contains("thrashes") && !said.contains("Limit "), "{said}");
        assert!(said.contains("Request 112 MiB"), "{said}");
    }
}

pub(super) fn verified(limit: SizeLimit, read_mib: u64, exit: ExitStatus) -> VerifiedLimit {
    let mut totals = Io::zero();
    totals.device.read_bytes = Observed::Value(read_mib * MIB);
    if let Observed::Value(read) = &mut totals.read {
        (read.pages, read.misses) = (200_000, read_mib * 256);
        read.size_histogram.0[4] = 1;
    }
    let run = LimitedRun {
        limit_bytes: limit.limit_bytes.unwrap_or(0),
        exit,
        killed: 0,
        wall_ns: 2_400_000_000,
        totals,
        refault_pages: Some(limit.refaults),
        peak_bytes: None,
        stuck_pages: 1_000,
        unknown_files: 0,
        lost: 0,
    };
    VerifiedLimit { predicted: limit, run }
}

#[test]
fn runs_stand_beside_what_was_predicted_for_them() {
    let limits = summary().limits;
    let mut killed = verified(limits[0], 100, ExitStatus::Signal(9));
    killed.run.killed = 1;
    let runs = vec![
        verified(limits[2], 80, ExitStatus::Code(0)),
        verified(limits[1], 210, ExitStatus::Code(3)),
        killed,
    ];
    let summary = SizeSummary { verified: runs, ..summary() };
    let said = text(&full(), &summary);
    let from = said.find("Verified").expect("a table");
    let to = said.find("Recommended").expect("what is recommended");
    insta::assert_snapshot!("verified", &said[from..to]);
    let head = full();
    let sized = SizedTrace { path: None, head: &head, summary: &summary };
    let json = size_json(&sized);
    assert_eq!(refused("hotset.size/1", &json).expect("a schema"), [""; 0]);
}

#[test]
fn rows_that_say_the_same_are_shown_at_both_ends() {
    let mut limits: Vec<SizeLimit> = (1..=5).map(|mib| limit(mib, 100_000, 100_000, 0)).collect();
    limits.extend((8..=11).map(|mib| limit(mib * 10, 180_000, 20_000, 0)));
    let plateaus = SizeSummary { limits, thrash: None, ..summary() };
    let rows = |summary: &SizeSummary| -> Vec<String> {
        let said = text(&full(), summary);
        let rows = said.lines().skip_while(|line| !line.starts_with("Memory limit")).skip(1);
        let rows = rows.take_while(|line| !line.contains("predicted"));
        rows.map(|line| line.split_whitespace().nth(2).unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(rows(&plateaus), ["1.00", "5.00", "70.0", "80.0", "110"]);
    let asked = SizeSummary { asked_cache_bytes: vec![3 * MIB], ..plateaus };
    assert_eq!(rows(&asked), ["1.00", "3.00", "5.00", "70.0", "80.0", "110"]);
    // Not so many limits are left out in a file for a spreadsheet.
    assert_eq!(size_csv(&asked).iter().filter(|&&byte| byte == b'\n').count(), 11);
}
