//! Traces of other tools, of which the first byte chooses one: any bytes are read or refused, and
//! what is read can be exported.

#![no_main]

use std::convert::Infallible;
use std::io::Cursor;

use hotset_facts::trace::TraceLists;
use hotset_trace::export::{csv, fio, oracle, perfetto, pprof};
use hotset_trace::import::csv::{CsvColumn, CsvImport, CsvOptions, TimeUnit};
use hotset_trace::import::{FORMATS, Importer, open, sniff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, content)) = bytes.split_first() else { return };
    let _ = sniff(content);
    let Some(mut importer) = importer(*which, content) else { return };
    let (mut lists, mut batches) = (TraceLists::default(), Vec::new());
    while let Ok(Some(batch)) = importer.next_batch() {
        lists.append(batch.added.clone());
        batches.push(batch);
    }
    let head = importer.head();
    let records: usize = batches.iter().map(|batch| batch.records.len()).sum();
    assert_eq!(importer.summary().records, records as u64);
    let again = || batches.iter().cloned().map(Ok::<_, Infallible>);
    let told = csv::export(again(), &lists, Vec::new()).expect("memory does not fail");
    assert_eq!(told.written, records as u64);
    fio::export(again(), &lists, fio::FioLogs::PerThread, |_| Ok(Vec::new())).expect("nor here");
    perfetto::export(again(), &head, &lists, perfetto::Slices::All, Vec::new()).expect("nor here");
    pprof::export(again(), &head, &lists, Vec::new()).expect("nor here");
    // A page is 24 bytes there: a request may ask for more than the fuzzer's memory has.
    let bytes = |batch: &hotset_facts::trace::TraceBatch| {
        let sizes = batch.records.iter().map(|record| record.asked_bytes.unwrap_or(0).min(1 << 40));
        let results =
            batch.records.iter().map(|record| record.result.unwrap_or(0).clamp(0, 1 << 40));
        sizes.sum::<u64>() + results.sum::<i64>().unsigned_abs()
    };
    if batches.iter().map(bytes).fold(0, u64::saturating_add) < 1 << 30 {
        oracle::export(again(), Cursor::new(Vec::new())).expect("nor here");
    }
});

/// The importer that a byte chooses: of a format, or of another tool's columns.
fn importer(which: u8, content: &[u8]) -> Option<Box<dyn Importer + '_>> {
    match FORMATS.get(usize::from(which) % (FORMATS.len() + 1)) {
        Some(format) => open(format, content).ok(),
        None => {
            let column = |number| Some(CsvColumn::Number(number));
            let options = CsvOptions {
                has_header: which >= 128,
                file: column(2),
                op: column(3),
                offset: column(4),
                size: column(5),
                ..CsvOptions::of_time(CsvColumn::Number(1), TimeUnit::Microseconds)
            };
            Some(Box::new(CsvImport::with_options(content, options).ok()?))
        }
    }
}
