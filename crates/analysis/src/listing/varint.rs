//! Whole numbers in as few bytes as they need: seven bits a byte, the lowest first.

/// Appends a number: one byte below 128, ten at most.
pub(super) fn push(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Takes a number off the front; 0 where the bytes end early, which what [`push`] wrote never does.
pub(super) fn take(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    let mut shift = 0;
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
    0
}

/// Takes so many bytes off the front, or what there is.
pub(super) fn take_bytes<'a>(bytes: &mut &'a [u8], len: u64) -> &'a [u8] {
    let len = usize::try_from(len).unwrap_or(usize::MAX).min(bytes.len());
    let (head, rest) = bytes.split_at(len);
    *bytes = rest;
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_small_ones_take_a_byte() {
        let all = [0, 1, 127, 128, 300, 1 << 20, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut bytes = Vec::new();
        for value in all {
            push(&mut bytes, value);
        }
        let mut rest = bytes.as_slice();
        assert!(all.iter().all(|&value| take(&mut rest) == value) && rest.is_empty());
        let mut small = Vec::new();
        push(&mut small, 127);
        assert_eq!(small.len(), 1);
        assert_eq!(take(&mut &[0x80_u8][..]), 0);
    }
}
