//! How long a pass over a trace takes: `cargo run --release -p hotset-analysis --features testing --example trace_speed`.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a measurement"
)]

use std::time::Instant;

use hotset_analysis::trace::Tally;
use hotset_analysis::trace::pictures::{PictureSize, Pictures};
use hotset_analysis::trace::testing::batches;
use hotset_facts::trace::{TraceLists, TraceSource};

/// Records of both passes.
const RECORDS: usize = 10_000_000;

fn main() {
    let mut batches = batches(500_000);
    let of_batches: usize = batches.iter().map(|batch| batch.records.len()).sum();
    let repeats = RECORDS.div_ceil(of_batches);
    let mut tally = Tally::new(TraceSource::Recorded);
    let began = Instant::now();
    for repeat in 0..repeats {
        batches.iter().for_each(|batch| tally.add(batch));
        if repeat == 0 {
            batches.iter_mut().for_each(|batch| batch.added = TraceLists::default());
        }
    }
    let summary = tally.finish(1000);
    let first = began.elapsed();
    let records = summary.totals.records;
    println!("{records} records: numbers {first:?}, {} ns each", first.as_nanos() as u64 / records);
    let began = Instant::now();
    let mut pictures = Pictures::new(&summary, &PictureSize::PAGE);
    for _ in 0..repeats {
        batches.iter().for_each(|batch| pictures.add(batch));
    }
    let pictures = pictures.finish();
    let second = began.elapsed();
    println!("pictures {second:?}: {} files", pictures.files.len());
}
