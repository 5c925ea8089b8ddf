//! Predictions against what real kernels did.

mod common;

use common::sequences::{checksum, of_chunks, of_pages};
use common::{compare, show};
use hotset_sizing::PolicyKind;
use hotset_sizing::evidence::{Access, KernelVersion, of_lru, predictor};

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

/// The errors of a policy's runs with this kind of access, in points of hit ratio.
fn errors_of(policy: &str, access: &str, predictor: PolicyKind) -> Vec<f64> {
    let sequences = if access == "read-128k" { of_chunks() } else { of_pages() };
    let compared = compare(&sequences, policy, access, predictor);
    show(&format!("{policy}, {access}, {predictor:?}"), &compared);
    compared.iter().map(|one| one.error).collect()
}

fn mean_and_worst(errors: &[f64]) -> (f64, f64) {
    let mean = errors.iter().sum::<f64>() / errors.len() as f64;
    (mean, errors.iter().copied().fold(0.0, f64::max))
}

/// Predicts all runs as `evidence` says, and compares the errors with those that it names.
#[track_caller]
fn assert_evidence(mglru: bool, access: Access, names: &[&str]) {
    let prediction = predictor(KernelVersion::new(6, 12), mglru, &[access]);
    let policy = if mglru { "mglru" } else { "classic" };
    let errors: Vec<f64> =
        names.iter().flat_map(|name| errors_of(policy, name, prediction.policy)).collect();
    let (mean, worst) = mean_and_worst(&errors);
    let is_close =
        |said: Option<f64>, found: f64| said.is_some_and(|said| (said - found).abs() < 0.006);
    assert!(is_close(prediction.mean_error, mean), "{access:?}: mean {mean:.3}, {prediction:?}");
    assert!(
        is_close(prediction.worst_error, worst),
        "{access:?}: worst {worst:.3}, {prediction:?}"
    );
    assert_eq!(prediction.runs as usize, errors.len());
}

#[test]
fn reads_with_mglru() {
    assert_evidence(true, Access::Read, &["read", "read-128k"]);
}

#[test]
fn reads_with_the_classic_lists() {
    assert_evidence(false, Access::Read, &["read", "read-128k"]);
    // Were the sizes fresh, they would be predicted worse: that they are old is no guess.
    let (mean, _) = mean_and_worst(&errors_of("classic", "read", PolicyKind::Classic));
    assert!(mean > 0.5, "{mean}");
}

#[test]
fn what_is_mapped() {
    assert_evidence(false, Access::Mapped, &["mapped"]);
    assert_evidence(true, Access::Mapped, &["mapped"]);
}

#[test]
fn what_is_mapped_for_random_use() {
    assert_evidence(false, Access::MappedRandom, &["mapped-random"]);
    assert_evidence(true, Access::MappedRandom, &["mapped-random"]);
    // No use counts, so that both policies nearly evict what came first.
    for (policy, most) in [("classic", 0.33), ("mglru", 0.25)] {
        let (mean, worst) = mean_and_worst(&errors_of(policy, "mapped-random", PolicyKind::Fifo));
        assert!(mean < most && worst < 2.1, "{policy}: {mean:.3}, {worst:.2}");
    }
}

/// What `evidence` says of least recently used.
#[test]
fn least_recently_used_has_the_errors_that_are_told() {
    for (mglru, policy) in [(false, "classic"), (true, "mglru")] {
        let errors: Vec<f64> = ["read", "read-128k"]
            .iter()
            .flat_map(|access| errors_of(policy, access, PolicyKind::Lru))
            .collect();
        let (mean, worst) = mean_and_worst(&errors);
        let said = of_lru(mglru);
        let is_close =
            |said: Option<f64>, found: f64| said.is_some_and(|said| (said - found).abs() < 0.006);
        assert!(is_close(said.mean_error, mean), "{policy}: mean {mean:.3}, {said:?}");
        assert!(is_close(said.worst_error, worst), "{policy}: worst {worst:.3}, {said:?}");
        assert_eq!(said.runs as usize, errors.len());
    }
}

#[test]
fn least_recently_used_is_no_kernels_policy() {
    for (policy, access) in [("classic", "read"), ("mglru", "read"), ("mglru", "mapped")] {
        let (mean, worst) = mean_and_worst(&errors_of(policy, access, PolicyKind::Lru));
        assert!(mean > 1.2 && worst > 7.0, "{policy}, {access}: {mean:.2}, {worst:.2}");
    }
}
