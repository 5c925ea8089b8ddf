//! Rows of other tools, of which an option says what each column is.

use std::collections::HashMap;
use std::path::PathBuf;

use hotset_facts::FileKind;
use hotset_facts::trace::{FileIndex, Operation, TraceFile, TraceRecord};

use crate::import::batch::BatchBuilder;
use crate::import::summary::shown;

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CsvColumn {
    /// By its name in the header.
    Name(String),
    /// By its number, from 1.
    Number(usize),
}

/// What one is in a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds, with or without decimals.
    Seconds,
    /// 10^-3 s.
    Milliseconds,
    /// 10^-6 s.
    Microseconds,
    /// 100 ns, as Windows counts them (FILETIME).
    HundredNanoseconds,
    /// 10^-9 s.
    Nanoseconds,
}

impl TimeUnit {
    const fn ns(self) -> u64 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Milliseconds => 1_000_000,
            Self::Microseconds => 1000,
            Self::HundredNanoseconds => 100,
            Self::Nanoseconds => 1,
        }
    }
}

/// What the columns of another tool's rows are. The first row's time is the beginning of the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvOptions {
    /// Whether line 1 names the columns.
    pub has_header: bool,
    /// What stands between the fields.
    pub delimiter: u8,
    /// When a request began.
    pub time: CsvColumn,
    /// The unit of `time`.
    pub time_unit: TimeUnit,
    /// The path or any other name of the file; none where all rows are about one.
    pub file: Option<CsvColumn>,
    /// What was done; none where all rows are reads.
    pub op: Option<CsvColumn>,
    /// The first byte.
    pub offset: Option<CsvColumn>,
    /// How many bytes.
    pub size: Option<CsvColumn>,
    /// Words in `op` that mean a read, in small letters.
    pub reads: Vec<String>,
    /// Words in `op` that mean a write, in small letters.
    pub writes: Vec<String>,
}

impl CsvOptions {
    /// Reads at the times of a column, with the words for reads and writes that traces in use have.
    pub fn of_time(time: CsvColumn, time_unit: TimeUnit) -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            has_header: true,
            delimiter: b',',
            time,
            time_unit,
            file: None,
            op: None,
            offset: None,
            size: None,
            reads: words(&["r", "read", "get", "gets", "load"]),
            writes: words(&["w", "write", "set", "put", "add", "store"]),
        }
    }

    fn columns(&self) -> [Option<&CsvColumn>; 5] {
        let [file, op] = [&self.file, &self.op].map(Option::as_ref);
        let [offset, size] = [&self.offset, &self.size].map(Option::as_ref);
        [Some(&self.time), file, op, offset, size]
    }
}

/// Makes records of rows by such options.
pub(super) struct MappedColumns {
    options: CsvOptions,
    /// Where time, file, operation, offset and size stand.
    places: [Option<usize>; 5],
    started_ns: Option<u64>,
    files: HashMap<Vec<u8>, FileIndex>,
}

impl MappedColumns {
    /// Finds the columns; the one that is missing where the header lacks it.
    pub(super) fn of(options: CsvOptions, header: &[Vec<u8>]) -> Result<Self, String> {
        let mut places = [None; 5];
        for (place, column) in places.iter_mut().zip(options.columns()) {
            *place = match column {
                None => None,
                Some(CsvColumn::Number(number)) => {
                    Some(number.checked_sub(1).ok_or("0; columns are numbered from 1")?)
                }
                Some(CsvColumn::Name(name)) => {
                    let has_name = |field: &Vec<u8>| field.trim_ascii() == name.as_bytes();
                    Some(header.iter().position(has_name).ok_or_else(|| name.clone())?)
                }
            };
        }
        Ok(Self { options, places, started_ns: None, files: HashMap::new() })
    }

    /// Makes a record of a row.
    pub(super) fn record<'a>(
        &mut self,
        field: &dyn Fn(usize) -> Option<&'a [u8]>,
        out: &mut BatchBuilder,
    ) -> Result<(), String> {
        let [time, file, op, offset, size] = self.places;
        let get = |place: Option<usize>, what: &str| match place {
            None => Ok(None),
            Some(at) => field(at)
                .map(|field| Some(field.trim_ascii()))
                .ok_or_else(|| format!("no column {}, which has the {what}", at + 1)),
        };
        let number = |place, what: &str| match get(place, what)? {
            None => Ok(None),
            Some(field) => {
                let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
                number
                    .map(Some)
                    .ok_or_else(|| format!("{what} {}: expected a whole number", shown(field)))
            }
        };
        let time = get(time, "time")?.unwrap_or_default();
        let unit_ns = self.options.time_unit.ns();
        let time_ns = scaled(time, unit_ns).ok_or_else(|| {
            format!("time {}: expected a number that is not below 0", shown(time))
        })?;
        let operation = match get(op, "operation")? {
            None => Operation::Read,
            Some(word) => self.operation(word)?,
        };
        let (offset, size) = (number(offset, "offset")?, number(size, "size")?);
        let name = get(file, "file")?.unwrap_or_default();
        let started_ns = *self.started_ns.get_or_insert(time_ns);
        let file = self.file(name, out);
        let path = (!name.is_empty()).then(|| out.path(name));
        out.push(TraceRecord {
            file: Some(file),
            path,
            offset,
            asked_bytes: size,
            ..TraceRecord::new(time_ns.saturating_sub(started_ns), operation)
        });
        Ok(())
    }

    fn operation(&self, word: &[u8]) -> Result<Operation, String> {
        let small = String::from_utf8_lossy(word).to_ascii_lowercase();
        if self.options.reads.contains(&small) {
            return Ok(Operation::Read);
        }
        if self.options.writes.contains(&small) {
            return Ok(Operation::Write);
        }
        let (reads, writes) = (self.options.reads.join(", "), self.options.writes.join(", "));
        Err(format!("operation {}: expected one of {reads}, {writes}", shown(word)))
    }

    fn file(&mut self, name: &[u8], out: &mut BatchBuilder) -> FileIndex {
        if let Some(file) = self.files.get(name) {
            return *file;
        }
        let path: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(name.to_vec());
        let path = Some(PathBuf::from(path)).filter(|_| !name.is_empty());
        let kind = FileKind::Regular;
        let file =
            out.add_file(TraceFile { path, kind, id: None, size_bytes: None, cached_pages: None });
        self.files.insert(name.to_vec(), file);
        file
    }
}

/// A decimal number of a unit, in nanoseconds; what is less than one is cut.
fn scaled(text: &[u8], unit_ns: u64) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    let mut part_ns = 0;
    let mut digit_ns = unit_ns;
    for digit in part.bytes() {
        if digit == b'.' {
            return None;
        }
        digit_ns /= 10;
        part_ns += u64::from(digit - b'0') * digit_ns;
    }
    whole.parse::<u64>().ok()?.checked_mul(unit_ns)?.checked_add(part_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_scaled_without_rounding_up() {
        let ns = |text: &str, unit: TimeUnit| scaled(text.as_bytes(), unit.ns());
        assert_eq!(ns("1.5", TimeUnit::Seconds), Some(1_500_000_000));
        assert_eq!(ns("1.0000000019", TimeUnit::Seconds), Some(1_000_000_001));
        assert_eq!(
            ns("128166372003061629", TimeUnit::HundredNanoseconds),
            Some(12_816_637_200_306_162_900)
        );
        assert_eq!(ns("0.9", TimeUnit::Nanoseconds), Some(0));
        for wrong in ["", ".", "1.2.3", "-1", "1e3", "99999999999999999999"] {
            assert_eq!(ns(wrong, TimeUnit::Seconds), None, "{wrong}");
        }
    }
}
