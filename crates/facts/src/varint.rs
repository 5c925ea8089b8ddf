//! Counters in few bytes: which are not zero, and these in as many bytes as each needs (LEB128, seven bits a byte).
//!
//! Most counters of a file or a process are zero, and most others are small: about 20 bytes in place of hundreds.

/// Counters at most.
pub(crate) const MAX_COUNTERS: usize = u128::BITS as usize;
/// Bytes of a number of 64 bits.
const MAX_BYTES: usize = 10;

/// Puts counters into bytes, in their order.
pub(crate) struct Packer {
    nonzero: u128,
    place: usize,
    bytes: [u8; MAX_COUNTERS * MAX_BYTES],
    length: usize,
}

impl Packer {
    pub(crate) fn new() -> Self {
        Self { nonzero: 0, place: 0, bytes: [0; MAX_COUNTERS * MAX_BYTES], length: 0 }
    }

    /// The next counter.
    pub(crate) fn put(&mut self, counter: u64) {
        if counter != 0 {
            self.nonzero |= 1 << self.place;
            self.length += write(&mut self.bytes[self.length..], counter);
        }
        self.place += 1;
    }

    /// All of them; nothing on the heap where all are zero.
    pub(crate) fn finish(self) -> Box<[u8]> {
        if self.nonzero == 0 {
            return Box::default();
        }
        let mut head = [0; 2 * MAX_BYTES];
        let mut length = write(&mut head, self.nonzero as u64);
        length += write(&mut head[length..], (self.nonzero >> 64) as u64);
        [&head[..length], &self.bytes[..self.length]].concat().into_boxed_slice()
    }
}

/// Takes counters out of bytes, in their order.
pub(crate) struct Unpacker<'a> {
    nonzero: u128,
    bytes: &'a [u8],
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(mut bytes: &'a [u8]) -> Self {
        let low = read(&mut bytes);
        let high = read(&mut bytes);
        Self { nonzero: u128::from(low) | u128::from(high) << 64, bytes }
    }

    /// The next counter.
    pub(crate) fn take(&mut self) -> u64 {
        let is_zero = self.nonzero & 1 == 0;
        self.nonzero >>= 1;
        if is_zero { 0 } else { read(&mut self.bytes) }
    }
}

/// Writes a number, and says how many bytes that took.
fn write(bytes: &mut [u8], mut number: u64) -> usize {
    let mut length = 0;
    for byte in bytes {
        length += 1;
        *byte = number as u8 & 0x7f;
        number >>= 7;
        if number == 0 {
            break;
        }
        *byte |= 0x80;
    }
    length
}

/// Takes a number off the front; 0 where nothing is left.
fn read(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 63 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_counters_come_back() {
        let edges = [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), 1 << 63, u64::MAX];
        let rows = [vec![0; MAX_COUNTERS], vec![u64::MAX; MAX_COUNTERS], edges.to_vec()];
        for counters in rows {
            let mut packer = Packer::new();
            counters.iter().for_each(|counter| packer.put(*counter));
            let bytes = packer.finish();
            let mut unpacker = Unpacker::new(&bytes);
            let back: Vec<u64> = counters.iter().map(|_| unpacker.take()).collect();
            assert_eq!(back, counters);
            assert_eq!(unpacker.take(), 0, "and nothing after them");
        }
    }

    #[test]
    fn what_is_zero_takes_no_room() {
        let mut packer = Packer::new();
        [0; 29].iter().for_each(|counter| packer.put(*counter));
        assert!(packer.finish().is_empty());
        let mut packer = Packer::new();
        [2, 3000, 1, 0, 0, 1, 90_000].iter().for_each(|counter| packer.put(*counter));
        assert_eq!(packer.finish().len(), 2 + 1 + 2 + 1 + 1 + 3);
    }
}
