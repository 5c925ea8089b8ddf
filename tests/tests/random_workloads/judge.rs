//! A profile beside the books.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use hotset_tests::books::{Books, Counts, Requests, by_file};
use hotset_tests::filesystems::Kind;
use hotset_tests::{PAGE, number, process_row};
use serde_json::Value;

use crate::seen::Seen;

/// The least that a device reads or writes.
const SECTOR: u64 = 512;

/// By device and inode number.
pub(crate) type Rows = BTreeMap<(String, u64), Seen>;

/// What differs, one a line; nothing where all is as the processes counted it.
pub(crate) fn differences(
    profile: &Value,
    books: &[Books],
    kind: Kind,
    device: Option<&str>,
    block: u64,
) -> Vec<String> {
    let mut found = Vec::new();
    for (cause, lost) in profile["sensor"]["losses"].as_object().expect("losses") {
        equal(&mut found, &format!("lost: {cause}"), lost.as_u64(), Some(0));
    }
    judge_files(&mut found, &rows_by_file(profile), books, kind, device, block);
    for of in books {
        let what = format!("process {}", of.pid);
        let Some(row) = process_row(profile, of.pid) else {
            found.push(format!("{what}: no row"));
            continue;
        };
        let mut counts = of.sum();
        counts.syncs += of.other_syncs;
        let seen = Seen::in_profile(row);
        compare(&mut found, &what, &seen, &counts, kind);
        for (pointer, wanted) in
            [("/lookups/calls", of.lookups), ("/lookups/failed", of.failed_lookups)]
        {
            equal(&mut found, &format!("{what}: {pointer}"), number(row, pointer), wanted);
        }
        let majors = number(row, "/mmap/major_faults");
        among(&mut found, &format!("{what}: major faults"), majors, major_faults(of, kind));
        judge_device(&mut found, &what, &seen, of);
    }
    found
}

/// Faults that had to read. Nothing is read into tmpfs here; that the kernel calls a fault major that waited until a hole was
/// punched (`shmem_fault()`) is no read. One by direct I/O that only makes a mapped page writable has no event
/// (docs/method.md).
pub(crate) fn major_faults(of: &Books, kind: Kind) -> RangeInclusive<u64> {
    if kind == Kind::Tmpfs {
        return 0..=0;
    }
    let open = of.majors_by_operation.get("read-into-a-mapping").copied().unwrap_or(0);
    of.major_faults - open..=of.major_faults
}

/// Every file of the books.
pub(crate) fn judge_files(
    found: &mut Vec<String>,
    rows: &Rows,
    books: &[Books],
    kind: Kind,
    device: Option<&str>,
    block: u64,
) {
    for ((dev, ino), counts) in by_file(books) {
        let dev = device.map_or(dev, str::to_owned);
        let what = format!("file {dev} {ino}");
        let seen = rows.get(&(dev, ino)).cloned().unwrap_or_default();
        compare(found, &what, &seen, &counts, kind);
        // Of compressed data a device reads less than the pages.
        if kind.has_device() && kind != Kind::Compressed {
            within(found, &what, &seen, &counts, kind, block);
        }
    }
}

/// What the kernel counts of the process's reads. Of a ring's direct reads the results are counted: as many bytes more as they
/// read of holes, as many less as blocks were read that are not in the result.
pub(crate) fn judge_device(found: &mut Vec<String>, what: &str, seen: &Seen, of: &Books) {
    let (read, truly) = (seen.n("device_read_bytes"), of.device_read_bytes);
    let least = truly.saturating_sub(of.ring_direct_asked - of.ring_direct_read);
    if !(least..=truly + of.ring_direct_read).contains(&read) {
        found.push(format!("{what}: seen {read} bytes from devices, truly {truly}"));
    }
}

/// What the device read for a file bounds what is said of its pages: no more came from the device than was read, and no less
/// was read than came from it, was read ahead, or was needed for a write, and is not made of zeros. A page can be a hole in all
/// blocks but one, and pages that are cached can be read once more (`Counts::edges`). Of a direct read the device reads the blocks that are asked for and no holes.
fn within(
    found: &mut Vec<String>,
    what: &str,
    seen: &Seen,
    wanted: &Counts,
    kind: Kind,
    block: u64,
) {
    let (n, device) = (|name: &str| seen.n(name), seen.n("device_read_bytes"));
    // Only these keep small files beside their inodes.
    let small = if kind == Kind::Xfs { 0 } else { wanted.small };
    let from_device = n("read_misses") + n("readahead_hits") + n("fault_pages");
    let from_device = from_device.saturating_sub(n("read_zeros") + small + wanted.cut);
    if (from_device + n("write_misses")) * block.min(PAGE) > device {
        found.push(format!("{what}: more from the device than was read: {wanted:?} {seen:?}"));
    }
    let read = (n("read_misses") + n("readahead_pages")).saturating_sub(n("read_zeros"));
    let read = (read + n("fault_pages") + n("write_misses")) * PAGE;
    let read = read + wanted.direct_asked + wanted.edges * block;
    if device > read && (wanted.edges == 0 || block >= PAGE) {
        found.push(format!("{what}: more was read than is said: {wanted:?} {seen:?}"));
    }
}

/// The rows of files; several rows may be of one number, which a later file was given again.
fn rows_by_file(profile: &Value) -> Rows {
    let mut rows = Rows::new();
    for row in profile["files"].as_array().expect("files") {
        let (Some(dev), Some(ino)) = (row["dev"].as_str(), row["ino"].as_u64()) else { continue };
        *rows.entry((dev.to_owned(), ino)).or_default() += &Seen::in_profile(row);
    }
    rows
}

pub(crate) fn compare(
    found: &mut Vec<String>,
    what: &str,
    seen: &Seen,
    wanted: &Counts,
    kind: Kind,
) {
    equal(found, &format!("{what}: syncs"), seen.n("sync_calls"), wanted.syncs);
    let sides =
        [("read", wanted.read, wanted.direct_read), ("write", wanted.write, wanted.direct_write)];
    for (name, wanted, wanted_direct) in sides {
        let (seen, seen_direct) = (seen.requests(name), seen.requests(&format!("direct_{name}")));
        let (is_write, name) = (name == "write", format!("{what}: {name}"));
        match kind {
            // O_DIRECT is taken, and everything is cached all the same.
            Kind::Tmpfs => {
                equal(found, &name, seen, wanted + wanted_direct);
                equal(found, &format!("{name} past the cache"), seen_direct.calls, 0);
            }
            // Which of the calls with O_DIRECT pass the cache, and with how much of it, is for the file system to say.
            Kind::Btrfs | Kind::Compressed => {
                split(found, &name, [seen, wanted], [seen_direct, wanted_direct]);
            }
            // None does.
            Kind::Journal => {
                equal(found, &name, seen.bytes, wanted.bytes + wanted_direct.bytes);
                split(found, &name, [seen, wanted], [seen_direct, wanted_direct]);
            }
            // Where pages that another has in use are in the way, such a write goes through the cache.
            Kind::Ext4 | Kind::Xfs | Kind::Overlay
                if is_write && seen_direct.bytes < wanted_direct.bytes =>
            {
                split(found, &name, [seen, wanted], [seen_direct, wanted_direct]);
            }
            Kind::Ext4 | Kind::Xfs | Kind::Overlay => {
                equal(found, &name, seen, wanted);
                let name = format!("{name} past the cache");
                let wanted = Requests { pages: 0, ..wanted_direct };
                equal(found, &name, seen_direct, wanted);
            }
        }
    }
}

/// Calls with O_DIRECT of which some went through the cache, in whole or in part: of one that did so in part, each part is a
/// call (a sendfile(2) on Btrfs that does not end with a block: its last piece). All bytes are seen, and nobody knows which;
/// the pages of what moved over are as many as its bytes fill.
fn split(found: &mut Vec<String>, what: &str, cached: [Requests; 2], direct: [Requests; 2]) {
    let ([seen, wanted], [seen_direct, wanted_direct]) = (cached, direct);
    equal(found, what, seen.bytes + seen_direct.bytes, wanted.bytes + wanted_direct.bytes);
    let moved = |seen: u64, wanted: u64| seen.checked_sub(wanted);
    let (Some(calls), Some(bytes), Some(pages)) = (
        moved(seen.calls, wanted.calls),
        moved(seen.bytes, wanted.bytes),
        moved(seen.pages, wanted.pages),
    ) else {
        found.push(format!("{what}: seen {seen:?}, done {wanted:?}"));
        return;
    };
    let direct = wanted_direct.calls.checked_sub(seen_direct.calls);
    // Each call is in one of both, or in both.
    let both = direct.and_then(|whole| calls.checked_sub(whole));
    let calls_fit = calls <= wanted_direct.calls
        // What passes the cache is at least a sector, and the rest a byte.
        && both.is_some_and(|both| both * SECTOR <= seen_direct.bytes && both <= bytes);
    let pages_fit = (bytes.div_ceil(PAGE)..=bytes / PAGE + 2 * calls).contains(&pages);
    if !calls_fit || !pages_fit {
        found.push(format!(
            "{what}: seen {seen:?} {seen_direct:?}, done {wanted:?} {wanted_direct:?}"
        ));
    }
}

pub(crate) fn among(found: &mut Vec<String>, what: &str, seen: u64, wanted: RangeInclusive<u64>) {
    if !wanted.contains(&seen) {
        found.push(format!("{what}: seen {seen}, done {wanted:?}"));
    }
}

pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(
    found: &mut Vec<String>,
    what: &str,
    seen: T,
    wanted: T,
) {
    if seen != wanted {
        found.push(format!("{what}: seen {seen:?}, done {wanted:?}"));
    }
}
