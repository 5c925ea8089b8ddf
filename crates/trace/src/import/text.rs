//! What importers of lines share: refusals, the cut end, batches.

use std::io::BufRead;

use hotset_facts::trace::{TraceBatch, TraceHead};

use super::batch::BatchBuilder;
use super::lines::{Line, Lines};
use super::summary::{RefusedLine, shown};
use super::{ImportError, ImportSummary, Importer};

/// Understands the lines of one format.
pub trait LineParser {
    /// What the format has, for messages.
    const EXPECTED: &'static str;

    /// Reads a line. The error says what it holds and what would be right.
    fn line(&mut self, line: &[u8], out: &mut BatchBuilder) -> Result<(), String>;

    /// Hands out what waited for more lines.
    fn end(&mut self, out: &mut BatchBuilder);

    /// What the trace is of.
    fn head(&self) -> TraceHead;

    /// Adds what was left out to the summary.
    fn tell(&self, summary: &mut ImportSummary);
}

/// An importer of a format of lines. It needs the memory of a batch, a line, and what its parser
/// keeps.
pub struct TextImport<R, P> {
    lines: Lines<R>,
    parser: P,
    out: BatchBuilder,
    summary: ImportSummary,
    is_done: bool,
}

impl<R: BufRead, P: LineParser> TextImport<R, P> {
    pub(super) fn with_parser(input: R, parser: P) -> Self {
        Self {
            lines: Lines::new(input),
            parser,
            out: BatchBuilder::default(),
            summary: ImportSummary::default(),
            is_done: false,
        }
    }

    fn refuse(&mut self, reason: String) -> Result<(), ImportError> {
        match self.summary.refuse(self.lines.number(), reason) {
            true => self.check_format(),
            false => Ok(()),
        }
    }

    /// An input without a readable line is something else.
    fn check_format(&self) -> Result<(), ImportError> {
        if self.summary.readable > 0 {
            return Ok(());
        }
        let first = self.summary.first_refused.first().or(self.summary.cut_at_end.as_ref());
        let expected = P::EXPECTED;
        Err(match first {
            Some(first) => ImportError::WrongFormat {
                unit: "line",
                line: first.line,
                reason: first.reason.clone(),
                expected,
            },
            None => ImportError::Empty { expected },
        })
    }

    /// Takes the next line; says whether there was one.
    fn advance(&mut self) -> Result<bool, ImportError> {
        let before = self.lines.number();
        let line = self.lines.advance();
        let line = line.map_err(|source| ImportError::Read { line: before, source })?;
        self.summary.lines = self.lines.number();
        match line {
            Line::Whole => match self.parser.line(self.lines.line(), &mut self.out) {
                Ok(()) => self.summary.readable += 1,
                Err(reason) => self.refuse(reason)?,
            },
            Line::TooLong => self.refuse("more than 1 MiB without a newline".to_owned())?,
            Line::Cut => {
                let reason = format!("{} has no newline behind it", shown(self.lines.line()));
                self.summary.cut_at_end = Some(RefusedLine { line: self.lines.number(), reason });
            }
            Line::End => return Ok(false),
        }
        Ok(true)
    }
}

impl<R: BufRead, P: LineParser> Importer for TextImport<R, P> {
    fn next_batch(&mut self) -> Result<Option<TraceBatch>, ImportError> {
        while !self.is_done && !self.out.is_full() {
            if !self.advance()? {
                self.is_done = true;
                self.check_format()?;
                self.parser.end(&mut self.out);
            }
        }
        Ok(self.out.take())
    }

    fn head(&self) -> TraceHead {
        self.parser.head()
    }

    fn summary(&self) -> ImportSummary {
        let mut summary = self.summary.clone();
        summary.records = self.out.records();
        self.parser.tell(&mut summary);
        summary
    }
}
