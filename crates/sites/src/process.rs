//! What is known of one process: where its code is mapped, and which files that is.

use std::time::SystemTime;

use hotset_sys::proc::maps::CodeRegion;

use crate::binaries::{Binaries, BinaryIndex};
use crate::image::{Image, Mappings};
use crate::jit::PerfMap;
use crate::open::Roots;

/// After mappings were read in vain, for an address that is in none of them: how long until they are read again at the earliest.
/// Each time that is in vain too doubles the wait, up to [`LONGEST_WAIT_NS`].
const SHORTEST_WAIT_NS: u64 = 1_000_000;

/// See [`SHORTEST_WAIT_NS`].
const LONGEST_WAIT_NS: u64 = 1_000_000_000;

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
    /// 0 where the last read was not in vain.
    wait_ns: u64,
    map: PerfMap,
    /// When the map was read last, as `used` has it.
    map_read: u64,
    /// Which of the processes that were seen.
    pub(crate) serial: u32,
    /// When it was used last, by the count of samples that were unwound or named.
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
            wait_ns: 0,
            map: PerfMap::default(),
            map_read: 0,
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
            let longer = self.wait_ns.saturating_mul(2).clamp(SHORTEST_WAIT_NS, LONGEST_WAIT_NS);
            self.wait_ns = if found.is_some() { 0 } else { longer };
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

    /// The function that its perf map has at `address`, and how many bytes behind its beginning that is. Runtimes write a function's
    /// line just before they run it, and another into the memory of one that they gave up: the map is read on for each sample.
    pub(crate) fn function_at(&mut self, address: u64) -> Option<(&str, u64)> {
        if self.map_read != self.used {
            self.map_read = self.used;
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
        let code = Mappings::read(image).expect("this process").regions.remove(0);
        process.wait_ns = 0;
        assert!(process.owner_of(code.addresses.0, 10_000_000_000, &mut binaries).is_some());
        process.regions.clear();
        assert!(
            process.owner_of(code.addresses.0, 10_000_000_000, &mut binaries).is_some(),
            "what was found once is looked for at once"
        );
    }
}
