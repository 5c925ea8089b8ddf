//! Which files keep a row of their own, where there are too many: those that matter most by some counter.

use std::cmp::Reverse;

use hotset_facts::FileRow;

/// What a file cost: pages from the device first, then time, then bytes.
pub(crate) fn cost(file: &FileRow) -> (u64, u64, u64) {
    let io = file.io();
    let read = io.read.value().unwrap_or_default();
    let write = io.write.value().unwrap_or_default();
    let time = io.time.value().unwrap_or_default();
    let faulted = io.mmap.pages_read.value().unwrap_or(0);
    (read.split().from_device + faulted, time.total_ns(), read.bytes + write.bytes)
}

/// What a file can matter by, besides its cost.
const MEASURES: usize = 7;

fn measures(file: &FileRow) -> [u64; MEASURES] {
    let io = file.io();
    let bytes = |a: Option<u64>, b: Option<u64>| a.unwrap_or(0).saturating_add(b.unwrap_or(0));
    let direct = io.direct.value().unwrap_or_default();
    [
        io.read.value().unwrap_or_default().bytes,
        io.write.value().unwrap_or_default().bytes,
        bytes(Some(direct.read_bytes), Some(direct.write_bytes)),
        bytes(io.device.read_bytes.value(), io.device.write_bytes.value()),
        io.sync.value().unwrap_or_default().time_ns,
        bytes(file.evicted_pages.value(), file.dropped_pages.value()),
        io.readahead.value().unwrap_or_default().wasted_pages,
    ]
}

/// Leaves `bound` files and gives the others: half of the places are for those with most of each measure, the rest for
/// the costliest. Who is among the first of many is among the first of a part, so it may be called as files come in.
pub(crate) fn split_off<T>(
    files: &mut Vec<T>,
    bound: usize,
    row: impl Fn(&T) -> &FileRow,
) -> Vec<T> {
    if files.len() <= bound {
        return Vec::new();
    }
    let measured: Vec<_> = files.iter().map(|file| measures(row(file))).collect();
    let mut kept = vec![false; files.len()];
    let mut places: Vec<usize> = (0..files.len()).collect();
    let share = bound / 2 / MEASURES;
    let mut keep_most = |measure: usize| {
        places.select_nth_unstable_by_key(share, |&place| Reverse(measured[place][measure]));
        for &place in &places[..share] {
            kept[place] |= measured[place][measure] > 0;
        }
    };
    (0..MEASURES).for_each(&mut keep_most);
    let room = bound - kept.iter().filter(|kept| **kept).count();
    let mut rest: Vec<usize> = (0..files.len()).filter(|&place| !kept[place]).collect();
    rest.sort_by_cached_key(|&place| Reverse(cost(row(&files[place]))));
    rest.iter().take(room).for_each(|&place| kept[place] = true);
    let mut kept = kept.into_iter();
    let is_left_out = |_: &mut T| !kept.next().unwrap_or(true);
    files.extract_if(.., is_left_out).collect()
}
