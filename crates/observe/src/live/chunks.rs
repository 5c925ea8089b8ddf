//! Keeping room in the table of page ranges, for as long as a session lasts.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use libbpf_rs::{Map, MapCore};

use super::window::Window;
use crate::ObserveError;
use crate::batch;
use crate::record::{Chunk, ChunkKey, FileKey, PLANE_AHEAD, PLANE_UNFILLED, read};

/// A table that stays full is looked at at most so often.
const AGAIN: Duration = Duration::from_secs(1);
/// Entries of a plane in `hints`; plane 0 is that of pages read ahead.
const HINTS: u64 = 4096;

/// When the table is swept, and what it held then.
#[derive(Debug)]
pub(crate) struct Sweeper {
    limit: u64,
    /// How many chunks may have been made before the next sweep.
    sweep_at: u64,
    lost_before: u64,
    swept: Instant,
    /// What each chunk held at the last sweep that left the table full.
    seen: HashMap<ChunkKey, u64>,
}

impl Sweeper {
    pub(crate) fn new(limit: u64) -> Self {
        let seen = HashMap::new();
        Self { limit, sweep_at: limit * 3 / 4, lost_before: 0, swept: Instant::now(), seen }
    }

    /// Sweeps if it is time. `made` and `lost` count chunks since the session began. Says how many ranges were forgotten.
    pub(crate) fn run(
        &mut self,
        chunks: &Map<'_>,
        hints: &Window,
        made: u64,
        lost: u64,
    ) -> Result<u64, ObserveError> {
        let stuck = lost > self.lost_before && self.swept.elapsed() >= AGAIN;
        if made < self.sweep_at && !stuck {
            return Ok(0);
        }
        let failed = |error| ObserveError::table("chunks", error);
        let mut all: Vec<(ChunkKey, Chunk)> = Vec::new();
        batch::for_each(chunks, |key, chunk| {
            all.extend(read::<ChunkKey>(key).zip(read::<Chunk>(chunk)));
        })
        .map_err(failed)?;
        let choice = self.choose(&all);
        batch::delete(chunks, &choice.keys).map_err(failed)?;
        for (key, bits) in choice.forgotten.iter() {
            lower_hint(hints, key, *bits);
        }
        let kept = all.len().saturating_sub(choice.keys.len()) as u64;
        self.sweep_at = made + (self.limit * 3 / 4).saturating_sub(kept).max(self.limit / 16);
        self.lost_before = lost;
        self.swept = Instant::now();
        Ok(choice.forgotten.len() as u64)
    }

    /// The empty ones; where that leaves the table over three quarters full, also those that did not change since the last
    /// sweep and hold nothing but pages read ahead, until it is half full.
    fn choose(&mut self, all: &[(ChunkKey, Chunk)]) -> Choice {
        let is_empty = |chunk: &Chunk| chunk.bits.iter().flatten().all(|word| *word == 0);
        let (empty, full): (Vec<&(ChunkKey, Chunk)>, Vec<_>) =
            all.iter().partition(|(_, chunk)| is_empty(chunk));
        let mut keys: Vec<ChunkKey> = empty.iter().map(|(key, _)| *key).collect();
        let mut forgotten = Vec::new();
        let before = std::mem::take(&mut self.seen);
        if full.len() as u64 * 4 <= self.limit * 3 {
            return Choice { keys, forgotten };
        }
        let mut left = full.len() as u64;
        for (key, chunk) in full {
            let held = fingerprint(chunk);
            let waits = (0..chunk.bits.len())
                .filter(|plane| ![PLANE_AHEAD, PLANE_UNFILLED].contains(plane))
                .any(|plane| chunk.bits[plane].iter().any(|w| *w != 0));
            if left * 2 > self.limit && !waits && before.get(key) == Some(&held) {
                let bits = chunk.bits[PLANE_AHEAD].iter().map(|word| word.count_ones()).sum();
                keys.push(*key);
                forgotten.push((*key, bits));
                left -= 1;
            } else {
                self.seen.insert(*key, held);
            }
        }
        Choice { keys, forgotten }
    }
}

#[cfg(test)]
impl Sweeper {
    /// How many of these chunks would be forgotten.
    pub(crate) fn forgotten_of(&mut self, all: &[(ChunkKey, Chunk)]) -> usize {
        self.choose(all).forgotten.len()
    }
}

struct Choice {
    keys: Vec<ChunkKey>,
    /// With how many pages that are read ahead.
    forgotten: Vec<(ChunkKey, u32)>,
}

/// FNV-1a over the bits.
fn fingerprint(chunk: &Chunk) -> u64 {
    let words = chunk.bits.iter().flatten();
    words.fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| {
        (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    })
}

/// The programs skip the look-up where the hint says that nothing is pending: forgotten pages must not count.
fn lower_hint(hints: &Window, key: &ChunkKey, bits: u32) {
    let place = file_hash(&key.file) % HINTS;
    if let Some(hint) = hints.halves().get(place as usize) {
        hint.fetch_sub(bits, Ordering::AcqRel);
    }
}

/// `file_hash()` of the programs.
fn file_hash(key: &FileKey) -> u64 {
    let ino = key.ino.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let dev = u64::from(key.dev).wrapping_add(0x7F4A_7C15).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    (ino ^ dev) >> 40
}

/// Chunks that the table holds at most.
pub(crate) fn limit(chunks: &Map<'_>) -> u64 {
    u64::from(chunks.max_entries())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(chunk: u32, ahead: u64, wanted: u64) -> (ChunkKey, Chunk) {
        let mut bits = [[0; crate::record::CHUNK_WORDS]; crate::record::PLANES];
        bits[PLANE_AHEAD][0] = ahead;
        bits[3][1] = wanted;
        (
            ChunkKey { file: FileKey { ino: 1, dev: 2, generation: 3 }, chunk, pad: 0 },
            Chunk { bits },
        )
    }

    #[test]
    fn empty_ones_go_and_the_rest_stays_while_there_is_room() {
        let mut sweeper = Sweeper::new(8);
        let all = [chunk(0, 0, 0), chunk(1, 3, 0), chunk(2, 0, 1)];
        for _ in 0..2 {
            let choice = sweeper.choose(&all);
            assert_eq!(choice.keys.iter().map(|key| key.chunk).collect::<Vec<_>>(), [0]);
            assert!(choice.forgotten.is_empty());
        }
    }

    #[test]
    fn a_full_table_forgets_what_did_not_change() {
        let mut sweeper = Sweeper::new(8);
        let mut all: Vec<_> = (0..8).map(|i| chunk(i, 7, u64::from(i == 0))).collect();
        assert!(sweeper.choose(&all).keys.is_empty(), "seen for the first time");
        all[1] = chunk(1, 15, 0);
        let choice = sweeper.choose(&all);
        let chunks: Vec<u32> = choice.keys.iter().map(|key| key.chunk).collect();
        assert_eq!(
            chunks,
            [2, 3, 4, 5],
            "not the one that is waited for, nor the one that changed"
        );
        assert!(choice.forgotten.iter().all(|(_, pages)| *pages == 3));
    }
}
