//! `hotset trace import`.

use std::path::PathBuf;

use clap::ValueEnum;
use hotset_trace::import::csv::{CsvColumn, TimeUnit};

/// A tool whose recording is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFrom {
    /// Text of strace -f -ttt -T -y
    Strace,
    /// I/O log of fio, version 2 or 3
    Fio,
    /// Comma-separated values
    Csv,
    /// Page requests as libCacheSim's oracleGeneral
    Oracle,
    /// Text of blkparse: requests to the device, below the page cache
    Blkparse,
}

/// Arguments of `trace import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  hotset trace import app.strace -o app.parquet\n  \
                        hotset trace import --from csv --time start --time-unit us \\\n    \
                        --file name --offset pos --size len other.csv -o other.parquet")]
pub(crate) struct TraceImportArgs {
    /// Recording to read
    #[arg(value_name = "FILE")]
    pub(crate) recording: PathBuf,
    /// Tool that wrote it [default: recognized by the first lines]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) from: Option<ImportFrom>,
    /// Write the trace to TRACE
    #[arg(short, long, value_name = "TRACE")]
    pub(crate) output: PathBuf,
    /// Replace TRACE if it exists
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) columns: ColumnArgs,
}

/// What the columns of another tool's CSV are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "CSV of other tools")]
pub(crate) struct ColumnArgs {
    /// Column with the start of each request: its name in line 1, or its number from 1
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) time: Option<CsvColumn>,
    /// Unit of --time [default: s]
    #[arg(long, value_name = "UNIT", value_enum)]
    pub(crate) time_unit: Option<Unit>,
    /// Column with the name of the file [default: all rows are of one file]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) file: Option<CsvColumn>,
    /// Column that tells reads from writes [default: all rows are reads]
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) op: Option<CsvColumn>,
    /// Column with the first byte of the request
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) offset: Option<CsvColumn>,
    /// Column with the bytes of the request
    #[arg(long, value_name = "COLUMN", value_parser = column)]
    pub(crate) size: Option<CsvColumn>,
    /// Line 1 is a row, and does not name the columns
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Character between the columns, or `tab` [default: a comma]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
}

/// What one is in a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Unit {
    /// Seconds
    S,
    /// Milliseconds
    Ms,
    /// Microseconds
    Us,
    /// 100 nanoseconds, as Windows counts time
    #[value(name = "100ns")]
    HundredNs,
    /// Nanoseconds
    Ns,
}

impl From<Unit> for TimeUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::S => Self::Seconds,
            Unit::Ms => Self::Milliseconds,
            Unit::Us => Self::Microseconds,
            Unit::HundredNs => Self::HundredNanoseconds,
            Unit::Ns => Self::Nanoseconds,
        }
    }
}

fn column(text: &str) -> Result<CsvColumn, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let name = text.trim();
        let is_empty = name.is_empty();
        return match is_empty {
            true => Err("expected the name of a column, or its number from 1".to_owned()),
            false => Ok(CsvColumn::Name(name.to_owned())),
        };
    }
    match text.parse() {
        Ok(number @ 1..=4096) => Ok(CsvColumn::Number(number)),
        _ => Err("expected a column from 1 to 4096".to_owned()),
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n') => Ok(*byte),
        _ => Err("expected one ASCII character other than a quote, or `tab`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_a_name_or_a_number() {
        assert_eq!(column("7"), Ok(CsvColumn::Number(7)));
        assert_eq!(column("t 1"), Ok(CsvColumn::Name("t 1".to_owned())));
        for wrong in ["", " ", "0", "4097", "99999999999999999999"] {
            assert!(column(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!((delimiter(";"), delimiter("tab")), (Ok(b';'), Ok(b'\t')));
        assert!(delimiter("ab").is_err() && delimiter("\"").is_err() && delimiter("ä").is_err());
    }
}
