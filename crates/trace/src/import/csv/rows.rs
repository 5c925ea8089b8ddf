//! Rows of comma-separated values (RFC 4180), none of which takes more memory than a bound.

use std::io::{self, BufRead};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// Bytes of a row beyond which it is refused: a forgotten quote makes one row of all that follows.
const LONGEST: usize = 1 << 20;

/// Columns beyond which a row is refused.
const MOST_COLUMNS: usize = 4096;

/// What stands at a place of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A row.
    Whole,
    /// A row that the input ends in, without a newline.
    Last,
    /// More than a bound.
    TooLong,
    /// There are no more.
    End,
}

/// Reads rows, and numbers their lines.
pub(super) struct Rows<R> {
    input: R,
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
    columns: usize,
    line: u64,
    skipped: u64,
    ends_in_newline: bool,
}

impl<R: BufRead> Rows<R> {
    pub(super) fn new(input: R, delimiter: u8) -> Self {
        Self {
            input,
            reader: ReaderBuilder::new().delimiter(delimiter).build(),
            text: vec![0; 4096],
            ends: vec![0; 64],
            columns: 0,
            line: 0,
            skipped: 0,
            ends_in_newline: true,
        }
    }

    /// The line in which the last row began, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Columns of the last row.
    pub(super) fn len(&self) -> usize {
        self.columns
    }

    /// A field of the last row, from 0; none where the row has fewer.
    pub(super) fn field(&self, at: usize) -> Option<&[u8]> {
        let ends = self.ends.get(..self.columns)?;
        let start = at.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
        self.text.get(start..*ends.get(at)?)
    }

    /// Passes over the ends of lines before a row, which the reader would count with the row.
    fn skip_newlines(&mut self) -> io::Result<()> {
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let ends = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let newlines = ends.clone().filter(|byte| **byte == b'\n').count();
            let (count, available) = (ends.count(), input.len());
            self.skipped += newlines as u64;
            self.input.consume(count);
            if count < available || available == 0 {
                return Ok(());
            }
        }
    }

    /// Goes to the next row.
    pub(super) fn advance(&mut self) -> io::Result<Row> {
        let (mut written, mut ended, mut is_long) = (0, 0, false);
        self.columns = 0;
        self.skip_newlines()?;
        self.line = self.reader.line() + self.skipped;
        loop {
            let input = match self.input.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let is_end = input.is_empty();
            let text = self.text.get_mut(written..).unwrap_or_default();
            let ends = self.ends.get_mut(ended..).unwrap_or_default();
            let (result, used, wrote, fields) = self.reader.read_record(input, text, ends);
            if let Some(last) = used.checked_sub(1).and_then(|last| input.get(last)) {
                self.ends_in_newline = matches!(last, b'\n' | b'\r');
            }
            self.input.consume(used);
            written += wrote;
            ended += fields;
            match result {
                ReadRecordResult::InputEmpty if is_end => return Ok(Row::End),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::End => return Ok(Row::End),
                ReadRecordResult::Record => {
                    self.columns = ended;
                    return Ok(match (is_long, is_end && !self.ends_in_newline) {
                        (true, _) => Row::TooLong,
                        (false, true) => Row::Last,
                        (false, false) => Row::Whole,
                    });
                }
                ReadRecordResult::OutputFull if self.text.len() < LONGEST => {
                    self.text.resize(self.text.len() * 2, 0);
                }
                ReadRecordResult::OutputEndsFull if self.ends.len() < MOST_COLUMNS => {
                    self.ends.resize(self.ends.len() * 2, 0);
                }
                // What it holds is not needed any more: its room takes the rest of it.
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    (written, ended, is_long) = (0, 0, true);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(input: &[u8]) -> Vec<(u64, Row, Vec<String>)> {
        let mut rows = Rows::new(io::BufReader::with_capacity(3, input), b',');
        let mut found = Vec::new();
        loop {
            let row = rows.advance().expect("no failure in memory");
            if row == Row::End {
                return found;
            }
            let fields = (0..rows.len()).filter_map(|at| rows.field(at));
            let fields = fields.map(|field| String::from_utf8_lossy(field).into_owned()).collect();
            found.push((rows.line(), row, fields));
        }
    }

    #[test]
    fn quotes_hide_commas_and_newlines() {
        let found = rows(b"a,\"b,\"\"\nc\"\r\n\nd,\n,e");
        let text = |fields: [&str; 2]| fields.map(str::to_owned).to_vec();
        let expected = [
            (1, Row::Whole, text(["a", "b,\"\nc"])),
            (4, Row::Whole, text(["d", ""])),
            (5, Row::Last, text(["", "e"])),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_row_is_bounded() {
        let long = [b"a,\"".as_slice(), &vec![b'x'; 2 * LONGEST], b"\"\nb,c\n"].concat();
        let found = rows(&long);
        assert!(
            matches!(found.as_slice(), [(1, Row::TooLong, _), (2, Row::Whole, _)]),
            "{:?}",
            found.len()
        );
        let wide = [",".repeat(3 * MOST_COLUMNS).as_bytes(), b"\nb\n"].concat();
        assert!(matches!(rows(&wide).as_slice(), [(1, Row::TooLong, _), (2, Row::Whole, _)]));
    }
}
