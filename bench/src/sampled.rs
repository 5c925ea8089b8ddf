//! How well a sample of the pages says what all of them would: of a recording, against exact counts.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use hotset_facts::trace::{FileIndex, OperationClass, RecordFlags, TraceRecord};
use hotset_sizing::PAGE_BYTES;
use hotset_sizing::distance::{Distances, HashedStack};
use hotset_sizing::sample::{FileIdentity, Sampler, hash, is_sampled, limit_grid};
use hotset_trace::{Columns, Reader};

/// As many pages as the live sample of a control group has at most.
const GROUP_PAGES: u32 = 7_450;
/// Limits of fewer sampled pages can't be told apart.
const FEWEST: u64 = 16;
/// Each with other pages in the sample.
const SAMPLES: u32 = 16;

/// `sampled RECORDING EXPONENT`: of samples of one in 2^EXPONENT pages, each as large as a control group's may be. One line: references,
/// pages, pages in a sample, limits compared, and the difference of the hit ratio from the exact one of least recently used: its mean
/// over limits and samples, the mean of the worst sample, and the worst of all.
pub(crate) fn sampled(path: &Path, exponent: u32) -> Result<String, Box<dyn Error>> {
    let reader = Reader::new(File::open(path)?)?;
    let mut references: Vec<(u32, u64)> = Vec::new();
    for batch in reader.batches(Columns::ALL) {
        batch?.records.iter().for_each(|record| references.extend(pages_of(record)));
    }
    let mut exact = HashedStack::new();
    references.iter().for_each(|&(file, page)| _ = exact.touch(hash(of_file(file, 0), page)));
    let pages = exact.len() as u64;
    let exact = exact.into_distances();
    let found: Vec<Found> =
        (0..SAMPLES).map(|salt| compare(&references, &exact, exponent, salt)).collect();
    let mean = |of: fn(&Found) -> f64| found.iter().map(of).sum::<f64>() / f64::from(SAMPLES);
    let most = |of: fn(&Found) -> f64| found.iter().map(of).fold(0.0, f64::max);
    let limits = found.first().map_or(0, |found| found.limits);
    Ok(format!(
        "{} {pages} {:.0} {limits} {:.4} {:.4} {:.4}",
        references.len(),
        mean(|found| found.pages),
        mean(|found| found.mean),
        most(|found| found.mean),
        most(|found| found.worst)
    ))
}

/// What came of one sample.
struct Found {
    pages: f64,
    limits: usize,
    mean: f64,
    worst: f64,
}

fn of_file(file: u32, salt: u32) -> FileIdentity {
    FileIdentity::new(salt, file.into(), 0)
}

fn compare(references: &[(u32, u64)], exact: &Distances, exponent: u32, salt: u32) -> Found {
    let limits = limit_grid(exact.first_references().max(1));
    let mut sampler = Sampler::of_sample(exponent, GROUP_PAGES, &limits);
    sampler.count(references.len() as u64);
    let hashes = references.iter().map(|&(file, page)| hash(of_file(file, salt), page));
    hashes.filter(|&hash| is_sampled(hash, exponent)).for_each(|hash| sampler.touch_sampled(hash));
    let (least, curve) = (FEWEST << sampler.exponent(), sampler.take());
    let known = exact.hits_at(curve.limits());
    let pairs = curve.limits().iter().zip(known.into_iter().zip(curve.hits()));
    let differences: Vec<f64> = pairs
        .filter(|(limit, _)| **limit >= least)
        .map(|(_, (known, found))| known.abs_diff(found) as f64 / references.len().max(1) as f64)
        .collect();
    let limits = differences.len();
    let mean = differences.iter().sum::<f64>() / limits.max(1) as f64;
    let worst = differences.iter().copied().fold(0.0, f64::max);
    Found { pages: sampler.pages() as f64, limits, mean, worst }
}

/// The pages that a record refers to, as the live sensor counts them.
fn pages_of(record: &TraceRecord) -> impl Iterator<Item = (u32, u64)> {
    let bytes = record.result.and_then(|bytes| u64::try_from(bytes).ok());
    let bytes = match record.class {
        OperationClass::Fault => Some(1),
        OperationClass::Read | OperationClass::Write
            if !record.flags.has(RecordFlags::DIRECT) && bytes > Some(0) =>
        {
            bytes
        }
        _ => None,
    };
    let place = bytes.zip(record.file).zip(record.offset);
    place.into_iter().flat_map(|((bytes, FileIndex(file)), offset)| {
        let last = offset.saturating_add(bytes - 1) / PAGE_BYTES;
        (offset / PAGE_BYTES..=last).map(move |page| (file, page))
    })
}
