//! The files that processes run, each read once.

use std::collections::HashMap;
use std::time::SystemTime;

use hotset_facts::Pid;
use hotset_facts::trace::Frame;
use hotset_sys::proc::maps::CodeRegion;

use crate::binary::{Binary, Names};
use crate::open::{self, FileKey, Roots};

/// Bytes that all files may take together before those that were used longest ago are let go.
const MAX_BYTES: usize = 256 << 20;

/// A file, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct BinaryIndex(u32);

struct Entry {
    key: FileKey,
    binary: Option<Binary>,
    bytes: usize,
    used: u64,
}

/// All of them, with what is kept of each within a bound.
#[derive(Default)]
pub(crate) struct Binaries {
    entries: Vec<Entry>,
    by_key: HashMap<FileKey, BinaryIndex>,
    bytes: usize,
    clock: u64,
}

impl Binaries {
    /// The file behind a mapping of `pid` that was there at `mapped_at`, read if it was not read yet; nothing where it can't be.
    pub(crate) fn load(
        &mut self,
        pid: Pid,
        region: &CodeRegion,
        mapped_at: SystemTime,
    ) -> Option<BinaryIndex> {
        let roots = Roots::of(pid);
        if region.file.id.ino == 0 {
            // The kernel has one `[vdso]` for all processes of 64 bits.
            let key = (0, 0, region.addresses.1.checked_sub(region.addresses.0)?, 0, 0);
            return self.find_or(key, || Binary::of_image(open::memory_of(pid, region)?));
        }
        let file = open::mapped(&roots, pid, region, mapped_at)?;
        let path = &region.file.path;
        self.find_or(open::key_of(&file)?, || Binary::of_file(file, path, roots))
    }

    fn find_or(
        &mut self,
        key: FileKey,
        read: impl FnOnce() -> Option<Binary>,
    ) -> Option<BinaryIndex> {
        let known = self.by_key.get(&key).copied();
        if let Some(index) = known
            && self.get(index).is_some()
        {
            return known;
        }
        let binary = read()?;
        let index = known.or_else(|| {
            let index = BinaryIndex(self.entries.len().try_into().ok()?);
            self.entries.push(Entry { key, binary: None, bytes: 0, used: 0 });
            self.by_key.insert(key, index);
            Some(index)
        })?;
        self.put(index, binary);
        Some(index)
    }

    fn put(&mut self, index: BinaryIndex, binary: Binary) {
        let bytes = binary.bytes();
        self.make_room(bytes);
        self.clock += 1;
        let used = self.clock;
        if let Some(entry) = self.entries.get_mut(index.0 as usize) {
            *entry = Entry { key: entry.key, binary: Some(binary), bytes, used };
            self.bytes += bytes;
        }
    }

    /// Lets go of files until `bytes` more fit, or none is left.
    fn make_room(&mut self, bytes: usize) {
        while self.bytes + bytes > MAX_BYTES {
            let kept = self.entries.iter_mut().filter(|entry| entry.binary.is_some());
            let Some(oldest) = kept.min_by_key(|entry| entry.used) else { return };
            oldest.binary = None;
            self.bytes -= std::mem::take(&mut oldest.bytes);
        }
    }

    /// A file that is still kept.
    pub(crate) fn get(&mut self, index: BinaryIndex) -> Option<&mut Binary> {
        self.clock += 1;
        let entry = self.entries.get_mut(index.0 as usize)?;
        entry.used = self.clock;
        entry.binary.as_mut()
    }

    /// The calls that an address of a file stands for, as [`Binary::frames`] has them; nothing where it is not kept any more.
    pub(crate) fn frames(
        &mut self,
        index: BinaryIndex,
        address: u64,
        returns: bool,
        module: &str,
    ) -> Option<Vec<Frame>> {
        let frames = self.get(index)?.frames(address, returns, module);
        self.weigh(index);
        Some(frames)
    }

    /// Gives a file names that were read of it.
    pub(crate) fn put_names(&mut self, index: BinaryIndex, names: Names) {
        if let Some(binary) = self.get(index) {
            binary.put_names(names);
            self.weigh(index);
        }
    }

    /// Counts what a file takes now, and lets go of others where that is too much.
    fn weigh(&mut self, index: BinaryIndex) {
        let Some(entry) = self.entries.get_mut(index.0 as usize) else { return };
        let bytes = entry.binary.as_ref().map_or(0, Binary::bytes);
        let before = std::mem::replace(&mut entry.bytes, bytes);
        self.bytes = self.bytes + bytes - before;
        self.make_room(0);
    }

    /// Bytes that all of them take.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}
