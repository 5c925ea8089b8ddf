//! The input of every prediction: which pages were asked for, in which order, by which requests.

use crate::read_ahead::ReadAhead;

/// What a request does with its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// read(2) and calls like it. A page that is not cached is read from the device.
    Read,
    /// A write of whole pages, or of pages behind the end of the file: they become dirty, and none is read first.
    WriteWhole,
    /// A write of parts of pages that exist: a page that is not cached is read from the device, then it becomes dirty.
    WritePart,
    /// A load or store through a mapping. That a store makes the page dirty is not modelled.
    Fault,
    /// The same through a mapping with `MADV_RANDOM`, whose use the kernel does not count as recent (`vma_has_recency()`,
    /// include/linux/mm_inline.h).
    RandomFault,
    /// An instruction is fetched for the first time. The page is in use from there on, and stays cached where there is room, until
    /// [`RoomChange::Unused`].
    Code,
    /// The kernel maps these pages of code beside the one of the request before, those that are cached, as if they were used too
    /// (`do_fault_around()`, mm/memory.c). They are no references.
    MapAround,
    /// The kernel reads the pages that are not cached, beside those of the request before: ahead, or around a mapped page. They are no
    /// references until they are asked for.
    Ahead,
    /// The pages leave the cache without being evicted: truncated, unlinked, `POSIX_FADV_DONTNEED`, or written directly.
    Remove,
    /// The pages are written to the device if they are dirty, and stay.
    Sync,
}

impl RequestKind {
    /// Whether its pages are references, which are hits or misses.
    pub fn is_reference(self) -> bool {
        !matches!(self, Self::MapAround | Self::Ahead | Self::Remove | Self::Sync)
    }
}

/// A request: some pages of [`References::pages`], those behind the pages of the request before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// How many pages belong to it; 0 where only time passes.
    pub pages: u32,
    /// Time that passes before it whatever the cache does, in nanoseconds. Longer pauses are several requests.
    pub own_ns: u32,
    /// What it does with its pages.
    pub kind: RequestKind,
    /// Its first page is the one where the read before through the same open file description ended. Such reads mark the page
    /// as accessed once (`filemap_read()`, mm/filemap.c: `pos_same_folio()`).
    pub continues: bool,
}

/// What happens to the room that pages of files have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoomChange {
    /// So many pages have room beside the limit from now on, because the program holds less than at its peak.
    Spare(u64),
    /// These pages of code are not in use any more.
    Unused(Vec<u32>),
}

/// Requests and their pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    pages: Vec<u32>,
    requests: Vec<Request>,
    room_changes: Vec<(usize, RoomChange)>,
    distinct: u32,
    /// Page numbers are below this one.
    numbers: u32,
    index_pages: u64,
    read_ahead: Option<ReadAhead>,
    /// Whether any request is [`RequestKind::Code`], and [`RequestKind::Ahead`]: found once, not by each simulation.
    has_code: bool,
    reads_ahead: bool,
}

/// Requests and pages that do not fit each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReferencesError {
    /// The requests ask for another number of pages than there are.
    #[error("the requests have {requested} pages, but there are {pages}")]
    Pages {
        /// The sum of [`Request::pages`].
        requested: u64,
        /// The number of page numbers.
        pages: u64,
    },
    /// A page number that is not below [`References::MAX_DISTINCT`].
    #[error("page number {page} is too high; the highest possible is {}", References::MAX_DISTINCT - 1)]
    PageNumber {
        /// The highest number.
        page: u32,
    },
}

impl References {
    /// Page numbers are below this one: 8 TiB of pages.
    pub const MAX_DISTINCT: u32 = 1 << 31;

    /// Puts page numbers and requests together. Page numbers should be dense: simulations keep about nine bytes for each
    /// number up to the highest, whether it comes up or not.
    ///
    /// # Errors
    /// The sum of the requests' pages must be the number of pages, and each page number below [`References::MAX_DISTINCT`].
    pub fn new(pages: Vec<u32>, requests: Vec<Request>) -> Result<Self, ReferencesError> {
        let requested = requests.iter().map(|request| u64::from(request.pages)).sum();
        if requested != pages.len() as u64 {
            return Err(ReferencesError::Pages { requested, pages: pages.len() as u64 });
        }
        let highest = pages.iter().max().copied();
        match highest {
            Some(page) if page >= Self::MAX_DISTINCT => Err(ReferencesError::PageNumber { page }),
            _ => {
                let distinct = highest.map_or(0, |page| page + 1);
                let has = |kind| requests.iter().any(|request| request.kind == kind);
                let (has_code, reads_ahead) = (has(RequestKind::Code), has(RequestKind::Ahead));
                let (room_changes, index_pages) = (Vec::new(), distinct.into());
                Ok(Self {
                    pages,
                    requests,
                    room_changes,
                    distinct,
                    numbers: distinct,
                    index_pages,
                    read_ahead: None,
                    has_code,
                    reads_ahead,
                })
            }
        }
    }

    /// With changes of the room for pages, each with the place of the first request for which it is so, in ascending order.
    /// [`crate::simulate()`] follows them; exact curves, which have no limit, don't.
    pub fn with_room_changes(mut self, changes: Vec<(usize, RoomChange)>) -> Self {
        self.room_changes = changes;
        self
    }

    /// The changes of the room for pages, each with the place of the first request for which it is so.
    pub fn room_changes(&self) -> &[(usize, RoomChange)] {
        &self.room_changes
    }

    /// The page numbers of all requests, in order.
    pub fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// The requests, in order.
    pub fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// The most pages that the files had at one time, as far as they were asked for or read ahead when it was recorded.
    pub fn distinct(&self) -> u32 {
        self.distinct
    }

    /// All page numbers are below this one.
    pub fn numbers(&self) -> u32 {
        self.numbers
    }

    /// How read calls read ahead, where that is simulated.
    pub(crate) fn read_ahead(&self) -> Option<&ReadAhead> {
        self.read_ahead.as_ref()
    }

    /// How many pages the page cache's index has room for, whose nodes are of 64 pages: more than [`Self::distinct`] where pages here and there
    /// in a file were asked for. Of files within one node, none. What [`crate::capacity`] needs.
    pub fn index_pages(&self) -> u64 {
        self.index_pages
    }

    pub(crate) fn has_code(&self) -> bool {
        self.has_code
    }

    pub(crate) fn reads_ahead(&self) -> bool {
        self.reads_ahead
    }

    pub(crate) fn with_index_pages(self, index_pages: u64) -> Self {
        Self { index_pages, ..self }
    }

    /// With reads that read ahead; at one time, the files had `distinct` pages.
    pub(crate) fn with_read_ahead(self, read_ahead: ReadAhead, distinct: u32) -> Self {
        let numbers = self.numbers.max(read_ahead.layout.numbers());
        Self { read_ahead: Some(read_ahead), distinct, numbers, ..self }
    }

    /// Each request with its pages.
    pub fn iter(&self) -> impl Iterator<Item = (&Request, &[u32])> {
        let mut rest = self.pages.as_slice();
        self.requests.iter().map(move |request| {
            // The constructor has seen that there are as many.
            let (pages, behind) = rest.split_at(rest.len().min(request.pages as usize));
            rest = behind;
            (request, pages)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_pages_must_fit() {
        let request =
            |pages| Request { pages, own_ns: 0, kind: RequestKind::Read, continues: false };
        let requests = vec![request(2), request(0), request(1)];
        let references = References::new(vec![0, 3, 1], requests.clone()).expect("they fit");
        assert_eq!(references.distinct(), 4);
        let parts: Vec<&[u32]> = references.iter().map(|(_, pages)| pages).collect();
        assert_eq!(parts, [&[0, 3][..], &[], &[1]]);
        let error = References::new(vec![0, 3], requests.clone());
        assert_eq!(error, Err(ReferencesError::Pages { requested: 3, pages: 2 }));
        let error = References::new(vec![0, u32::MAX, 1], requests);
        assert_eq!(error, Err(ReferencesError::PageNumber { page: u32::MAX }));
        assert_eq!(References::default().iter().count(), 0);
    }

    #[test]
    fn a_request_takes_twelve_bytes() {
        assert_eq!(size_of::<Request>(), 12);
    }
}
