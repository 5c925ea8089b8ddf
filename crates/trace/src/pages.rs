//! The headers of a column chunk's pages, looked at before Parquet's reader allocates what they say.
//!
//! A header is a struct in Thrift's compact protocol (github.com/apache/thrift, doc/specs/thrift-compact-protocol.md; fields in
//! github.com/apache/parquet-format, parquet.thrift, `PageHeader`). Only sizes matter here; the reader itself decodes the rest.

/// The largest page that is read, uncompressed. Writers aim at 1 MiB.
const MAX_PAGE_BYTES: i64 = 64 << 20;
/// How deep structs may be nested: of a header that is right, statistics are the third.
const MAX_DEPTH: u8 = 8;
/// The fewest bytes of a dictionary's entry: an INT32, or the length of a text.
const ENTRY_BYTES: i64 = 4;
/// The encodings whose values are places in a dictionary: PLAIN_DICTIONARY and RLE_DICTIONARY.
const OF_DICTIONARY: [i64; 2] = [2, 8];

/// What is wrong with a page, and at which byte of the chunk it begins.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WrongPage {
    pub(crate) at: usize,
    pub(crate) found: String,
    pub(crate) expected: String,
}

/// What all values of a column chunk have in common, as far as its headers tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alike {
    /// All are null.
    Null,
    /// All are there, and the same.
    Value,
    /// Nothing that is known.
    Unknown,
}

/// Types of Thrift: a number of 32 bits, and a struct.
const INT: u8 = 5;
const STRUCT: u8 = 12;

/// Sizes of a page.
#[derive(Default)]
struct Header {
    uncompressed: Option<i64>,
    compressed: Option<i64>,
    dictionary_values: Option<i64>,
    /// How the values of a data page are encoded.
    encoding: Option<i64>,
    /// Of a data page of version 2: how many values it has, nulls among them, and how many nulls.
    values_and_nulls: Option<(i64, i64)>,
}

/// Sums of the pages of a chunk that were seen so far.
#[derive(Default)]
struct Seen {
    /// Entries of dictionaries.
    entries: Option<i64>,
    /// Values of data pages, nulls among them; nothing where a page does not tell its nulls.
    values_and_nulls: Option<(i64, i64)>,
    /// Data pages that hold values themselves.
    without_dictionary: bool,
}

impl Seen {
    fn add(&mut self, header: &Header) {
        if let Some(entries) = header.dictionary_values {
            self.entries = Some(self.entries.unwrap_or(0).saturating_add(entries));
        }
        let Some(encoding) = header.encoding else { return };
        self.without_dictionary |= !OF_DICTIONARY.contains(&encoding);
        let (values, nulls) = header.values_and_nulls.unwrap_or((i64::MIN, 0));
        let before = self.values_and_nulls.unwrap_or((0, 0));
        self.values_and_nulls =
            Some((before.0.saturating_add(values), before.1.saturating_add(nulls)));
    }

    /// What all of `rows` values have in common.
    fn alike(&self, rows: i64) -> Alike {
        match self.values_and_nulls {
            Some((values, nulls)) if values != rows || rows == 0 || nulls < 0 => Alike::Unknown,
            Some((_, nulls)) if nulls == rows => Alike::Null,
            Some((_, 0)) if self.entries == Some(1) && !self.without_dictionary => Alike::Value,
            _ => Alike::Unknown,
        }
    }
}

/// Checks the sizes of all pages of a chunk, and says what its `rows` values have in common.
///
/// # Errors
/// Those that can't be.
pub(crate) fn check(chunk: &[u8], rows: i64) -> Result<Alike, WrongPage> {
    let mut rest = chunk;
    let mut seen = Seen::default();
    while !rest.is_empty() {
        let at = chunk.len() - rest.len();
        let wrong = |found: String, expected: String| WrongPage { at, found, expected };
        let mut cursor = Cursor(rest);
        let Some(header) = header(&mut cursor) else {
            return Err(wrong("no page header".to_owned(), "a page header of Parquet".to_owned()));
        };
        let uncompressed = header.uncompressed.unwrap_or(-1);
        if !(0..=MAX_PAGE_BYTES).contains(&uncompressed) {
            let found = format!("a page of {uncompressed} bytes");
            return Err(wrong(found, format!("0 to {MAX_PAGE_BYTES} bytes")));
        }
        let entries = header.dictionary_values.unwrap_or(0);
        if !(0..=uncompressed / ENTRY_BYTES).contains(&entries) {
            let found = format!("a dictionary of {entries} entries in {uncompressed} bytes");
            return Err(wrong(found, format!("at least {ENTRY_BYTES} bytes for each")));
        }
        seen.add(&header);
        // Parquet's reader panics there.
        if header.encoding.is_some_and(|of| OF_DICTIONARY.contains(&of)) && seen.entries.is_none() {
            let found = "values of a dictionary, without one before them";
            return Err(wrong(found.to_owned(), "a dictionary page first".to_owned()));
        }
        let size = header.compressed.and_then(|size| usize::try_from(size).ok());
        let Some(after) = size.and_then(|size| cursor.0.get(size..)) else {
            let found = format!("a page of {:?} compressed bytes", header.compressed);
            return Err(wrong(found, format!("at most the {} that follow", cursor.0.len())));
        };
        rest = after;
    }
    Ok(seen.alike(rows))
}

/// Bytes that are taken from the front. Nothing where there are none.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let value = self.varint()?;
        let magnitude = i64::try_from(value >> 1).ok()?;
        Some(if value & 1 == 0 { magnitude } else { -magnitude - 1 })
    }

    /// The number and type of the next field; type 0 ends the struct.
    fn field(&mut self, last: &mut i64) -> Option<(i64, u8)> {
        let byte = self.byte()?;
        let kind = byte & 0x0f;
        if kind != 0 {
            *last = match byte >> 4 {
                0 => self.signed()?,
                step => last.checked_add(i64::from(step))?,
            };
        }
        Some((*last, kind))
    }

    /// Passes over a value of a type.
    fn value(&mut self, kind: u8, depth: u8) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // A bool is in its field's type.
            1 | 2 => Some(()),
            3 => self.skip(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let size = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
                match header & 0x0f {
                    // In a list, a bool is a byte.
                    1 | 2 => self.skip(size),
                    kind => (0..size).try_for_each(|_| self.value(kind, depth)),
                }
            }
            12 => {
                let mut last = 0;
                loop {
                    match self.field(&mut last)? {
                        (_, 0) => return Some(()),
                        (_, kind) => self.value(kind, depth)?,
                    }
                }
            }
            // No header holds a map.
            _ => None,
        }
    }
}

/// Reads a header. Fields 2 and 3 are its sizes. Field 7 is the header of a dictionary, whose field 1 is how many values it has;
/// fields 5 and 8 are those of data pages, whose fields 2 and 4 are their encodings. In the second of them, fields 1 and 2 are how
/// many values there are, and how many of them are null.
fn header(cursor: &mut Cursor<'_>) -> Option<Header> {
    let (mut header, mut last) = (Header::default(), 0);
    loop {
        match cursor.field(&mut last)? {
            (_, 0) => return Some(header),
            (2, INT) => header.uncompressed = Some(cursor.signed()?),
            (3, INT) => header.compressed = Some(cursor.signed()?),
            (5, STRUCT) => [header.encoding] = numbers(cursor, [2])?,
            (7, STRUCT) => {
                let [entries] = numbers(cursor, [1])?;
                header.dictionary_values = Some(entries.unwrap_or(-1));
            }
            (8, STRUCT) => {
                let [values, nulls, encoding] = numbers(cursor, [1, 2, 4])?;
                header.values_and_nulls = values.zip(nulls);
                header.encoding = encoding;
            }
            (_, kind) => cursor.value(kind, MAX_DEPTH)?,
        }
    }
}

/// Reads a struct to its end, for some numbers of it.
fn numbers<const N: usize>(cursor: &mut Cursor<'_>, wanted: [i64; N]) -> Option<[Option<i64>; N]> {
    let (mut found, mut last) = ([None; N], 0);
    loop {
        let (field, kind) = cursor.field(&mut last)?;
        match wanted.iter().position(|&number| number == field) {
            _ if kind == 0 => return Some(found),
            Some(at) if kind == INT => found[at] = Some(cursor.signed()?),
            _ => cursor.value(kind, MAX_DEPTH)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dictionary page: its type, sizes, and the header with how many values it has; then its bytes.
    fn dictionary(uncompressed: u8, compressed: u8, values: u8, bytes: usize) -> Vec<u8> {
        let mut page = vec![0x15, 4, 0x15, 2 * uncompressed, 0x15, 2 * compressed];
        page.extend([0x4c, 0x15, 2 * values, 0x15, 0, 0, 0]);
        page.extend(std::iter::repeat_n(7, bytes));
        page
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let pages = [dictionary(8, 5, 2, 5), dictionary(0, 0, 0, 0)].concat();
        assert_eq!(check(&pages, 1), Ok(Alike::Unknown));
        assert_eq!(check(&[], 0), Ok(Alike::Unknown));
    }

    #[test]
    fn sizes_that_cannot_be_are_told_with_their_place() {
        let good = dictionary(8, 5, 2, 5);
        for (bad, wanted) in [
            (dictionary(8, 5, 2, 4), "a page of Some(5) compressed bytes"),
            (dictionary(8, 5, 3, 5), "a dictionary of 3 entries in 8 bytes"),
            (vec![0x25, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x15, 0, 0], "a page of 2147483647 bytes"),
            (vec![0x25, 1, 0x15, 0, 0], "a page of -1 bytes"),
            (vec![0], "a page of -1 bytes"),
            (vec![0xff], "no page header"),
        ] {
            let error = check(&[&good[..], &bad].concat(), 1).expect_err(wanted);
            assert_eq!((error.at, error.found.as_str()), (good.len(), wanted));
        }
    }

    #[test]
    fn places_in_a_dictionary_need_one() {
        // A data page of version 2 without bytes: type, sizes, and its header, whose field 4 is the encoding.
        let data = |encoding: u8| {
            [&[0x15, 6, 0x15, 0, 0x15, 0, 0x5c][..], &[0x45, 2 * encoding, 0, 0]].concat()
        };
        assert_eq!(check(&data(0), 1), Ok(Alike::Unknown));
        assert_eq!(check(&[dictionary(0, 0, 0, 0), data(8)].concat(), 1), Ok(Alike::Unknown));
        for encoding in [2, 8] {
            let error = check(&data(encoding), 1).expect_err("no dictionary");
            assert_eq!(error.expected, "a dictionary page first");
        }
    }

    /// A data page of version 2 without bytes: its header has values, nulls, rows and the encoding.
    fn data(values: u8, nulls: u8, encoding: u8) -> Vec<u8> {
        let mut page = vec![0x15, 6, 0x15, 0, 0x15, 0, 0x5c];
        page.extend([0x15, 2 * values, 0x15, 2 * nulls, 0x15, 2 * values, 0x15, 2 * encoding]);
        page.extend([0, 0]);
        page
    }

    #[test]
    fn what_all_values_have_in_common_is_told() {
        let one = dictionary(4, 4, 1, 4);
        let of = |pages: &[&[u8]], rows| check(&pages.concat(), rows).expect("whole pages");
        assert_eq!(of(&[&one, &data(3, 0, 8), &data(2, 0, 8)], 5), Alike::Value);
        assert_eq!(of(&[&data(3, 3, 0), &data(2, 2, 0)], 5), Alike::Null);
        assert_eq!(of(&[&one, &data(3, 3, 8)], 3), Alike::Null);
        for (why, pages, rows) in [
            ("some are null", vec![&one[..], &data(3, 1, 8)], 3),
            (
                "a page is full of nulls, another is not",
                vec![&one, &data(3, 3, 8), &data(3, 0, 8)],
                6,
            ),
            ("a page stands beside the dictionary", vec![&one, &data(3, 0, 8), &data(3, 0, 0)], 6),
            ("two values", vec![&dictionary(8, 4, 2, 4), &data(3, 0, 8)], 3),
            ("other rows than it says", vec![&one, &data(3, 0, 8)], 4),
            (
                "a page of version 1",
                vec![&one, &[0x15, 0, 0x15, 0, 0x15, 0, 0x2c, 0x25, 16, 0, 0]],
                3,
            ),
        ] {
            assert_eq!(of(&pages, rows), Alike::Unknown, "{why}");
        }
    }

    #[test]
    fn nesting_and_lengths_without_end_are_no_header() {
        let deep = vec![0x5c; 100_000];
        let text = [0x18, 0xff, 0xff, 0xff, 0xff, 0x0f];
        let list = [0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f];
        for wrong in [&deep[..], &text, &list] {
            assert_eq!(
                check(wrong, 1).map_err(|error| error.found),
                Err("no page header".to_owned())
            );
        }
    }
}
