//! Requests in bytes of files become requests for numbered pages.

mod brought;
mod code;
mod held;
#[cfg(test)]
mod tests;
mod through;

use std::collections::HashMap;
use std::ops::Range;

use crate::index_nodes::NODE_PAGES;
use crate::page_ids::PageIds;
pub use crate::page_ids::TooMany;
use crate::references::{References, Request, RequestKind, RoomChange};
use code::Code;
use held::is_in;
use through::Through;

/// The page size of x86-64, in bytes: the unit of limits, references and simulations.
pub const PAGE_BYTES: u64 = 4096;

/// What one call transfers at most, in bytes (`MAX_RW_COUNT`, include/linux/fs.h).
const MOST_BYTES: u64 = 0x7fff_f000;

/// Bytes of a file, as one call asks for them: what is beyond 2 GiB less a page is left out, as by the kernel. Files are told apart by numbers of the caller's, below 2^31; a number that is used again is the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    /// The file.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

impl Bytes {
    fn end(&self) -> u64 {
        self.offset.saturating_add(self.len.min(MOST_BYTES))
    }

    /// The pages that they touch.
    fn pages(&self) -> Range<u64> {
        let first = self.offset / PAGE_BYTES;
        if self.len == 0 { first..first } else { first..(self.end() - 1) / PAGE_BYTES + 1 }
    }
}

/// Makes [`References`] of requests, in the order in which they were made.
///
/// Its memory is 12 bytes for a request and 4 for each page of it, with up to as much again while they grow, and 16 to 24 for
/// each page that the files have.
#[derive(Debug, Clone, Default)]
pub struct ReferencesBuilder {
    ids: PageIds,
    pages: Vec<u32>,
    requests: Vec<Request>,
    /// Time that passed since the last request.
    passed_ns: u64,
    /// The file and page where the last read through each open file description ended.
    last_reads: HashMap<u32, (u32, u64)>,
    /// Pages of each file that were written since they were last synced; some of them may have been removed.
    written: HashMap<u32, Vec<u64>>,
    /// A bit for each page number that is in `written`.
    is_written: Vec<u64>,
    /// Pages of each file that are cached for others, in ascending order.
    held: HashMap<u32, Vec<Range<u64>>>,
    held_requests: u64,
    room_changes: Vec<(usize, RoomChange)>,
    code: Code,
    through: Option<Through>,
}

impl ReferencesBuilder {
    /// Begins without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that from here on so many pages have room beside the limit.
    pub fn spare(&mut self, pages: u64) {
        self.room_changes.push((self.requests.len(), RoomChange::Spare(pages)));
    }

    /// Lets time pass before the next request, whatever the cache does.
    pub fn pass(&mut self, own_ns: u64) {
        self.passed_ns = self.passed_ns.saturating_add(own_ns);
    }

    /// Adds a read through an open file description, which is a number of the caller's.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn read(&mut self, bytes: &Bytes, description: u32) -> Result<(), TooMany> {
        let pages = bytes.pages();
        if pages.is_empty() {
            return Ok(());
        }
        let last = self.last_reads.insert(description, (bytes.file, pages.end - 1));
        let continues = last == Some((bytes.file, pages.start));
        self.push(bytes.file, pages, RequestKind::Read, continues)
    }

    /// Forgets an open file description, which is closed: its number may be used for another.
    pub fn close(&mut self, description: u32) {
        self.last_reads.remove(&description);
        if let Some(through) = &mut self.through {
            through.opens.close(description);
        }
    }

    /// Adds a write to a file that had `size_before` bytes. Pages of which a part stays as it was are read first, the others
    /// are not.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn write(&mut self, bytes: &Bytes, size_before: u64) -> Result<(), TooMany> {
        let pages = bytes.pages();
        if pages.is_empty() {
            return Ok(());
        }
        let first_byte = pages.start * PAGE_BYTES;
        let keeps_head = bytes.offset > first_byte && size_before > first_byte;
        let keeps_tail = bytes.end() < size_before.min(pages.end.saturating_mul(PAGE_BYTES));
        let from = pages.start + u64::from(keeps_head);
        let to = (pages.end - u64::from(keeps_tail)).max(from);
        let parts = [
            (pages.start..from, RequestKind::WritePart),
            (from..to, RequestKind::WriteWhole),
            (to..pages.end, RequestKind::WritePart),
        ];
        for (part, kind) in parts.into_iter().filter(|(part, _)| !part.is_empty()) {
            let first = self.pages.len();
            self.push(bytes.file, part.clone(), kind, false)?;
            self.mark_written(bytes.file, part, first);
        }
        Ok(())
    }

    /// Adds a touch of a mapped page; `is_random` where the mapping has `MADV_RANDOM`.
    ///
    /// # Errors
    /// There are more files or pages than can be numbered.
    pub fn fault(&mut self, file: u32, page: u64, is_random: bool) -> Result<(), TooMany> {
        let kind = if is_random { RequestKind::RandomFault } else { RequestKind::Fault };
        self.push(file, page..page.saturating_add(1), kind, false)
    }

    /// Adds that pages of a file leave the cache: the file was truncated or unlinked, or the program dropped them. A
    /// reference to one of them that follows is a first one.
    pub fn remove(&mut self, file: u32, pages: Range<u64>) {
        let first = self.pages.len();
        self.ids.forget(file, pages, &mut self.pages);
        for &id in &self.pages[first..] {
            if let Some(word) = self.is_written.get_mut(id as usize / 64) {
                *word &= !(1 << (id % 64));
            }
        }
        if !self.ids.knows(file) {
            self.written.remove(&file);
        }
        self.request(first, RequestKind::Remove, false);
    }

    /// Adds that what was written of a file was synced.
    pub fn sync(&mut self, file: u32) {
        let first = self.pages.len();
        self.take_written(file);
        self.request(first, RequestKind::Sync, false);
    }

    /// Adds that what was written of all files was synced.
    pub fn sync_all(&mut self) {
        let first = self.pages.len();
        // Sorted, so that the same requests make the same references.
        let mut files: Vec<u32> = self.written.keys().copied().collect();
        files.sort_unstable();
        for file in files {
            self.take_written(file);
        }
        self.request(first, RequestKind::Sync, false);
    }

    /// Ends the requests.
    pub fn finish(mut self) -> References {
        let end = self.pages.len();
        self.request(end, RequestKind::Read, false);
        let mut changes = self.room_changes;
        changes.extend(self.code.unused(self.requests.len()));
        changes.sort_by_key(|(from_request, _)| *from_request);
        let laid_out = self.through.take().zip(self.ids.keys());
        let read_ahead =
            laid_out.map(|(through, keys)| through.lay_out(keys, &mut self.pages, &mut changes));
        // Each request was counted as its pages were added.
        let references = References::new(self.pages, self.requests).unwrap_or_default();
        let index_pages = u64::from(self.ids.nodes().most()) * NODE_PAGES;
        let references = references.with_room_changes(changes).with_index_pages(index_pages);
        match read_ahead {
            Some(read_ahead) => references.with_read_ahead(read_ahead, self.ids.most()),
            None => references,
        }
    }

    fn push(
        &mut self,
        file: u32,
        pages: impl IntoIterator<Item = u64>,
        kind: RequestKind,
        continues: bool,
    ) -> Result<(), TooMany> {
        let first = self.pages.len();
        let mut numbered = Ok(());
        let held = self.held.get(&file).map_or(&[][..], Vec::as_slice);
        for page in pages {
            if is_in(held, page) {
                self.held_requests += u64::from(kind.is_reference());
                continue;
            }
            match self.ids.number(file, page) {
                Ok(id) => self.pages.push(id),
                Err(error) => {
                    numbered = Err(error);
                    break;
                }
            }
        }
        self.request(first, kind, continues);
        numbered
    }

    /// Makes a request of the page numbers from `first` on and of the time that passed, or several where one can't hold them.
    fn request(&mut self, first: usize, kind: RequestKind, continues: bool) {
        let most = u64::from(u32::MAX);
        let mut pages = (self.pages.len() - first) as u64;
        let mut continues = continues;
        while pages > 0 || self.passed_ns > 0 {
            let own = self.passed_ns.min(most);
            self.passed_ns -= own;
            let now = if self.passed_ns > 0 { 0 } else { pages.min(most) };
            pages -= now;
            self.requests.push(Request {
                pages: now as u32,
                own_ns: own as u32,
                kind,
                continues: continues && now > 0,
            });
            continues &= now == 0;
        }
    }

    fn mark_written(&mut self, file: u32, pages: Range<u64>, first: usize) {
        let held = self.held.get(&file).map_or(&[][..], Vec::as_slice);
        let pages = pages.filter(|page| !is_in(held, *page));
        let list = self.written.entry(file).or_default();
        for (page, &id) in pages.zip(&self.pages[first..]) {
            let (word, bit) = (id as usize / 64, 1 << (id % 64));
            if self.is_written.len() <= word {
                self.is_written.resize(word + 1, 0);
            }
            if self.is_written[word] & bit == 0 {
                self.is_written[word] |= bit;
                list.push(page);
            }
        }
    }

    /// Adds the numbers of a file's written pages to `pages`.
    fn take_written(&mut self, file: u32) {
        for page in self.written.remove(&file).unwrap_or_default() {
            let Some(id) = self.ids.known(file, page) else { continue };
            let Some(word) = self.is_written.get_mut(id as usize / 64) else { continue };
            if *word & 1 << (id % 64) != 0 {
                *word &= !(1 << (id % 64));
                self.pages.push(id);
            }
        }
    }
}
