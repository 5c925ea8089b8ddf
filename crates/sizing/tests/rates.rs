//! Samples at the rate of the sensor against exact counts, over the sequences that real kernels were asked for.

#[allow(dead_code, unreachable_pub, clippy::expect_used, reason = "helpers of several tests")]
mod common;

use common::sequences;
use hotset_sizing::distance::DenseStack;
use hotset_sizing::sample::{
    DEFAULT_EXPONENT, FileIdentity, Sampler, hash, is_sampled, limit_grid,
};

/// As many pages as the sample of a control group has.
const GROUP_PAGES: u32 = 1_497;
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

#[test]
fn errors_at_the_sensors_rate() {
    let files = 0..16_u64;
    for (name, pages) in sequences::of_pages() {
        for exponent in [DEFAULT_EXPONENT, 4] {
            let mut errors: Vec<f64> =
                files.clone().map(|file| error(&pages, file, exponent)).collect();
            errors.sort_by(f64::total_cmp);
            let mean = errors.iter().sum::<f64>() / errors.len() as f64;
            println!("{name:10} 2^-{exponent}: mean {mean:.4} worst {:.4}", errors[15]);
        }
    }
}
