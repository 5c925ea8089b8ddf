//! Traces: any bytes are refused, or read to their end, and what was read can be written and reads the same.
//!
//! Few inputs would get past the footer, so the input is also taken as changes of a trace, made here, whose footer has its
//! checksum taken away: then everything behind it is decoded.

#![no_main]

use std::sync::Once;

use hotset_facts::trace::{Operation, PathIndex, TraceBatch, TraceHead, TraceRecord, TraceSource};
use hotset_trace::{Bytes, Columns, Reader, Writer};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    // The reader catches panics of Parquet's decoders; the fuzzer's hook would abort before. Those that nobody catches still end
    // the run.
    static QUIET: Once = Once::new();
    QUIET.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    check(Bytes::copy_from_slice(bytes));
    check(changed(bytes));
});

fn check(bytes: Bytes) {
    let Ok(reader) = Reader::new(bytes) else { return };
    let Ok(batches) = reader.batches(Columns::ALL).collect::<Result<Vec<_>, _>>() else { return };
    let rows: usize = batches.iter().map(|batch| batch.records.len()).sum();
    assert_eq!(rows as u64, reader.totals().records);
    let mut writer = Writer::new(Vec::new(), reader.head(), None).expect("a head that was read");
    for mut batch in batches {
        // The lists of a damaged trace may lack what its records point to.
        for record in &mut batch.records {
            (record.process, record.file, record.site) = (None, None, None);
        }
        writer.write(&batch).expect("records that were read");
    }
    let again = writer.finish(0, true).expect("records that were written").out;
    let again = Reader::new(Bytes::from(again)).expect("a trace that was written");
    assert_eq!(again.totals().records, rows as u64);
}

/// A trace in which each three bytes of the input change one: its place, and the value.
fn changed(bytes: &[u8]) -> Bytes {
    let mut trace = trace();
    let unchecked = trace.windows(4).rposition(|window| window == b"HSCK");
    if let Some(mark) = unchecked.and_then(|at| trace.get_mut(at)) {
        *mark = 0;
    }
    // So that column chunks are not checked either.
    let key = trace.windows(13).rposition(|window| window == b"hotset.checks");
    if let Some(key) = key.and_then(|at| trace.get_mut(at)) {
        *key = b'-';
    }
    for change in bytes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]])) % trace.len();
        trace[at] = change[2];
    }
    trace.into()
}

fn trace() -> Vec<u8> {
    let head = TraceHead {
        hotset: String::new(),
        source: TraceSource::Recorded,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    };
    let record = |number: u64| {
        let mut record = TraceRecord::new(number * 1000, Operation::Pread);
        record.duration_ns = Some(number % 7);
        record.offset = Some(number << 12);
        record.path = Some(PathIndex((number % 2) as u32));
        record.result = (number % 3 > 0).then_some(4096);
        record
    };
    let batch = TraceBatch {
        records: (0..300).map(record).collect(),
        paths: vec![b"/a".to_vec(), b"/\xff".to_vec()],
        ..TraceBatch::default()
    };
    let mut writer = Writer::new(Vec::new(), &head, None).expect("memory");
    writer.write(&batch).expect("records");
    writer.finish(0, true).expect("memory").out
}
