//! A frame cut down to what a recording keeps.

use std::collections::HashSet;

use hotset_facts::LiveIo;

use super::column::Column;
use super::frame::TopFrame;
use super::item::{Lines, Unlisted};

/// Lines of each kind that a recording keeps of an interval, unless it was told another number.
pub const RECORDED_LINES: usize = 50;

/// By what lines are kept: the most of each of these, a part each.
const KEPT_BY: [Column; 6] = [
    Column::Hits,
    Column::Misses,
    Column::Dirties,
    Column::DeviceRead,
    Column::Direct,
    Column::Faults,
];

impl TopFrame {
    /// The same frame with at most `lines` lines of each kind, those that did most; the rest is summed up. Of what
    /// processes did to files, that between the lines that stay.
    pub fn bounded(&self, lines: usize) -> Self {
        let [processes, files, groups] = [0, 1, 2].map(|kind| busiest(&self.lines[kind], lines));
        let place = |kept: &[u32], index: u32| {
            kept.binary_search(&index).ok().and_then(|place| u32::try_from(place).ok())
        };
        let mut pairs: Vec<_> = self
            .pairs
            .iter()
            .filter_map(|pair| {
                let process = place(&processes, pair.process)?;
                let file = place(&files, pair.file)?;
                Some(hotset_facts::LiveRow { process, file, io: pair.io.clone() })
            })
            .collect();
        pairs.sort_by_cached_key(|pair| std::cmp::Reverse(activity(&pair.io.unpack())));
        pairs.truncate(lines.saturating_mul(4));
        let mut unlisted = self.unlisted;
        let mut cut = |kind: usize, kept: &[u32]| {
            let (lines, left) = select(&self.lines[kind], kept);
            unlisted[kind].items += left.items;
            unlisted[kind].io.add(&left.io);
            lines
        };
        let lines = [cut(0, &processes), cut(1, &files), cut(2, &groups)];
        Self {
            lines,
            pairs,
            unlisted,
            host: self.host.clone(),
            losses: self.losses.clone(),
            ..*self
        }
    }
}

/// How much was done, for choosing whom to keep: pages of any kind. Bytes are taken in pages of 4 KiB.
pub(super) fn activity(io: &LiveIo) -> u64 {
    let bytes =
        [io.direct_read_bytes, io.direct_write_bytes, io.device_read_bytes, io.device_write_bytes];
    let pages = [io.read_pages, io.write_pages, io.faults, io.readahead_pages];
    let sum = |numbers: &[u64]| numbers.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    sum(&pages).saturating_add(sum(&bytes) / 4096)
}

/// The indices of the lines that did most, ascending: the first half by all that was done, the rest by each column.
fn busiest(lines: &Lines, wanted: usize) -> Vec<u32> {
    let all: Vec<u32> = (0..u32::try_from(lines.len()).unwrap_or(u32::MAX)).collect();
    if all.len() <= wanted {
        return all;
    }
    let io = |index: u32| lines.io(index as usize).unwrap_or_default();
    let first_by = |measure: &dyn Fn(&LiveIo) -> u64, count: usize| {
        let mut keyed: Vec<(u64, u32)> = all.iter().map(|&i| (measure(&io(i)), i)).collect();
        if count < keyed.len() {
            keyed.select_nth_unstable_by(count, |a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            keyed.truncate(count);
        }
        keyed.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        keyed.into_iter().filter(|(measure, _)| *measure > 0).map(|(_, index)| index)
    };
    let mut kept: HashSet<u32> = HashSet::new();
    let share = wanted / 2 / KEPT_BY.len();
    for column in KEPT_BY {
        let measure = |io: &LiveIo| match column.value(io) {
            super::Value::Count(n) | super::Value::Bytes(n) => n,
            _ => 0,
        };
        kept.extend(first_by(&measure, share));
    }
    for index in first_by(&activity, wanted) {
        if kept.len() >= wanted {
            break;
        }
        kept.insert(index);
    }
    let mut kept: Vec<u32> = kept.into_iter().collect();
    kept.sort_unstable();
    kept
}

/// The lines `kept`, and the sum of the others.
fn select(lines: &Lines, kept: &[u32]) -> (Lines, Unlisted) {
    let mut left = Unlisted::default();
    let mut next = kept.iter().peekable();
    for index in 0..lines.len() {
        if next.peek().is_some_and(|kept| **kept as usize == index) {
            next.next();
        } else if let Some(io) = lines.io(index) {
            left.add(&io);
        }
    }
    (lines.at(kept.iter().map(|&index| index as usize)), left)
}
