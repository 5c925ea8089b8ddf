//! Samples at the rate of the sensor against exact counts, over the sequences that real kernels were asked for.

use hotset_sizing::distance::DenseStack;
use hotset_sizing::sample::{
    DEFAULT_EXPONENT, FileIdentity, Sampler, hash, is_sampled, limit_grid,
};
use hotset_sizing_runs::sequences;

/// As many pages as the sample of a control group has.
const GROUP_PAGES: u32 = 7_450;
/// Limits below so many sampled pages are not compared: they can't be told apart.
const FEWEST: u64 = 16;

/// Mean absolute difference of the hit ratio from the exact one over the grid, of a sample that the sensor would send.
fn error(pages: &[u32], file: u64, exponent: u32) -> f64 {
    let highest = pages.iter().copied().max().unwrap_or(0);
    let limits = limit_grid(u64::from(highest) + 1);
    let mut sampler = Sampler::of_sample(exponent, GROUP_PAGES, &limits);
    let hashes = pages.iter().map(|&page| hash(FileIdentity::new(1, file, 0), page.into()));
    hashes.filter(|&hash| is_sampled(hash, exponent)).for_each(|hash| sampler.touch_sampled(hash));
    sampler.count(pages.len() as u64);
    let curve = sampler.take();
    let mut stack = DenseStack::new(highest + 1);
    stack.touch_all(pages);
    let exact = stack.into_distances().hits_at(curve.limits());
    let pairs = curve.limits().iter().zip(exact.into_iter().zip(curve.hits()));
    let compared = pairs.filter(|(limit, _)| **limit >= FEWEST << exponent);
    let errors: Vec<f64> = compared
        .map(|(_, (exact, found))| exact.abs_diff(found) as f64 / pages.len() as f64)
        .collect();
    errors.iter().sum::<f64>() / errors.len() as f64
}

/// What was found, of one in 2^7 pages and of one in 2^4, rounded up: least recently used pages of a loop are told exactly, while of pages that
/// are used at random those that are used most are in the sample or not.
const FOUND: [(&str, [f64; 2]); 9] = [
    ("zipf08", [0.020, 0.018]),
    ("zipf10", [0.024, 0.012]),
    ("uniform", [0.014, 0.007]),
    ("loop", [0.001, 0.001]),
    ("hot", [0.010, 0.005]),
    ("zipfscan", [0.030, 0.012]),
    ("burstscan", [0.011, 0.011]),
    ("shift", [0.013, 0.008]),
    ("twoloops", [0.001, 0.001]),
];

#[test]
fn errors_are_those_that_are_known() {
    let all = sequences::of_pages();
    for (name, most) in FOUND {
        let (_, pages) = all.iter().find(|(one, _)| *one == name).expect(name);
        for (exponent, most) in [DEFAULT_EXPONENT, 4].into_iter().zip(most) {
            let errors = (0..4_u64).map(|file| error(pages, file, exponent));
            let mean = errors.sum::<f64>() / 4.0;
            assert!(mean <= most, "{name} at 2^-{exponent}: {mean:.4}");
        }
    }
}
