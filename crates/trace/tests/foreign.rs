//! Traces that other tools wrote: other columns, nulls and words.

#![allow(clippy::expect_used, reason = "helpers of tests")]

mod support;

use std::sync::Arc;

use hotset_facts::trace::{Operation, OperationClass, RecordPages};
use hotset_trace::{Bytes, Column, Columns, Reader, TraceError};
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use support::{Whole, whole};

const HEAD: &str = r#"{"schema": "hotset.trace/1", "hotset": "0.1.0", "source": "csv", "started_at": null,
    "environment": null, "command": null, "not_measured": [], "lacks": [], "a later key": 1}"#;

/// The values of a column; of those that are null, nothing.
enum Cells {
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Text(Vec<Option<&'static str>>),
}

/// A file of these columns, all of which may be null.
fn file(columns: &[(&str, Cells)], head: Option<&str>) -> Bytes {
    let field = |(name, cells): &(&str, Cells)| match cells {
        Cells::Int32(_) => format!("optional int32 {name};"),
        Cells::Int64(_) => format!("optional int64 {name};"),
        Cells::Text(_) => format!("optional binary {name} (STRING);"),
    };
    let fields: String = columns.iter().map(field).collect();
    let schema = parse_message_type(&format!("message other {{ {fields} }}")).expect("a schema");
    let properties = WriterProperties::builder().set_created_by("a tool".to_owned()).build();
    let mut file = SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties))
        .expect("begun");
    let head = head.map(|head| KeyValue::new("hotset.trace".to_owned(), head.to_owned()));
    head.into_iter().for_each(|head| file.append_key_value_metadata(head));
    let mut group = file.next_row_group().expect("a row group");
    macro_rules! write {
        ($Type:ident, $cells:expr, $value:expr) => {{
            let mut column = group.next_column().expect("a column").expect("one more");
            let levels: Vec<i16> = $cells.iter().map(|cell| i16::from(cell.is_some())).collect();
            let values: Vec<_> = $cells.iter().flatten().map($value).collect();
            column.typed::<$Type>().write_batch(&values, Some(&levels), None).expect("written");
            column.close().expect("closed");
        }};
    }
    for (_, cells) in columns {
        match cells {
            Cells::Int32(cells) => write!(Int32Type, cells, |value| *value),
            Cells::Int64(cells) => write!(Int64Type, cells, |value| *value),
            Cells::Text(cells) => write!(ByteArrayType, cells, |text| ByteArray::from(*text)),
        }
    }
    group.close().expect("closed");
    file.into_inner().expect("finished").into()
}

/// Two rows of the columns that each trace has, with others.
fn rows(others: Vec<(&'static str, Cells)>) -> Vec<(&'static str, Cells)> {
    let mut columns = vec![
        ("op", Cells::Text(vec![Some("read"), Some("sendfile")])),
        ("start_ns", Cells::Int64(vec![Some(5), Some(6)])),
        ("class", Cells::Text(vec![Some("read"), Some("write")])),
    ];
    columns.extend(others);
    columns
}

fn read(file: Bytes) -> Result<Vec<Whole>, TraceError> {
    let reader = Reader::new(file)?;
    Ok(whole(&reader.batches(Columns::ALL).collect::<Result<Vec<_>, _>>()?))
}

#[test]
fn other_columns_are_ignored_and_missing_ones_not_measured() {
    let other = ("a later column", Cells::Int32(vec![None, Some(1)]));
    let name = other.0.replace(' ', "_");
    let mut columns = rows(Vec::new());
    columns.push((name.leak(), other.1));
    columns.push(("hits", Cells::Int32(vec![Some(1), None])));
    let reader = Reader::new(file(&columns, Some(HEAD))).expect("a trace");
    assert!(!reader.is_checked());
    assert!(reader.has(Column::Hits) && !reader.has(Column::Pages));
    assert_eq!((reader.totals().records, reader.lists().files.len()), (2, 0));
    let batches = reader.batches(Columns::ALL).collect::<Result<Vec<_>, _>>().expect("read");
    let found: Vec<_> = whole(&batches).into_iter().map(|(record, ..)| record).collect();
    let of = |record: &hotset_facts::trace::TraceRecord| {
        (record.start_ns, record.operation, record.class, record.pages, record.tid)
    };
    let wanted = [
        (5, Operation::Read, OperationClass::Read, None, None),
        (6, Operation::Sendfile, OperationClass::Write, None, None),
    ];
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), wanted);
}

#[test]
fn pages_are_known_only_with_all_their_numbers() {
    let number = |first| Cells::Int32(vec![Some(first), None]);
    let all = rows(vec![
        ("pages", Cells::Int32(vec![Some(4), Some(4)])),
        ("hits", number(3)),
        ("ahead_hits", number(2)),
        ("misses", number(1)),
        ("read_ahead", number(8)),
    ]);
    let found = read(file(&all, Some(HEAD))).expect("read");
    let pages =
        RecordPages { pages: 4, hits: 3, ahead_hits: 2, misses: 1, zeros: None, read_ahead: 8 };
    assert_eq!([found[0].0.pages, found[1].0.pages], [Some(pages), None]);
}

#[test]
fn other_files_of_parquet_are_named_with_who_wrote_them() {
    let error = read(file(&rows(Vec::new()), None)).expect_err("no trace").to_string();
    assert!(error.contains("a Parquet file of a tool, without the key hotset.trace"), "{error}");
    for (schema, wanted) in [
        ("hotset.trace/2", "the trace has the schema hotset.trace/2"),
        ("hotset.profile/1", "a file with the schema \"hotset.profile/1\""),
    ] {
        let head = HEAD.replace("hotset.trace/1", schema);
        let error = read(file(&rows(Vec::new()), Some(&head))).expect_err(schema).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let error = read(file(&rows(Vec::new()), Some("{"))).expect_err("no JSON").to_string();
    assert!(error.contains("key hotset.trace, line 1, column 1"), "{error}");
}

#[test]
fn what_a_column_may_not_hold_is_told_with_its_row() {
    for (name, cells, wanted) in [
        (
            "tid",
            Cells::Int64(vec![None, None]),
            "the schema, column tid: type INT64; expected INT32",
        ),
        (
            "tid",
            Cells::Int32(vec![None, Some(-7)]),
            "row group 0, row 1, column tid: -7; expected a number",
        ),
        ("offset", Cells::Int64(vec![Some(-1), None]), "row group 0, row 0, column offset: -1;"),
    ] {
        let error = read(file(&rows(vec![(name, cells)]), Some(HEAD))).expect_err(name).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    for (place, cells, wanted) in [
        (0, Cells::Text(vec![Some("read"), Some("teleport")]), "row 1, column op: \"teleport\""),
        (0, Cells::Text(vec![None, Some("read")]), "row 0, column op: null; expected a value"),
        (2, Cells::Text(vec![Some("read"), Some("")]), "row 1, column class: \"\""),
    ] {
        let mut columns = rows(Vec::new());
        columns[place].1 = cells;
        let error = read(file(&columns, Some(HEAD))).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
    let without = rows(Vec::new()).split_off(1);
    let error = read(file(&without, Some(HEAD))).expect_err("no op").to_string();
    assert!(error.contains("no column op"), "{error}");
}
