//! Rows of a row group, column by column, until the row group is written.

use hotset_facts::trace::{OperationClass, TraceRecord};

use crate::columns::{Column, Kind};
use crate::rule::{PageNumbers, page_numbers, takes_time};
use crate::texts::NO_TEXT;

/// An INT32 that is null. No column holds numbers below zero.
pub(crate) const NULL_32: i32 = i32::MIN;
/// An INT64 that is null. Of all columns only `result` holds numbers below zero, and those are error numbers.
pub(crate) const NULL_64: i64 = i64::MIN;

/// The values of one column, one for each row.
pub(crate) enum Cells {
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    /// Codes of texts.
    Text(Vec<u32>),
}

/// What the writer knows of records beyond the records.
pub(crate) struct Codes<'a> {
    /// Code of each path of the batch.
    pub(crate) paths: &'a [u32],
    /// PID and code of the name of each process.
    pub(crate) processes: &'a [(i32, u32)],
    /// Code of the words of each set of flags.
    pub(crate) flags: &'a mut dyn FnMut(u32) -> u32,
}

/// Rows by column, in the order of [`Column::ALL`].
pub(crate) struct Rows {
    cells: Vec<Cells>,
    len: usize,
}

impl Rows {
    /// Room for so many.
    pub(crate) fn new(rows: usize) -> Self {
        let cells = Column::ALL.iter().map(|column| match column {
            // Their codes are those of the texts before them.
            Column::PathBytes | Column::NewPathBytes => Cells::Text(Vec::new()),
            _ => match column.kind() {
                Kind::Int32 => Cells::Int32(Vec::with_capacity(rows)),
                Kind::Int64 => Cells::Int64(Vec::with_capacity(rows)),
                Kind::String | Kind::Binary => Cells::Text(Vec::with_capacity(rows)),
            },
        });
        Self { cells: cells.collect(), len: 0 }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// A column's values.
    pub(crate) fn column(&self, column: Column) -> Option<&Cells> {
        let of = match column {
            Column::PathBytes => Column::Path,
            Column::NewPathBytes => Column::NewPath,
            other => other,
        };
        self.cells.get(of as usize)
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        for cells in &mut self.cells {
            match cells {
                Cells::Int32(values) => values.clear(),
                Cells::Int64(values) => values.clear(),
                Cells::Text(codes) => codes.clear(),
            }
        }
        self.len = 0;
    }

    /// Adds records, a column after the other.
    pub(crate) fn extend(&mut self, records: &[TraceRecord], codes: &mut Codes<'_>) {
        for (column, cells) in Column::ALL.iter().zip(&mut self.cells) {
            match cells {
                Cells::Int32(values) => extend_int32(*column, values, records, codes),
                Cells::Int64(values) => extend_int64(*column, values, records),
                Cells::Text(texts) => extend_text(*column, texts, records, codes),
            }
        }
        self.len += records.len();
    }
}

fn extend_int32(column: Column, values: &mut Vec<i32>, records: &[TraceRecord], codes: &Codes<'_>) {
    macro_rules! each {
        ($of:expr) => {
            values.extend(records.iter().map(|record| {
                let value: Option<u32> = $of(record);
                value.map_or(NULL_32, |value| i32::try_from(value).unwrap_or(i32::MAX))
            }))
        };
    }
    macro_rules! pages {
        ($number:ident, $of:expr) => {
            each!(|record: &TraceRecord| {
                let has = page_numbers(record.class).has(PageNumbers::$number);
                record.pages.filter(|_| has).and_then($of)
            })
        };
    }
    match column {
        Column::Pid => values.extend(records.iter().map(|record| {
            let known = record.process.and_then(|index| codes.processes.get(index.0 as usize));
            known.map_or(NULL_32, |(pid, _)| *pid)
        })),
        Column::Tid => each!(|record: &TraceRecord| record.tid),
        Column::Process => each!(|record: &TraceRecord| record.process.map(|index| index.0)),
        Column::File => each!(|record: &TraceRecord| record.file.map(|index| index.0)),
        Column::Site => each!(|record: &TraceRecord| record.site.map(|index| index.0)),
        Column::Pages => pages!(PAGES, |pages| Some(pages.pages)),
        Column::Hits => pages!(HITS, |pages| Some(pages.hits)),
        Column::AheadHits => pages!(AHEAD_HITS, |pages| Some(pages.ahead_hits)),
        Column::Misses => pages!(MISSES, |pages| Some(pages.misses)),
        Column::Zeros => pages!(ZEROS, |pages| pages.zeros),
        Column::ReadAhead => pages!(READ_AHEAD, |pages| Some(pages.read_ahead)),
        // Of another kind: never asked for.
        _ => {}
    }
}

fn extend_int64(column: Column, values: &mut Vec<i64>, records: &[TraceRecord]) {
    macro_rules! each {
        ($of:expr) => {
            values.extend(records.iter().map(|record| {
                let value: Option<u64> = $of(record);
                value.map_or(NULL_64, |value| i64::try_from(value).unwrap_or(i64::MAX))
            }))
        };
    }
    match column {
        Column::StartNs => each!(|record: &TraceRecord| Some(record.start_ns)),
        Column::DurationNs => each!(|record: &TraceRecord| {
            record.duration_ns.filter(|_| takes_time(record.operation))
        }),
        Column::OpenFile => each!(|record: &TraceRecord| record.description),
        Column::Offset => each!(|record: &TraceRecord| record.offset),
        Column::AskedBytes => each!(|record: &TraceRecord| record.asked_bytes),
        Column::DeviceReadBytes => each!(|record: &TraceRecord| record.device_read_bytes),
        Column::DeviceWriteBytes => each!(|record: &TraceRecord| record.device_write_bytes),
        Column::Result => values.extend(
            records
                .iter()
                .map(|record| record.result.map_or(NULL_64, |result| result.max(NULL_64 + 1))),
        ),
        _ => {}
    }
}

fn extend_text(
    column: Column,
    texts: &mut Vec<u32>,
    records: &[TraceRecord],
    codes: &mut Codes<'_>,
) {
    let path = |index: hotset_facts::trace::PathIndex| codes.paths.get(index.0 as usize).copied();
    match column {
        Column::Op => texts.extend(records.iter().map(|record| record.operation as u32)),
        Column::Class => texts.extend(records.iter().map(|record| class_code(record.class))),
        Column::Path => {
            texts.extend(records.iter().map(|record| record.path.and_then(path).unwrap_or(NO_TEXT)))
        }
        Column::NewPath => texts
            .extend(records.iter().map(|record| record.new_path.and_then(path).unwrap_or(NO_TEXT))),
        Column::Command => texts.extend(records.iter().map(|record| {
            let known = record.process.and_then(|index| codes.processes.get(index.0 as usize));
            known.map_or(NO_TEXT, |(_, command)| *command)
        })),
        Column::Error => texts.extend(
            records
                .iter()
                .map(|record| record.result.and_then(crate::errno::code).unwrap_or(NO_TEXT)),
        ),
        Column::Flags => {
            let mut last = (0, NO_TEXT);
            texts.extend(records.iter().map(|record| {
                if record.flags.0 != last.0 {
                    last = (record.flags.0, (codes.flags)(record.flags.0));
                }
                last.1
            }));
        }
        _ => {}
    }
}

/// The code of a class: its place in the enum.
fn class_code(class: OperationClass) -> u32 {
    class as u32
}
