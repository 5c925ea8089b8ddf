//! What came of an import beside its records.

/// Refused lines that are kept with their reasons.
const KEPT: usize = 10;

/// Lines that are refused before any was readable, and the input is taken for something else.
const WRONG_AFTER: u64 = 100;

/// A line that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedLine {
    /// Its number, from 1; of a binary format, the number of the record.
    pub line: u64,
    /// What it holds, and what would be right.
    pub reason: String,
}

/// Readable lines that made no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// What they are, in a few words.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// What was read, refused and left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportSummary {
    /// Records that were made.
    pub records: u64,
    /// Lines that were read; of a binary format, records of it.
    pub lines: u64,
    /// Lines that could not be read.
    pub refused: u64,
    /// The first ten of these.
    pub first_refused: Vec<RefusedLine>,
    /// Readable lines that made no record, by what they are.
    pub left_out: Vec<LeftOut>,
    /// The last line where it is cut, which is then no record: what it holds.
    pub cut_at_end: Option<RefusedLine>,
    pub(super) readable: u64,
}

impl ImportSummary {
    /// Counts a line that could not be read; says whether the input seems to be something else.
    pub(super) fn refuse(&mut self, line: u64, reason: String) -> bool {
        self.refused += 1;
        if self.first_refused.len() < KEPT {
            self.first_refused.push(RefusedLine { line, reason });
        }
        self.readable == 0 && self.refused >= WRONG_AFTER
    }

    /// Adds to what was left out.
    pub(super) fn leave_out(&mut self, what: &str, count: u64) {
        if count == 0 {
            return;
        }
        match self.left_out.iter_mut().find(|left| left.what == what) {
            Some(left) => left.count += count,
            None => self.left_out.push(LeftOut { what: what.to_owned(), count }),
        }
    }
}

/// A piece of an input as a message shows it: printable, and at most 60 characters.
pub(super) fn shown(bytes: &[u8]) -> String {
    let text: String = bytes
        .iter()
        .take(240)
        .copied()
        .flat_map(std::ascii::escape_default)
        .map(char::from)
        .collect();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("\"{}...\"", text.get(..at).unwrap_or_default()),
        None => format!("\"{text}\""),
    }
}
