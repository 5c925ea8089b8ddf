//! Predictions against what real kernels did.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use hotset_sizing::PolicyKind;
use hotset_sizing::evidence::{self, KernelVersion, ROWS, Row, of_lru};
use hotset_sizing_runs::runs::{self, Access, Run};
use hotset_sizing_runs::sequences::{checksum, of_chunks, of_pages};
use hotset_sizing_runs::{Errors, compare};

const LINUX_6_12: KernelVersion = KernelVersion::new(6, 12);

/// The kernels whose runs are here.
const RUNS: [(KernelVersion, &str); 3] = [
    (KernelVersion::new(6, 1), include_str!("data/linux-6.1.csv")),
    (LINUX_6_12, include_str!("data/linux-6.12.csv")),
    (KernelVersion::new(6, 18), include_str!("data/linux-6.18.csv")),
];
const DOCUMENT: &str = include_str!("../../../docs/sizing.md");

#[test]
fn the_sequences_are_those_that_were_asked_for() {
    // Of the same sequences by numpy 2.4.6.
    let expected = [
        ("zipf08", 0x000e_8fe0_37a2_b0ab),
        ("zipf10", 0x3d75_4a20_4492_c444),
        ("uniform", 0x5337_e960_ad2b_5420),
        ("loop", 0x0999_8aa7_1bc1_d245),
        ("hot", 0x54d9_959a_dd47_87bc),
        ("zipfscan", 0x9c22_8df1_f928_694e),
        ("burstscan", 0x2185_e589_d56e_8849),
        ("shift", 0x6bd0_826e_b81b_9436),
        ("twoloops", 0x7dc1_b310_63e9_4525),
        ("chunks-zipf", 0xc2f3_5fa5_43de_c918),
        ("chunks-loop", 0xb0c4_ff3a_3eaa_0ecd),
    ];
    let made: Vec<(&str, u64)> = of_pages()
        .iter()
        .chain(&of_chunks())
        .map(|(name, pages)| (*name, checksum(pages)))
        .collect();
    assert_eq!(made, expected);
}

/// A kernel's runs with this kind of access.
fn runs_of(kernel: KernelVersion, mglru: bool, access: &str) -> Vec<Run> {
    let (_, csv) = RUNS.iter().find(|(of, _)| *of == kernel).expect("runs of this kernel");
    let all = runs::parse(csv).expect("rows of runs");
    let is_one = |run: &Run| run.is_mglru == mglru && run.case.access.name() == access;
    all.into_iter().filter(is_one).collect()
}

/// The differences of a kernel's runs from predictions, in points of hit ratio; by another policy than the kernel's if one is named.
#[expect(clippy::print_stdout, reason = "tests print what they measured")]
fn points_of(
    kernel: KernelVersion,
    mglru: bool,
    access: &str,
    policy: Option<PolicyKind>,
) -> Vec<f64> {
    let sequences = [of_pages(), of_chunks()].concat();
    let runs = runs_of(kernel, mglru, access);
    let compared = compare(&sequences, kernel, &runs, policy).expect("known sequences");
    let Errors { runs, mean, worst } = Errors::of(compared.iter().map(|one| one.points));
    let last = compared.iter().max_by(|a, b| a.points.abs().total_cmp(&b.points.abs()));
    let case = last.map(|one| one.run.case);
    println!(
        "{kernel:?}, mglru {mglru}, {access}, {policy:?}: {runs} runs, mean {mean:.3}, worst {worst:.2}: {case:?}"
    );
    compared.iter().map(|one| one.points).collect()
}

fn errors_of(
    kernel: KernelVersion,
    mglru: bool,
    access: &str,
    policy: Option<PolicyKind>,
) -> Errors {
    Errors::of(points_of(kernel, mglru, access, policy))
}

/// What is wrong with a row, by its runs.
fn wrong_about(row: &Row) -> Option<String> {
    let accesses = Access::ALL.into_iter().filter(|access| access.of_evidence() == row.access);
    let points =
        accesses.flat_map(|access| points_of(row.measured_on, row.mglru, access.name(), None));
    let Errors { runs, mean, worst } = Errors::of(points);
    let is_close = |said: f64, found: f64| (said - found).abs() < 0.006;
    let is_right = row.runs as usize == runs
        && is_close(row.mean_error, mean)
        && is_close(row.worst_error, worst);
    (!is_right).then(|| format!("{runs} runs, mean {mean:.3}, worst {worst:.3}: {row:?}"))
}

#[track_caller]
fn assert_evidence(mglru: bool) {
    let rows = ROWS.iter().filter(|row| row.mglru == mglru);
    let wrong: Vec<String> = rows.filter_map(wrong_about).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn evidence_of_the_lists_is_what_their_runs_show() {
    assert_evidence(false);
}

#[test]
fn evidence_of_mglru_is_what_its_runs_show() {
    assert_evidence(true);
}

/// As a row of a table in Markdown.
fn documented(row: &Row) -> String {
    let KernelVersion { major, minor } = row.measured_on;
    let policy = if row.mglru {
        "multi-gen LRU"
    } else if row.from < LINUX_6_12 && row.measured_on < LINUX_6_12 {
        "lists"
    } else {
        "lists with old sizes"
    };
    let access = match row.access {
        evidence::Access::Read => "read calls",
        evidence::Access::Write => "write calls",
        evidence::Access::Mapped => "mapped",
        evidence::Access::MappedRandom => "mapped with MADV_RANDOM",
    };
    let Row { runs, mean_error, worst_error, .. } = row;
    format!("| {major}.{minor}, {policy}, {access} | {runs} | {mean_error:.2} | {worst_error:.2} |")
}

#[test]
fn the_document_has_the_rows_of_evidence() {
    let lacking: Vec<String> =
        ROWS.iter().map(documented).filter(|row| !DOCUMENT.contains(row)).collect();
    assert!(lacking.is_empty(), "docs/sizing.md lacks:\n{}", lacking.join("\n"));
}

#[test]
fn old_sizes_are_no_guess() {
    let fresh = errors_of(LINUX_6_12, false, "read", Some(PolicyKind::Classic));
    assert!(fresh.mean > 0.5, "{fresh:?}");
}

#[test]
fn what_is_mapped_for_random_use_is_evicted_as_it_came() {
    // No use counts, so that both policies nearly evict what came first.
    for mglru in [false, true] {
        let errors = |policy| errors_of(LINUX_6_12, mglru, "mapped-random", Some(policy));
        let (fifo, lru) = (errors(PolicyKind::Fifo), errors(PolicyKind::Lru));
        assert!(fifo.mean < 0.4 && fifo.worst < 2.1, "{mglru}: {fifo:?}");
        assert!(lru.mean > 5.0 * fifo.mean, "{mglru}: {lru:?}");
    }
}

/// What `evidence` says of least recently used.
#[test]
fn least_recently_used_has_the_errors_that_are_told() {
    for mglru in [false, true] {
        let points = ["read", "read-128k"]
            .iter()
            .flat_map(|access| points_of(LINUX_6_12, mglru, access, Some(PolicyKind::Lru)));
        let Errors { runs, mean, worst } = Errors::of(points);
        let said = of_lru(mglru);
        let is_close =
            |said: Option<f64>, found: f64| said.is_some_and(|said| (said - found).abs() < 0.006);
        let is_right = is_close(said.mean_error, mean) && is_close(said.worst_error, worst);
        assert!(is_right, "{mglru}: mean {mean:.3}, worst {worst:.3}, {said:?}");
        assert_eq!(said.runs as usize, runs);
    }
}

#[test]
fn least_recently_used_is_no_kernels_policy() {
    for (mglru, access) in [(false, "read"), (true, "read"), (true, "mapped")] {
        let lru = errors_of(LINUX_6_12, mglru, access, Some(PolicyKind::Lru));
        assert!(lru.mean > 1.2 && lru.worst > 7.0, "{mglru}, {access}: {lru:?}");
    }
}
