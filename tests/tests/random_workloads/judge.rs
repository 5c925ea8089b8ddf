//! A profile beside the books.

use std::collections::BTreeMap;

use hotset_tests::filesystems::Kind;
use hotset_tests::{PAGE, number, process_row};
use serde_json::Value;

use crate::books::{Books, Counts, Requests, by_file};

/// What differs, one a line; nothing where all is as the processes counted it.
pub(crate) fn differences(
    profile: &Value,
    books: &[Books],
    kind: Kind,
    device: Option<&str>,
    block: u64,
) -> Vec<String> {
    let mut found = Vec::new();
    for loss in ["/sensor/events_lost", "/sensor/entries_lost"] {
        equal(&mut found, loss, number(profile, loss), 0);
    }
    let mut rows = rows_by_file(profile);
    for ((dev, ino), counts) in by_file(books) {
        let dev = device.map_or(dev, str::to_owned);
        let seen = rows.remove(&(dev.clone(), ino)).unwrap_or_default();
        let what = format!("file {dev} {ino}");
        compare(&mut found, &what, &seen, &counts, kind);
        if kind.has_device() {
            within(&mut found, &what, &seen, &counts, block);
        }
    }
    for of in books {
        let what = format!("process {}", of.pid);
        let Some(row) = process_row(profile, of.pid) else {
            found.push(format!("{what}: no row"));
            continue;
        };
        let mut counts = of.sum();
        counts.syncs += of.other_syncs;
        compare(&mut found, &what, &Seen::of(row), &counts, kind);
        for (pointer, wanted) in [
            ("/lookups/calls", of.lookups),
            ("/lookups/failed", of.failed_lookups),
            ("/mmap/major_faults", of.major_faults),
        ] {
            equal(&mut found, &format!("{what}: {pointer}"), number(row, pointer), wanted);
        }
        let (read, truly) = (number(row, "/device/read_bytes"), of.device_read_bytes);
        // Direct requests of a ring are counted as their results say, which are less or more than the device's blocks.
        if read.abs_diff(truly) > of.ring_slack() {
            found.push(format!("{what}: seen {read} bytes from devices, truly {truly}"));
        }
    }
    found
}

/// What a row, or several of one file, say.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    read: Requests,
    write: Requests,
    direct_read: Requests,
    direct_write: Requests,
    syncs: u64,
    pages: Pages,
}

/// Pages that the device or nothing at all was read for.
#[derive(Debug, Clone, Copy, Default)]
struct Pages {
    /// Bytes, this one.
    device: u64,
    from_device: u64,
    misses: u64,
    zeros: u64,
    by_faults: u64,
    ahead: u64,
    for_writes: u64,
}

impl std::ops::Add for Pages {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            device: self.device + other.device,
            from_device: self.from_device + other.from_device,
            misses: self.misses + other.misses,
            zeros: self.zeros + other.zeros,
            by_faults: self.by_faults + other.by_faults,
            ahead: self.ahead + other.ahead,
            for_writes: self.for_writes + other.for_writes,
        }
    }
}

impl Seen {
    fn of(row: &Value) -> Self {
        let group = |name: &str| Requests {
            calls: number(row, &format!("/{name}/calls")),
            bytes: number(row, &format!("/{name}/bytes")),
            pages: number(row, &format!("/{name}/pages")),
        };
        let direct = |name: &str| Requests {
            calls: number(row, &format!("/direct/{name}_calls")),
            bytes: number(row, &format!("/direct/{name}_bytes")),
            pages: 0,
        };
        Self {
            read: group("read"),
            write: group("write"),
            direct_read: direct("read"),
            direct_write: direct("write"),
            syncs: number(row, "/sync/calls"),
            pages: Pages {
                device: number(row, "/device/read_bytes"),
                from_device: number(row, "/read/from_device"),
                misses: number(row, "/read/misses"),
                zeros: number(row, "/read/zeros"),
                by_faults: number(row, "/mmap/pages_read"),
                ahead: number(row, "/readahead/pages"),
                for_writes: number(row, "/write/misses"),
            },
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            write: self.write + other.write,
            direct_read: self.direct_read + other.direct_read,
            direct_write: self.direct_write + other.direct_write,
            syncs: self.syncs + other.syncs,
            pages: self.pages + other.pages,
        }
    }
}

/// What the device read for a file bounds what is said of its pages: no more came from the device than was read, and no less
/// was read than came from it, was read ahead, or was needed for a write, and is not made of zeros. Of a page, blocks may be holes; and of some pages it is not told (`untold`).
fn within(found: &mut Vec<String>, what: &str, seen: &Seen, wanted: &Counts, block: u64) {
    let pages = seen.pages;
    let from_device = (pages.from_device + pages.by_faults).saturating_sub(wanted.untold);
    if from_device * block.min(PAGE) > pages.device {
        found.push(format!("{what}: more from the device than was read: {pages:?}"));
    }
    let read = (pages.misses + pages.ahead).saturating_sub(pages.zeros);
    let read = (read + pages.by_faults + pages.for_writes) * PAGE;
    // A direct read may go on in blocks past the end of the file, or fail after it has read some.
    if wanted.direct == 0 && pages.device > read {
        found.push(format!("{what}: more was read than is said: {pages:?}"));
    }
}

/// The rows of files; several rows may be of one number, which a later file was given again.
fn rows_by_file(profile: &Value) -> BTreeMap<(String, u64), Seen> {
    let mut rows = BTreeMap::<_, Seen>::new();
    for row in profile["files"].as_array().expect("files") {
        let (Some(dev), Some(ino)) = (row["dev"].as_str(), row["ino"].as_u64()) else { continue };
        let sum = rows.entry((dev.to_owned(), ino)).or_default();
        *sum = sum.and(Seen::of(row));
    }
    rows
}

fn compare(found: &mut Vec<String>, what: &str, seen: &Seen, wanted: &Counts, kind: Kind) {
    equal(found, &format!("{what}: syncs"), seen.syncs, wanted.syncs);
    let sides = [
        ("read", seen.read, wanted.read, seen.direct_read, wanted.direct_read),
        ("write", seen.write, wanted.write, seen.direct_write, wanted.direct_write),
    ];
    for (name, seen, wanted, seen_direct, wanted_direct) in sides {
        let (is_write, name) = (name == "write", format!("{what}: {name}"));
        match kind {
            // O_DIRECT is taken, and everything is cached all the same.
            Kind::Tmpfs => {
                equal(found, &name, seen, wanted + wanted_direct);
                equal(found, &format!("{name} past the cache"), seen_direct.calls, 0);
            }
            // Which of the calls with O_DIRECT pass the cache is for the file system to say.
            Kind::Btrfs => {
                let (seen, wanted) = (seen + seen_direct, wanted + wanted_direct);
                equal(found, &name, (seen.calls, seen.bytes), (wanted.calls, wanted.bytes));
            }
            // Where pages that another has in use are in the way, such a write goes through the cache.
            Kind::Ext4 | Kind::Xfs | Kind::Overlay
                if is_write && seen_direct.bytes < wanted_direct.bytes =>
            {
                let (seen, wanted) = (seen + seen_direct, wanted + wanted_direct);
                equal(found, &name, seen.bytes, wanted.bytes);
                // Of one that did so in part, each part is a call.
                let parts = wanted.calls..=wanted.calls + wanted_direct.calls;
                if !parts.contains(&seen.calls) {
                    found.push(format!("{name}: seen {seen:?}, done {wanted:?}"));
                }
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

fn equal<T: PartialEq + std::fmt::Debug>(found: &mut Vec<String>, what: &str, seen: T, wanted: T) {
    if seen != wanted {
        found.push(format!("{what}: seen {seen:?}, done {wanted:?}"));
    }
}
