//! Reading a block's payload with an eye on where one is.

use crate::error::SnapshotError;

/// A place in a payload.
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    /// The next byte.
    pub(crate) at: usize,
    /// Where the payload begins in the file.
    base: u64,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], at: usize, base: u64) -> Self {
        Self { bytes, at, base }
    }

    /// The next byte's place in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(crate) fn byte(&mut self, expected: &'static str) -> Result<u8, SnapshotError> {
        self.take(1, expected).map(|bytes| bytes[0])
    }

    pub(crate) fn take(
        &mut self,
        count: usize,
        expected: &'static str,
    ) -> Result<&'a [u8], SnapshotError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.get(..count));
        let taken = taken
            .ok_or_else(|| SnapshotError::damaged(self.offset(), expected, "the block's end"))?;
        self.at += count;
        Ok(taken)
    }

    /// A number of at most `limit`, in as few bytes as it can be written.
    pub(crate) fn varint(
        &mut self,
        limit: u64,
        expected: &'static str,
    ) -> Result<u64, SnapshotError> {
        let start = self.offset();
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(expected)?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return Err(SnapshotError::damaged(
                    start,
                    expected,
                    "a number of more than 64 bits",
                ));
            }
            value |= bits << shift;
            if byte & 0x80 != 0 {
                continue;
            }
            if byte == 0 && shift > 0 {
                return Err(SnapshotError::damaged(start, expected, "a number with leading zeros"));
            }
            return if value <= limit {
                Ok(value)
            } else {
                Err(SnapshotError::damaged(start, expected, value))
            };
        }
        Err(SnapshotError::damaged(start, expected, "a number of more than 64 bits"))
    }

    pub(crate) fn signed(&mut self, expected: &'static str) -> Result<i64, SnapshotError> {
        let value = self.varint(u64::MAX, expected)?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Bytes behind their number. Nothing is allocated that isn't there.
    pub(crate) fn bytes(
        &mut self,
        limit: usize,
        expected: &'static str,
    ) -> Result<&'a [u8], SnapshotError> {
        let count = self.varint(limit as u64, expected)?;
        self.take(count as usize, expected)
    }

    pub(crate) fn text(
        &mut self,
        limit: usize,
        expected: &'static str,
    ) -> Result<String, SnapshotError> {
        let start = self.offset();
        text(self.bytes(limit, expected)?.to_vec(), start)
    }
}

/// Bytes at `offset` that should be UTF-8.
pub(crate) fn text(bytes: Vec<u8>, offset: u64) -> Result<String, SnapshotError> {
    String::from_utf8(bytes).map_err(|error| {
        SnapshotError::damaged(offset, "text in UTF-8", error.as_bytes().escape_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<u64, SnapshotError> {
        Cursor::new(bytes, 0, 0).varint(u64::MAX, "a number")
    }

    #[test]
    fn numbers_have_one_form() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::MAX / 2, u64::MAX] {
            let mut bytes = Vec::new();
            crate::encode::varint(&mut bytes, value);
            assert_eq!(read(&bytes).expect("a number"), value);
        }
        let refused: [&[u8]; 4] =
            [b"", b"\x80", b"\x81\x00", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"];
        for bytes in refused {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(&[0xff; 11]).is_err());
    }

    #[test]
    fn a_limit_holds() {
        assert_eq!(Cursor::new(&[7], 0, 0).varint(7, "at most 7").expect("a number"), 7);
        let error = Cursor::new(&[1, 8], 1, 100).varint(7, "at most 7").expect_err("too much");
        assert_eq!(error.to_string(), "damaged at byte 101: expected at most 7, found 8");
    }
}
