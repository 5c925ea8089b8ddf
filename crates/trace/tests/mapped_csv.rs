//! Rows of other tools, with options that say what their columns are.
#![allow(clippy::expect_used, reason = "helpers of tests")]

mod common;

use hotset_facts::trace::Operation;
use hotset_trace::import::csv::{CsvColumn, CsvImport, CsvOptions, TimeUnit};

fn told(text: &str, options: CsvOptions) -> String {
    let importer = CsvImport::with_options(text.as_bytes(), options);
    common::told(&importer.and_then(|mut importer| common::read(&mut importer)))
}

fn named(name: &str) -> Option<CsvColumn> {
    Some(CsvColumn::Name(name.to_owned()))
}

/// The columns of MSR's block traces, which have no header and times in steps of 100 ns.
#[test]
fn columns_by_number() {
    let options = CsvOptions {
        has_header: false,
        file: Some(CsvColumn::Number(3)),
        op: Some(CsvColumn::Number(4)),
        offset: Some(CsvColumn::Number(5)),
        size: Some(CsvColumn::Number(6)),
        ..CsvOptions::of_time(CsvColumn::Number(1), TimeUnit::HundredNanoseconds)
    };
    let text = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                128166372016382155,usr,1,Write,1317441536,8192,1963\n\
                128166372016382155,usr,1,Trim,1317441536,8192,1963\n";
    let expected = "           0 read file=0 path=0 offset=7014609920 asked=24576
  1332052600 write file=1 path=1 offset=1317441536 asked=8192
file 0: regular 0
file 1: regular 1
refused: line 3: operation \"Trim\": expected one of r, read, get, gets, load, w, write, set, put, add, store
lacks: results, durations and processes, and whether pages were cached: the columns do not tell them
";
    assert_eq!(told(text, options), expected);
}

#[test]
fn columns_by_name() {
    let options = CsvOptions {
        delimiter: b';',
        file: named("name"),
        size: named("bytes"),
        ..CsvOptions::of_time(CsvColumn::Name("when".to_owned()), TimeUnit::Seconds)
    };
    let text =
        "bytes;when;name\n10; 5.25 ;/a\n20;5.5;\"/b;c\"\n30;4;/a\n40;5.6\n50;now;/a\n-1;6;/a\n";
    let told = told(text, options.clone());
    let records: Vec<&str> = told.lines().take(5).collect();
    let expected = [
        "           0 read file=0 path=/a asked=10",
        "   250000000 read file=1 path=/b;c asked=20",
        "           0 read file=0 path=/a asked=30",
        "file 0: regular /a",
        "file 1: regular /b;c",
    ];
    assert_eq!(records, expected);
    for refusal in [
        "line 5: 2 columns; line 1 has 3",
        "line 6: time \"now\": expected a number that is not below 0",
        "line 7: size \"-1\": expected a whole number",
    ] {
        assert!(told.contains(refusal), "{told}");
    }
    let wrong = CsvOptions { op: named("what"), ..options };
    let error = self::told(text, wrong);
    assert!(
        error.starts_with("error: line 1: no column what; the columns are \"bytes,when,name\""),
        "{error}"
    );
}

#[test]
fn words_for_operations_can_be_given() {
    let options = CsvOptions {
        op: named("kind"),
        reads: vec!["0".to_owned()],
        writes: vec!["1".to_owned()],
        ..CsvOptions::of_time(CsvColumn::Name("t".to_owned()), TimeUnit::Nanoseconds)
    };
    let mut importer =
        CsvImport::with_options(b"t,kind\n1,0\n2,1\n".as_slice(), options).expect("columns");
    let imported = common::read(&mut importer).expect("rows");
    let operations: Vec<_> = imported.records().map(|(record, _)| record.operation).collect();
    assert_eq!(operations, [Operation::Read, Operation::Write]);
}
