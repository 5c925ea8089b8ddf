//! How a file is laid out: what other readers depend on, and what makes it small.

#![allow(clippy::expect_used, reason = "helpers of tests")]

mod support;

use hotset_facts::random::Random;
use hotset_facts::trace::{
    FileIndex, Operation, PathIndex, ProcessIndex, RecordPages, TraceBatch, TraceRecord,
};
use hotset_trace::{Bytes, Writer};
use parquet::basic::{Compression, Encoding};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use support::{head, lists};

/// Records of these tests: a full row group, and a part of another.
const RECORDS: u64 = 150_000;

/// Reads that take about as long as reads take: from memory, and each sixteenth from the device.
fn reads(is_random: bool) -> Vec<u8> {
    let mut random = Random::new(7);
    let mut writer = Writer::new(Vec::new(), &head(), None).expect("begun");
    let mut now_ns = 0;
    let mut read = |number| {
        let size = if is_random { 4 << 10 } else { 64 << 10 };
        let pages = (size >> 12) as u32;
        let misses = if random.below(16) == 0 { pages } else { 0 };
        let device_ns = if misses > 0 { 60_000 + random.below(40_000) } else { 0 };
        let mut record = TraceRecord::new(now_ns, Operation::Pread);
        let duration_ns = 400 + random.below(64) + random.below(64) + device_ns;
        now_ns += duration_ns + 150 + random.below(64);
        record.duration_ns = Some(duration_ns);
        (record.process, record.tid) = (Some(ProcessIndex(0)), Some(100));
        (record.file, record.path) = (Some(FileIndex(0)), Some(PathIndex(0)));
        record.offset = Some(if is_random { random.below(1 << 18) << 12 } else { number * size });
        (record.asked_bytes, record.result) = (Some(size), Some(size as i64));
        let hits = pages - misses;
        record.pages = Some(RecordPages { pages, hits, misses, ..RecordPages::default() });
        record.device_read_bytes = Some(u64::from(misses) << 12);
        record
    };
    let batch = TraceBatch {
        records: (0..RECORDS).map(&mut read).collect(),
        paths: vec![b"/data/big".to_vec()],
        added: lists(1, 1, 0),
    };
    writer.write(&batch).expect("written");
    writer.finish(0, true).expect("finished").out
}

fn footer(bytes: Vec<u8>) -> ParquetMetaData {
    ParquetMetaDataReader::new().parse_and_finish(&Bytes::from(bytes)).expect("a footer")
}

#[test]
fn columns_have_the_types_of_the_document() {
    let footer = footer(reads(true));
    let schema = footer.file_metadata().schema_descr();
    let document = include_str!("../../../docs/trace-format.md");
    for column in schema.columns() {
        let text = column.logical_type_ref().map_or_else(
            || column.physical_type().to_string().replace("BYTE_ARRAY", "BINARY"),
            |logical| format!("{logical:?}").to_uppercase(),
        );
        let row = format!("| `{}` | {text} |", column.name());
        let found = document.lines().find(|line| line.starts_with(&row)).expect(&row);
        assert_eq!(found.contains("| never |"), column.max_def_level() == 0, "{row}");
    }
    assert_eq!(
        schema.num_columns(),
        document.matches(" INT32 | ").count()
            + [" INT64 | ", " STRING | ", " BINARY | "]
                .map(|kind| document.matches(kind).count())
                .iter()
                .sum::<usize>()
    );
}

#[test]
fn row_groups_pages_and_encodings_are_those_of_the_document() {
    let footer = footer(reads(true));
    let rows: Vec<i64> = footer.row_groups().iter().map(|group| group.num_rows()).collect();
    assert_eq!(rows, [122_880, RECORDS as i64 - 122_880]);
    for column in footer.row_groups().iter().flat_map(|group| group.columns()) {
        let name = column.column_path().string();
        assert!(matches!(column.compression(), Compression::ZSTD(_)), "{name}");
        let has = |encoding| column.encodings().any(|of| of == encoding);
        let delta = matches!(name.as_str(), "start_ns" | "offset");
        assert_eq!(has(Encoding::RLE_DICTIONARY), !delta, "{name}");
        assert!(!delta || has(Encoding::DELTA_BINARY_PACKED), "{name}");
        assert_eq!(column.column_index_offset(), None, "{name}");
    }
    assert!(footer.file_metadata().created_by().is_some_and(|by| by.starts_with("hotset ")));
}

#[test]
fn records_take_few_bytes() {
    for (is_random, most) in [(false, 4.0), (true, 7.0)] {
        let bytes = reads(is_random).len() as f64 / RECORDS as f64;
        assert!(bytes < most, "{bytes:.2} bytes a record, expected less than {most}");
    }
}
