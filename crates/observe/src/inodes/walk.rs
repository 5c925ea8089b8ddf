//! Walks over the inodes of every superblock, and which rows they should leave.

use std::sync::atomic::{AtomicBool, Ordering};

use hotset_facts::Reason;

use super::programs::Programs;
use super::record::{
    INODE_ROWS, PAGE_BUCKETS, Superblock, WALK_COMPLETE, WALK_GONE, WALK_MORE, Walk,
};
use crate::ObserveError;
use crate::record::zeroed;

/// Inodes a call at first: 40 ms during which one CPU does nothing else.
const FIRST_LIMIT: u32 = 1 << 18;
/// And where a walk was lost between two calls: 1 s. The kernel allows a loop no more.
const LAST_LIMIT: u32 = 1 << 23;
/// How often a walk that got lost begins anew.
const ATTEMPTS: u32 = 8;
/// A first guess at what the largest files have at least: 256 KiB with 4 KiB pages.
const FIRST_MIN_PAGES: u64 = 64;

const LOST: Reason = Reason::lost("its list of inodes changed at every attempt to follow it");
const STOPPED: Reason = Reason::not_measured("stopped before its end");

/// What was counted of all superblocks.
#[derive(Debug)]
pub(super) struct Pass {
    /// Each with its sums, in the order of the superblocks; those that are gone by now are left out.
    pub(super) walked: Vec<Walked>,
    /// Rows in the table.
    pub(super) rows: u64,
}

/// One superblock's.
#[derive(Debug)]
pub(super) struct Walked {
    pub(super) superblock: Superblock,
    pub(super) sums: Walk,
    pub(super) gap: Option<Reason>,
}

/// Counts everything, once or twice: the second time where the first guess gave too few rows or more than there is room.
pub(super) fn everything(
    programs: &mut Programs,
    superblocks: &[Superblock],
    wanted: u64,
    min_size_bytes: u64,
    stop: &AtomicBool,
) -> Result<Pass, ObserveError> {
    let pass = once(programs, superblocks, FIRST_MIN_PAGES, min_size_bytes, stop)?;
    let min_pages = threshold(&pass.sizes(), wanted, FIRST_MIN_PAGES);
    if min_pages == FIRST_MIN_PAGES || stop.load(Ordering::Relaxed) {
        return Ok(pass);
    }
    once(programs, superblocks, min_pages, min_size_bytes, stop)
}

impl Pass {
    fn sizes(&self) -> [u64; PAGE_BUCKETS] {
        let mut sum = [0; PAGE_BUCKETS];
        for walked in &self.walked {
            for (sum, count) in sum.iter_mut().zip(walked.sums.sizes) {
                *sum += count;
            }
        }
        sum
    }
}

/// The pages that a file must have to be among the `wanted` largest, as a power of two; as few files as possible, and
/// never more than there are rows. `tried` if that will do.
fn threshold(sizes: &[u64; PAGE_BUCKETS], wanted: u64, tried: u64) -> u64 {
    let at_least = |log: usize| sizes[log..].iter().sum::<u64>();
    let enough = |count: u64| count >= wanted.min(at_least(0)) && count <= INODE_ROWS;
    if enough(at_least(tried.ilog2() as usize)) {
        return tried;
    }
    let best = (0..PAGE_BUCKETS).rev().find(|&log| at_least(log) >= wanted).unwrap_or(0);
    // Where so many files are of one size, none of them is listed.
    let fits = (best..PAGE_BUCKETS).find(|&log| at_least(log) <= INODE_ROWS);
    let fits = fits.unwrap_or(PAGE_BUCKETS - 1);
    // Another pass that finds the same rows tells nothing new.
    if at_least(fits) == at_least(tried.ilog2() as usize) { tried } else { 1 << fits }
}

fn once(
    programs: &mut Programs,
    superblocks: &[Superblock],
    min_pages: u64,
    min_size_bytes: u64,
    stop: &AtomicBool,
) -> Result<Pass, ObserveError> {
    let mut pass = Pass { walked: Vec::new(), rows: 0 };
    for superblock in superblocks {
        let start = Walk {
            superblock: superblock.pointer,
            dev: superblock.dev,
            rows: pass.rows,
            min_pages,
            min_size_bytes,
            status: WALK_MORE,
            ..zeroed()
        };
        let (sums, gap) = follow(programs, &start, stop)?;
        if sums.status == WALK_GONE {
            continue;
        }
        pass.rows = sums.rows;
        pass.walked.push(Walked { superblock: *superblock, sums, gap });
    }
    Ok(pass)
}

/// One superblock to its end, again from its start where the list changed under the walk.
fn follow(
    programs: &mut Programs,
    start: &Walk,
    stop: &AtomicBool,
) -> Result<(Walk, Option<Reason>), ObserveError> {
    let mut walk = *start;
    for attempt in 0..ATTEMPTS {
        walk = *start;
        walk.limit = if attempt == 0 { FIRST_LIMIT } else { LAST_LIMIT };
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok((walk, Some(STOPPED)));
            }
            programs.inodes(&mut walk)?;
            if walk.status != WALK_MORE {
                break;
            }
        }
        if matches!(walk.status, WALK_COMPLETE | WALK_GONE) {
            return Ok((walk, None));
        }
    }
    Ok((walk, Some(LOST)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(counts: &[(usize, u64)]) -> [u64; PAGE_BUCKETS] {
        let mut sizes = [0; PAGE_BUCKETS];
        counts.iter().for_each(|&(log, count)| sizes[log] = count);
        sizes
    }

    #[test]
    fn a_guess_that_gives_enough_rows_stays() {
        assert_eq!(threshold(&sizes(&[(0, 1_000_000), (6, 40)]), 30, 64), 64);
        assert_eq!(threshold(&sizes(&[(9, 3)]), 30, 64), 64, "there are no more");
    }

    #[test]
    fn too_few_rows_ask_for_smaller_files() {
        assert_eq!(threshold(&sizes(&[(0, 500), (3, 20), (8, 10)]), 30, 64), 8);
        assert_eq!(threshold(&sizes(&[(0, 500), (8, 10)]), 30, 64), 1);
    }

    #[test]
    fn more_files_than_rows_ask_for_larger_ones() {
        assert_eq!(threshold(&sizes(&[(6, 100_000), (9, 50)]), 30, 64), 512);
        // A million of one size: none of them rather than an arbitrary choice.
        assert_eq!(threshold(&sizes(&[(0, 1_000_000), (8, 10)]), 30, 64), 64);
        assert_eq!(threshold(&sizes(&[(0, 1_000_000), (2, 9), (8, 10)]), 30, 64), 2);
    }
}
