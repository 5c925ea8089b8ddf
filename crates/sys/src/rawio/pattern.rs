//! What test files hold: bytes that can be told from their offset, so that any read can be checked.

use hotset_facts::random::Random;

/// Fills `bytes` with what a file holds from `offset` on.
pub fn fill(bytes: &mut [u8], offset: u64) {
    let before = bytes.len().min((offset.next_multiple_of(8) - offset) as usize);
    let (first, rest) = bytes.split_at_mut(before);
    first.copy_from_slice(&word(offset / 8)[(offset % 8) as usize..][..before]);
    let mut index = offset.div_ceil(8);
    let (words, last) = rest.as_chunks_mut();
    for place in words {
        *place = word(index);
        index += 1;
    }
    last.copy_from_slice(&word(index)[..last.len()]);
}

fn word(index: u64) -> [u8; 8] {
    Random::at(index).to_le_bytes()
}

/// The first byte that is not what a file holds from `offset` on, as its offset in the file.
pub fn first_wrong(bytes: &[u8], offset: u64) -> Option<u64> {
    let mut wanted = vec![0; bytes.len()];
    fill(&mut wanted, offset);
    // One comparison of all of it is several times as fast as one of each byte, and almost always enough.
    if bytes == wanted {
        return None;
    }
    let wrong = bytes.iter().zip(&wanted).position(|(is, wanted)| is != wanted);
    wrong.map(|at| offset + at as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_is_a_part_of_the_whole_and_a_wrong_byte_is_found() {
        let mut whole = vec![0; 1000];
        fill(&mut whole, 0);
        for (offset, len) in [(0, 1000), (1, 20), (7, 1), (8, 8), (993, 7)] {
            let mut part = vec![0; len];
            fill(&mut part, offset as u64);
            assert_eq!(part, whole[offset..offset + len]);
            assert_eq!(first_wrong(&part, offset as u64), None);
        }
        whole[537] ^= 1;
        assert_eq!(first_wrong(&whole[500..], 500), Some(537));
        assert!(first_wrong(&whole[..500], 1).is_some());
    }
}
