//! Lines of an input, none of which takes more memory than a bound.

use std::io::{self, BufRead};

/// Bytes of a line beyond which it is refused: strace writes whole argument lists, which the kernel
/// bounds at 2 MiB by default (execve(2), "Limits on size of arguments and environment"), and cuts
/// each word at 32 bytes.
const LONGEST: usize = 1 << 20;

/// What stands at a place of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end: the bytes of [`Lines::line`].
    Whole,
    /// The last bytes of an input that does not end in a newline.
    Cut,
    /// A line of more than 1 MiB, which was passed over.
    TooLong,
    /// There are no more.
    End,
}

/// Reads lines, and numbers them.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// The bytes of the line that [`Self::advance`] came to.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Its number, from 1; 0 before the first.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Goes to the next line.
    pub(super) fn advance(&mut self) -> io::Result<Line> {
        self.line.clear();
        let mut is_long = false;
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if available.is_empty() {
                let is_end = self.line.is_empty() && !is_long;
                self.number += u64::from(!is_end);
                return Ok(if is_end { Line::End } else { Line::Cut });
            }
            let end = memchr::memchr(b'\n', available);
            let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
            is_long |= self.line.len() + part.len() > LONGEST;
            if is_long {
                self.line.clear();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                self.number += 1;
                if self.line.last() == Some(&b'\r') {
                    self.line.pop();
                }
                return Ok(if is_long { Line::TooLong } else { Line::Whole });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_whole_cut_or_too_long() -> io::Result<()> {
        let long = vec![b'x'; LONGEST + 1];
        let input = [b"one\r\n\n".as_slice(), &long, b"\ntwo\nthr"].concat();
        let mut lines = Lines::new(io::BufReader::with_capacity(7, input.as_slice()));
        let mut found = Vec::new();
        loop {
            let line = lines.advance()?;
            let is_end = line == Line::End;
            found.push((lines.number(), line, String::from_utf8_lossy(lines.line()).into_owned()));
            if is_end {
                break;
            }
        }
        let expected = [
            (1, Line::Whole, "one"),
            (2, Line::Whole, ""),
            (3, Line::TooLong, ""),
            (4, Line::Whole, "two"),
            (5, Line::Cut, "thr"),
            (5, Line::End, ""),
        ];
        let expected = expected.map(|(number, line, text)| (number, line, text.to_owned()));
        assert_eq!(found, expected);
        assert!(lines.line.capacity() <= 2 * LONGEST);
        Ok(())
    }
}
