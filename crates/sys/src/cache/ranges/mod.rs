//! Which pages of a file are cached and up to date, as runs.
//!
//! cachestat(2) leaves out what is empty in a few calls, however large the file is; mincore(2) then looks at single pages,
//! because only it tells a page that is being read in from one that can be read. Memory is bounded by one window.

use std::ops::ControlFlow;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread::sleep;
use std::time::Duration;

use hotset_facts::PageRange;
use rustix::io::Errno;

use super::open::name_of_fd;
use super::raw::{cachestat, mincore_pages};
use super::residency::{ResidencyCause, ResidencyError, may_trust_mincore};
use super::stacked::hides_pages;

/// Pages that mincore(2) is asked about at a time: below this, another cachestat(2) saves nothing.
const WINDOW_PAGES: u64 = 1 << 14;

/// The same where most pages are cached, so that there is little to leave out.
const DENSE_WINDOW_PAGES: u64 = 1 << 18;

/// Parts of a span that is too large for a window. cachestat(2) walks the folios of a part, so each level of parts costs as
/// much as asking for the whole once.
const PARTS: u64 = 64;

/// Pauses for pages that are being read in, in all: what failed to be read stays "being read" for ever.
const TIMEOUT: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_millis(2);

/// The runs of cached and up-to-date pages among the first `size_bytes` of a file, in file order, none touching the next.
///
/// A file cached in every second page has as many runs as cached pages: [`visit_ranges`] holds none of them.
///
/// # Errors
/// [`ResidencyCause::Denied`] where the kernel tells this user nothing that can be believed.
pub fn ranges(fd: impl AsFd, size_bytes: u64) -> Result<Vec<PageRange>, ResidencyError> {
    let mut found = Vec::new();
    let whole = PageRange { first: 0, count: crate::pages_of(size_bytes) };
    visit_ranges(fd, whole, |range| {
        found.push(range);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Hands each run of cached and up-to-date pages within `span` to `visit`, in file order, until that breaks.
///
/// # Errors
/// As [`ranges`]; what was visited before stays true.
pub fn visit_ranges(
    fd: impl AsFd,
    span: PageRange,
    visit: impl FnMut(PageRange) -> ControlFlow<()>,
) -> Result<(), ResidencyError> {
    let fd = fd.as_fd();
    let mut scan = Scan { fd, run: None, visit, vector: Vec::new(), patience: TIMEOUT };
    let source = source(fd).map_err(|cause| ResidencyError::new(&name_of_fd(fd), cause))?;
    match scan.look(span, source) {
        Ok(ControlFlow::Continue(())) => {
            // A run is only known to have ended when the next begins, or here.
            let _ = scan.flush();
            Ok(())
        }
        Ok(ControlFlow::Break(())) => Ok(()),
        Err((call, errno)) => {
            let cause = ResidencyCause::System { call, errno };
            Err(ResidencyError::new(&name_of_fd(fd), cause))
        }
    }
}

/// Whom to ask about this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// cachestat(2) for what is empty, mincore(2) for the rest.
    Both,
    Cachestat,
    Mincore,
}

fn source(fd: BorrowedFd<'_>) -> Result<Source, ResidencyCause> {
    let stat =
        rustix::fs::fstat(fd).map_err(|errno| ResidencyCause::System { call: "fstat", errno })?;
    let mincore = may_trust_mincore(fd, &stat);
    let cachestat = match cachestat(fd, 0, 1) {
        Ok(_) => !hides_pages(fd),
        Err(Errno::NOSYS | Errno::PERM) => false,
        Err(errno) => return Err(ResidencyCause::System { call: "cachestat", errno }),
    };
    match (cachestat, mincore) {
        (true, true) => Ok(Source::Both),
        (true, false) => Ok(Source::Cachestat),
        (false, true) => Ok(Source::Mincore),
        (false, false) => Err(ResidencyCause::Denied),
    }
}

type Looked = Result<ControlFlow<()>, (&'static str, Errno)>;

struct Scan<'fd, F> {
    fd: BorrowedFd<'fd>,
    /// Cached pages up to where the scan is, not handed on yet.
    run: Option<PageRange>,
    visit: F,
    vector: Vec<u8>,
    patience: Duration,
}

impl<F: FnMut(PageRange) -> ControlFlow<()>> Scan<'_, F> {
    fn look(&mut self, span: PageRange, source: Source) -> Looked {
        match source {
            Source::Both => self.narrow(span),
            Source::Cachestat => self.bisect(span),
            Source::Mincore => {
                parts(span, DENSE_WINDOW_PAGES, |part| self.window(part, None, Source::Mincore))
            }
        }
    }

    /// Leaves out what is empty.
    fn narrow(&mut self, span: PageRange) -> Looked {
        let cached = self.cached(span)?;
        if cached == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        let dense = span.count <= DENSE_WINDOW_PAGES && cached >= span.count / 2;
        if dense || span.count <= WINDOW_PAGES {
            return self.window(span, Some(cached), Source::Both);
        }
        let size = span.count.div_ceil(PARTS).next_multiple_of(WINDOW_PAGES);
        parts(span, size, |part| self.narrow(part))
    }

    /// Page by page; waits for what is being read in.
    fn window(&mut self, span: PageRange, cached: Option<u64>, source: Source) -> Looked {
        loop {
            let offset = byte_range(span).0;
            let uptodate = match mincore_pages(self.fd, offset, span.count, &mut self.vector) {
                Ok(uptodate) => uptodate,
                // Some file systems have files that can't be mapped.
                Err(Errno::NODEV) if source == Source::Both => return self.bisect(span),
                Err(errno) => return Err(("mincore", errno)),
            };
            if cached.is_none_or(|cached| cached <= uptodate) || self.patience.is_zero() {
                break;
            }
            sleep(PAUSE);
            self.patience = self.patience.saturating_sub(PAUSE);
            // It can also have been evicted meanwhile.
            if self.cached(span)? <= uptodate {
                break;
            }
        }
        let vector = std::mem::take(&mut self.vector);
        let mut flow = ControlFlow::Continue(());
        let mut first = span.first;
        for pages in vector.chunk_by(|a, b| a & 1 == b & 1) {
            let run = PageRange { first, count: pages.len() as u64 };
            first = run.end();
            if pages[0] & 1 == 1 {
                flow = self.add(run);
                if flow.is_break() {
                    break;
                }
            }
        }
        self.vector = vector;
        Ok(flow)
    }

    /// Without mincore(2): halves until a part is empty or full.
    fn bisect(&mut self, span: PageRange) -> Looked {
        let cached = self.cached(span)?;
        if cached == 0 {
            return Ok(ControlFlow::Continue(()));
        }
        if cached >= span.count {
            return Ok(self.add(span));
        }
        parts(span, span.count.div_ceil(2), |part| self.bisect(part))
    }

    fn cached(&self, span: PageRange) -> Result<u64, (&'static str, Errno)> {
        let (offset, len) = byte_range(span);
        cachestat(self.fd, offset, len)
            .map(|answer| answer.cached)
            .map_err(|errno| ("cachestat", errno))
    }

    fn add(&mut self, next: PageRange) -> ControlFlow<()> {
        if let Some(run) = &mut self.run
            && run.end() == next.first
        {
            run.count += next.count;
            return ControlFlow::Continue(());
        }
        let flow = self.flush();
        self.run = Some(next);
        flow
    }

    fn flush(&mut self) -> ControlFlow<()> {
        self.run.take().map_or(ControlFlow::Continue(()), &mut self.visit)
    }
}

/// Does something with each part of at most `size` pages, in order.
fn parts(span: PageRange, size: u64, mut each: impl FnMut(PageRange) -> Looked) -> Looked {
    let mut first = span.first;
    while first < span.end() {
        let count = size.min(span.end() - first);
        if each(PageRange { first, count })?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        first += count;
    }
    Ok(ControlFlow::Continue(()))
}

/// Offset and length in bytes.
pub(super) fn byte_range(span: PageRange) -> (u64, u64) {
    let page = crate::page_size();
    (span.first.saturating_mul(page), span.count.saturating_mul(page))
}

#[cfg(test)]
mod tests;
