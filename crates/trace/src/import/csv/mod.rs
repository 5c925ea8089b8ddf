//! Comma-separated values (RFC 4180): the columns of a trace, or those of another tool with options
//! that say what they are.
//!
//! Traps, each of which a test has: quotes hide commas and newlines; a forgotten quote makes one
//! row of all that follows, so a row is bounded at 1 MiB; the last row needs no newline, and is cut
//! where it has fewer columns than line 1.
//!
//! Indices of files, processes and sites are given anew in the order in which they come: what was
//! exported with others is the same trace with other numbers. Memory: a row, a batch, and tables of
//! distinct files, processes and sites.

mod mapped;
mod own;
mod rows;

use std::io::BufRead;

use hotset_facts::trace::{TraceBatch, TraceHead, TraceSource};

use super::batch::BatchBuilder;
use super::summary::RefusedLine;
use super::{ImportError, ImportSummary, Importer, head_of};

use mapped::MappedColumns;
pub use mapped::{CsvColumn, CsvOptions, TimeUnit};
use own::OwnColumns;
use rows::{Row, Rows};

const EXPECTED: &str = "a header with at least the columns start_ns and op, as hotset trace export \
                        --to csv writes it; columns of other tools must be named";

const EXPECTED_NAMED: &str = "rows with the columns that were named";

/// Whether line 1 is a header with the columns that a trace needs.
pub fn looks_like(first: &[u8]) -> bool {
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has =
        |column: &[u8]| line.split(|byte| *byte == b',').any(|name| name.trim_ascii() == column);
    has(b"start_ns") && has(b"op")
}

enum Columns {
    Own(OwnColumns),
    Mapped(MappedColumns),
}

/// An importer of rows.
pub struct CsvImport<R> {
    rows: Rows<R>,
    columns: Columns,
    expected: &'static str,
    width: usize,
    /// The first row is no header, and waits to be a record.
    first_waits: Option<Row>,
    out: BatchBuilder,
    summary: ImportSummary,
    is_done: bool,
}

impl<R: BufRead> CsvImport<R> {
    /// Reads the header of rows with the columns of a trace.
    ///
    /// # Errors
    ///
    /// There is no header, or it lacks `start_ns` or `op`.
    pub fn new(input: R) -> Result<Self, ImportError> {
        Self::begin(Rows::new(input, b','), true, EXPECTED, |header| {
            OwnColumns::of(header).map(Columns::Own).map_err(str::to_owned)
        })
    }

    /// Reads the header, if there is one, of rows whose columns the options tell.
    ///
    /// # Errors
    ///
    /// A column that the options name is not in the header.
    pub fn with_options(input: R, options: CsvOptions) -> Result<Self, ImportError> {
        let (rows, has_header) = (Rows::new(input, options.delimiter), options.has_header);
        Self::begin(rows, has_header, EXPECTED_NAMED, |header| {
            MappedColumns::of(options, header).map(Columns::Mapped)
        })
    }

    fn begin(
        mut rows: Rows<R>,
        has_header: bool,
        expected: &'static str,
        columns: impl FnOnce(&[Vec<u8>]) -> Result<Columns, String>,
    ) -> Result<Self, ImportError> {
        let row = rows.advance().map_err(|source| ImportError::Read { line: 0, source })?;
        match row {
            Row::End => return Err(ImportError::Empty { expected }),
            Row::TooLong => {
                let reason = "more than 1 MiB or 4,096 columns".to_owned();
                return Err(ImportError::WrongFormat { unit: "line", line: 1, reason, expected });
            }
            Row::Whole | Row::Last => {}
        }
        let fields = (0..rows.len()).filter_map(|at| rows.field(at));
        let header: Vec<Vec<u8>> = match has_header {
            true => fields.map(<[u8]>::to_vec).collect(),
            false => Vec::new(),
        };
        let columns = columns(&header).map_err(|column| {
            let found = super::summary::shown(&header.join(&b','));
            ImportError::NoColumn { column, found, expected }
        })?;
        // A header alone does not make rows readable.
        let summary = ImportSummary { lines: rows.line(), ..ImportSummary::default() };
        Ok(Self {
            width: rows.len(),
            first_waits: (!has_header).then_some(row),
            rows,
            columns,
            expected,
            out: BatchBuilder::default(),
            summary,
            is_done: false,
        })
    }

    fn refuse(&mut self, reason: String) -> Result<(), ImportError> {
        match self.summary.refuse(self.rows.line(), reason) {
            true => self.check_format(),
            false => Ok(()),
        }
    }

    /// Rows none of which is readable are something else. No rows at all are a trace without records.
    fn check_format(&self) -> Result<(), ImportError> {
        let first = self.summary.first_refused.first().or(self.summary.cut_at_end.as_ref());
        match first.filter(|_| self.summary.readable == 0) {
            Some(first) => Err(ImportError::WrongFormat {
                unit: "line",
                line: first.line,
                reason: first.reason.clone(),
                expected: self.expected,
            }),
            None => Ok(()),
        }
    }

    fn make(&mut self) -> Result<(), String> {
        let found = self.rows.len();
        if found != self.width {
            return Err(format!("{found} columns; line 1 has {}", self.width));
        }
        let rows = &self.rows;
        let field = |at: usize| rows.field(at);
        match &mut self.columns {
            Columns::Own(own) => own.record(&field, &mut self.out),
            Columns::Mapped(mapped) => mapped.record(&field, &mut self.out),
        }
    }

    fn advance(&mut self) -> Result<bool, ImportError> {
        let row = match self.first_waits.take() {
            Some(row) => row,
            None => {
                let line = self.summary.lines;
                self.rows.advance().map_err(|source| ImportError::Read { line, source })?
            }
        };
        if row == Row::End {
            return Ok(false);
        }
        self.summary.lines = self.rows.line();
        if row == Row::TooLong {
            self.refuse("more than 1 MiB or 4,096 columns: a quote may be missing".to_owned())?;
            return Ok(true);
        }
        match self.make() {
            Ok(()) => self.summary.readable += 1,
            Err(reason) if row == Row::Last => {
                self.summary.cut_at_end = Some(RefusedLine { line: self.rows.line(), reason });
            }
            Err(reason) => self.refuse(reason)?,
        }
        Ok(true)
    }
}

impl<R: BufRead> Importer for CsvImport<R> {
    fn next_batch(&mut self) -> Result<Option<TraceBatch>, ImportError> {
        while !self.is_done && !self.out.is_full() {
            self.is_done = !self.advance()?;
        }
        if self.is_done {
            self.check_format()?;
        }
        Ok(self.out.take())
    }

    fn head(&self) -> TraceHead {
        let lacks = match &self.columns {
            Columns::Own(own) if own.has_sites() => {
                vec!["the frames of call sites: rows have their numbers alone"]
            }
            Columns::Own(_) => vec![],
            Columns::Mapped(_) => vec![
                "results, durations and processes, and whether pages were cached: the columns \
                 do not tell them",
            ],
        };
        head_of(TraceSource::Csv, lacks.into_iter().map(str::to_owned).collect())
    }

    fn summary(&self) -> ImportSummary {
        ImportSummary { records: self.out.records(), ..self.summary.clone() }
    }
}
