//! What is known of one process: where its code is mapped, and which files that is.

use std::time::{Duration, Instant, SystemTime};

use hotset_sys::proc::maps::CodeRegion;

use crate::binaries::{Binaries, BinaryIndex};
use crate::image::{Image, Mappings};
use crate::jit::PerfMap;
use crate::open::Roots;

/// How long after its mappings were read they are read again at the earliest, when an address is in none of them. Each time
/// that it was in vain doubles the wait, up to [`LONGEST_WAIT_NS`].
const SHORTEST_WAIT_NS: u64 = 1_000_000;

/// See [`SHORTEST_WAIT_NS`].
const LONGEST_WAIT_NS: u64 = 1_000_000_000;

/// How long a perf map is taken to be complete.
const MAP_WAIT: Duration = Duration::from_millis(10);

/// The same of one that lacks a function.
const MISSED_MAP_WAIT: Duration = Duration::from_millis(1);

/// Whose code an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A file that could be read, and the address as it states it.
    Binary(BinaryIndex, u64),
    /// A mapping, by its place in the list, whose file can't be read, and the offset in that.
    Unreadable(usize, u64),
    /// Memory without a file: code made at run time.
    Anonymous,
}

#[derive(Debug, Clone, Copy)]
enum Content {
    Unread,
    Binary(BinaryIndex),
    Unreadable,
}

/// A process while it runs one program, as its mappings were when they were read last.
pub(crate) struct Process {
    image: Image,
    regions: Vec<(CodeRegion, Content)>,
    mapped_at: SystemTime,
    read_ns: u64,
    wait_ns: u64,
    map: PerfMap,
    map_read: Option<Instant>,
    /// Which of the processes that were seen.
    pub(crate) serial: u32,
    /// When it was used last, by the count of samples.
    pub(crate) used: u64,
}

impl Process {
    /// Nothing of it was read yet.
    pub(crate) fn new(image: Image, now_ns: u64, serial: u32) -> Self {
        Self {
            image,
            regions: Vec::new(),
            mapped_at: SystemTime::UNIX_EPOCH,
            read_ns: now_ns,
            wait_ns: SHORTEST_WAIT_NS,
            map: PerfMap::default(),
            map_read: None,
            serial,
            used: 0,
        }
    }

    /// Whether none of its mappings are known.
    pub(crate) fn is_unread(&self) -> bool {
        self.regions.is_empty()
    }

    /// Reads its mappings, if it still runs what it did.
    pub(crate) fn read(&mut self) {
        if let Some(mappings) = Mappings::read(self.image) {
            self.take(mappings);
        }
    }

    /// Takes mappings that were read of it. Those that were there before keep their files.
    pub(crate) fn take(&mut self, mappings: Mappings) {
        let before = std::mem::take(&mut self.regions);
        self.mapped_at = mappings.at;
        let content_of = |region: &CodeRegion| {
            before
                .iter()
                .find(|(old, _)| old == region)
                .map_or(Content::Unread, |(_, known)| *known)
        };
        self.regions = mappings
            .regions
            .into_iter()
            .map(|region| {
                let content = content_of(&region);
                (region, content)
            })
            .collect();
    }

    /// Whose code `address` is. Mappings are read again where it is in none of those known, if that was not just done.
    pub(crate) fn owner_of(
        &mut self,
        address: u64,
        now_ns: u64,
        binaries: &mut Binaries,
    ) -> Option<Owner> {
        let at = self.region_at(address).or_else(|| {
            if now_ns.saturating_sub(self.read_ns) < self.wait_ns {
                return None;
            }
            self.read_ns = now_ns;
            self.read();
            let found = self.region_at(address);
            let doubled = self.wait_ns.saturating_mul(2).min(LONGEST_WAIT_NS);
            self.wait_ns = if found.is_some() { SHORTEST_WAIT_NS } else { doubled };
            found
        })?;
        let (region, content) = self.regions.get_mut(at)?;
        if region.file.path.as_os_str().is_empty() {
            return Some(Owner::Anonymous);
        }
        let offset = region.offset.saturating_add(address.saturating_sub(region.addresses.0));
        let kept = match *content {
            Content::Binary(index) => binaries.get(index).is_some(),
            Content::Unread => false,
            Content::Unreadable => true,
        };
        if !kept {
            let index = binaries.load(self.image.pid, region, self.mapped_at);
            *content = index.map_or(Content::Unreadable, Content::Binary);
        }
        let Content::Binary(index) = *content else {
            return Some(Owner::Unreadable(at, offset));
        };
        let stated = binaries.get(index).and_then(|binary| binary.address_of(offset));
        Some(stated.map_or(Owner::Unreadable(at, offset), |address| Owner::Binary(index, address)))
    }

    fn region_at(&self, address: u64) -> Option<usize> {
        let behind = self.regions.partition_point(|(region, _)| region.addresses.0 <= address);
        let at = behind.checked_sub(1)?;
        let (region, _) = self.regions.get(at)?;
        (address < region.addresses.1).then_some(at)
    }

    /// The path of what is mapped at `address`.
    pub(crate) fn module_at(&self, address: u64) -> Option<String> {
        let (region, _) = self.regions.get(self.region_at(address)?)?;
        Some(region.file.path.to_string_lossy().into_owned())
    }

    /// The same, where it may take a moment: until the map was read after the sample was taken.
    pub(crate) fn function_at_last(&mut self, address: u64) -> Option<(&str, u64)> {
        if self.function_at(address).is_none() && self.map.is_there() {
            std::thread::sleep(MISSED_MAP_WAIT);
        }
        self.function_at(address)
    }

    /// The function that its perf map has at `address`, and how many bytes behind its beginning that is. The map is read on, at
    /// most once in [`MAP_WAIT`], or in [`MISSED_MAP_WAIT`] where it has nothing there: runtimes write a function's line just before
    /// they run it.
    pub(crate) fn function_at(&mut self, address: u64) -> Option<(&str, u64)> {
        let wait = if self.map.find(address).is_some() { MAP_WAIT } else { MISSED_MAP_WAIT };
        if self.map_read.is_none_or(|last| last.elapsed() >= wait) {
            self.map_read = Some(Instant::now());
            self.map.refresh(&Roots::of(self.image.pid), self.image.pid);
        }
        self.map.find(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_nowhere_is_not_looked_for_again_and_again() {
        let image = Image::of(std::process::id()).expect("this process");
        let mut process = Process::new(image, 0, 0);
        let mut binaries = Binaries::default();
        let mut reads = Vec::new();
        for now_ns in (0..10_000_000_000).step_by(5_000_000) {
            assert_eq!(process.owner_of(8, now_ns, &mut binaries), None);
            reads.push(process.read_ns);
        }
        reads.dedup();
        // At 0, then after 1, 2, 4 ... 512 ms (of which 5 ms show every step), then once a second.
        assert!((17..=20).contains(&reads.len()), "{reads:?}");
    }
}
