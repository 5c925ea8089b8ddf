//! Values into the records that they belong to.

use std::collections::HashMap;

use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, PathIndex, ProcessIndex, RecordFlags, RecordPages,
    SiteIndex, TraceBatch, TraceRecord,
};
use parquet::data_type::{AsBytes as _, ByteArray};
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use crate::columns::Column;
use crate::decode::{Decoder, Values};
use crate::error::TraceError;
use crate::rule::{PageNumbers, page_numbers};

/// Numbers of pages that are known by themselves: without the first there are none, and zeros may be missing.
const APART: PageNumbers = PageNumbers::PAGES.with(PageNumbers::ZEROS);

/// Puts values into records, a column after the other.
pub(crate) struct Filler {
    operations: Words<Operation>,
    classes: Words<OperationClass>,
    flags: Words<RecordFlags>,
    paths: HashMap<Vec<u8>, PathIndex>,
    /// For each row, how many columns of pages it has.
    pages: Vec<PageNumbers>,
    /// Those that all rows of the row group have.
    pages_of_all: PageNumbers,
}

/// The column that makes what a value of this column is put into, or that it takes the place of.
pub(crate) const fn filled_into(column: Column) -> Option<Column> {
    match column {
        Column::PathBytes => Some(Column::Path),
        Column::NewPathBytes => Some(Column::NewPath),
        Column::Hits | Column::AheadHits | Column::Misses | Column::Zeros | Column::ReadAhead => {
            Some(Column::Pages)
        }
        _ => None,
    }
}

/// Values by their words, and the last: most words are those of the row before.
struct Words<T> {
    known: HashMap<Vec<u8>, T>,
    last: Option<(ByteArray, T)>,
}

impl<T: Copy> Words<T> {
    fn new() -> Self {
        Self { known: HashMap::new(), last: None }
    }

    fn get(&mut self, word: &ByteArray, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        if let Some((last, value)) = &self.last
            && last.as_bytes() == word.as_bytes()
        {
            return Some(*value);
        }
        let value = match self.known.get(word.as_bytes()) {
            Some(value) => *value,
            None => {
                let value = parse(std::str::from_utf8(word.as_bytes()).ok()?)?;
                // Flags that other tools write can be any words.
                if self.known.len() < 1 << 16 {
                    self.known.insert(word.as_bytes().to_vec(), value);
                }
                value
            }
        };
        self.last = Some((word.clone(), value));
        Some(value)
    }
}

/// A value of an enum of words.
pub(crate) fn word<T: DeserializeOwned>(text: &str) -> Option<T> {
    let from: StrDeserializer<'_, WordError> = text.into_deserializer();
    T::deserialize(from).ok()
}

impl Filler {
    pub(crate) fn new() -> Self {
        Self {
            operations: Words::new(),
            classes: Words::new(),
            flags: Words::new(),
            paths: HashMap::new(),
            pages: Vec::new(),
            pages_of_all: PageNumbers::NONE,
        }
    }

    /// Begins with what all rows of a row group have.
    pub(crate) fn begin_pattern(&mut self) {
        self.pages_of_all = PageNumbers::NONE;
        self.begin(1, &[]);
    }

    /// Keeps what was filled in of it.
    pub(crate) fn end_pattern(&mut self) {
        self.pages_of_all = self.pages.first().copied().unwrap_or(PageNumbers::NONE);
    }

    /// Begins a batch that has these paths.
    pub(crate) fn begin(&mut self, rows: usize, paths: &[Vec<u8>]) {
        self.paths.clear();
        self.paths.extend(paths.iter().cloned().zip((0..).map(PathIndex)));
        self.pages.clear();
        self.pages.resize(rows, self.pages_of_all);
    }

    /// Takes the pages away from records that lack some of their numbers.
    pub(crate) fn end(&mut self, records: &mut [TraceRecord]) {
        for (record, columns) in records.iter_mut().zip(&self.pages) {
            let numbers = page_numbers(record.class);
            if numbers == PageNumbers::NONE || !columns.has(numbers.without(APART)) {
                record.pages = None;
            }
        }
    }

    /// Fills one column in. `row` is the first of these in the row group.
    ///
    /// # Errors
    /// Where a value is none that the column may have.
    pub(crate) fn fill(
        &mut self,
        decoder: &Decoder,
        row: usize,
        batch: &mut TraceBatch,
    ) -> Result<(), TraceError> {
        let filled = match &decoder.values {
            Values::Int32(_, values) => self.numbers(decoder, values, batch),
            Values::Int64(_, values) => long_numbers(decoder, values, batch),
            Values::Bytes(_, values) => self.texts(decoder, values, batch),
        };
        filled.map_err(|Wrong { at, found, expected }| {
            let place = format!(
                "row group {}, row {}, column {}",
                decoder.group,
                row + at,
                decoder.column.name()
            );
            TraceError::damaged(place, found, expected)
        })
    }

    fn numbers(
        &mut self,
        decoder: &Decoder,
        values: &[i32],
        batch: &mut TraceBatch,
    ) -> Result<(), Wrong> {
        let pages = &mut self.pages;
        macro_rules! each {
            ($set:expr) => {
                spread(decoder, values, &mut batch.records, |at, record, value| {
                    let value = u32::try_from(*value).map_err(|_| Wrong::negative(at, *value))?;
                    let set: fn(&mut TraceRecord, u32) = $set;
                    set(record, value);
                    Ok(())
                })
            };
        }
        macro_rules! page {
            ($number:ident, $field:ident) => {
                spread(decoder, values, &mut batch.records, |at, record, value| {
                    let value = u32::try_from(*value).map_err(|_| Wrong::negative(at, *value))?;
                    if let Some(numbers) = &mut record.pages {
                        numbers.$field = value;
                    }
                    if let Some(columns) = pages.get_mut(at) {
                        *columns = columns.with(PageNumbers::$number);
                    }
                    Ok(())
                })
            };
        }
        match decoder.column {
            Column::Tid => each!(|record, value| record.tid = Some(value)),
            Column::Process => each!(|record, value| record.process = Some(ProcessIndex(value))),
            Column::File => each!(|record, value| record.file = Some(FileIndex(value))),
            Column::Site => each!(|record, value| record.site = Some(SiteIndex(value))),
            Column::Pages => each!(|record, value| {
                record.pages = Some(RecordPages { pages: value, ..RecordPages::default() });
            }),
            Column::Zeros => each!(|record, value| {
                if let Some(pages) = &mut record.pages {
                    pages.zeros = Some(value);
                }
            }),
            Column::Hits => page!(HITS, hits),
            Column::AheadHits => page!(AHEAD_HITS, ahead_hits),
            Column::Misses => page!(MISSES, misses),
            Column::ReadAhead => page!(READ_AHEAD, read_ahead),
            _ => Ok(()),
        }
    }

    fn texts(
        &mut self,
        decoder: &Decoder,
        values: &[ByteArray],
        batch: &mut TraceBatch,
    ) -> Result<(), Wrong> {
        let records = &mut batch.records;
        match decoder.column {
            Column::Op => spread(decoder, values, records, |at, record, value| {
                record.operation =
                    self.operations.get(value, word).ok_or_else(|| Wrong::word(at, value))?;
                Ok(())
            }),
            Column::Class => spread(decoder, values, records, |at, record, value| {
                record.class =
                    self.classes.get(value, word).ok_or_else(|| Wrong::word(at, value))?;
                Ok(())
            }),
            Column::Flags => spread(decoder, values, records, |at, record, value| {
                let parse = |text: &str| Some(RecordFlags::parse(text));
                record.flags =
                    self.flags.get(value, parse).ok_or_else(|| Wrong::word(at, value))?;
                Ok(())
            }),
            Column::Path | Column::PathBytes => {
                self.each_path(decoder, values, batch, |record, path| record.path = Some(path))
            }
            Column::NewPath | Column::NewPathBytes => {
                self.each_path(decoder, values, batch, |record, path| record.new_path = Some(path))
            }
            _ => Ok(()),
        }
    }

    fn each_path(
        &mut self,
        decoder: &Decoder,
        values: &[ByteArray],
        batch: &mut TraceBatch,
        set: impl Fn(&mut TraceRecord, PathIndex),
    ) -> Result<(), Wrong> {
        let (known, paths) = (&mut self.paths, &mut batch.paths);
        let mut last: Option<(&ByteArray, PathIndex)> = None;
        spread(decoder, values, &mut batch.records, |at, record, value| {
            let index = match last.filter(|(last, _)| last.as_bytes() == value.as_bytes()) {
                Some((_, index)) => index,
                None => match known.get(value.as_bytes()) {
                    Some(index) => *index,
                    None => {
                        let many = |_| Wrong::word(at, value);
                        let index = PathIndex(u32::try_from(paths.len()).map_err(many)?);
                        paths.push(value.as_bytes().to_vec());
                        known.insert(value.as_bytes().to_vec(), index);
                        index
                    }
                },
            };
            last = Some((value, index));
            set(record, index);
            Ok(())
        })
    }
}

fn long_numbers(decoder: &Decoder, values: &[i64], batch: &mut TraceBatch) -> Result<(), Wrong> {
    macro_rules! each {
        ($set:expr) => {
            spread(decoder, values, &mut batch.records, |at, record, value| {
                let value = u64::try_from(*value).map_err(|_| Wrong::negative(at, *value))?;
                let set: fn(&mut TraceRecord, u64) = $set;
                set(record, value);
                Ok(())
            })
        };
    }
    match decoder.column {
        Column::StartNs => each!(|record, value| record.start_ns = value),
        Column::DurationNs => each!(|record, value| record.duration_ns = Some(value)),
        Column::OpenFile => each!(|record, value| record.description = Some(value)),
        Column::Offset => each!(|record, value| record.offset = Some(value)),
        Column::AskedBytes => each!(|record, value| record.asked_bytes = Some(value)),
        Column::DeviceReadBytes => each!(|record, value| record.device_read_bytes = Some(value)),
        Column::DeviceWriteBytes => each!(|record, value| record.device_write_bytes = Some(value)),
        Column::Result => spread(decoder, values, &mut batch.records, |_, record, value| {
            record.result = Some(*value);
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// Hands each value to the record of its row.
fn spread<'v, T>(
    decoder: &Decoder,
    values: &'v [T],
    records: &mut [TraceRecord],
    mut set: impl FnMut(usize, &mut TraceRecord, &'v T) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    if decoder.present == 0 || values.len() == records.len() {
        for (at, (record, value)) in records.iter_mut().zip(values).enumerate() {
            set(at, record, value)?;
        }
        return Ok(());
    }
    let nullable = decoder.column.is_nullable();
    let mut values = values.iter();
    for (at, (record, level)) in records.iter_mut().zip(&decoder.levels).enumerate() {
        if *level == decoder.present {
            let Some(value) = values.next() else { break };
            set(at, record, value)?;
        } else if !nullable {
            let expected = "a value; this column is never null".to_owned();
            return Err(Wrong { at, found: "null".to_owned(), expected });
        }
    }
    Ok(())
}

/// A value that the column may not have.
struct Wrong {
    /// The row, from the first of the batch.
    at: usize,
    found: String,
    expected: String,
}

impl Wrong {
    fn negative(at: usize, value: impl ToString) -> Self {
        Self { at, found: value.to_string(), expected: "a number from 0".to_owned() }
    }

    fn word(at: usize, value: &ByteArray) -> Self {
        let found = format!("\"{}\"", value.as_bytes().escape_ascii());
        let expected = "a word of docs/trace-format.md; a newer hotset may know it".to_owned();
        Self { at, found, expected }
    }
}
