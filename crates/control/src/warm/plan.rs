//! What there is to warm, before anything is.

use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use hotset_sys::cache::{self, ByteSpan};
use hotset_sys::tree::{Found, Selection, Visitor, walk};

/// Looking is work for a CPU and not for a device.
const THREADS: usize = 2;

/// Bytes of all files, in whole pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Plan {
    pub(super) cached_bytes: u64,
    pub(super) missing_bytes: u64,
}

impl Plan {
    pub(super) fn new(selection: &Selection, span: ByteSpan, stop: &AtomicBool) -> Self {
        let visitors = (0..THREADS).map(|_| PlanVisitor { span, plan: Self::default() }).collect();
        let walked = walk(selection, stop, visitors);
        walked.visitors.iter().fold(Self::default(), |sum, visitor| sum.plus(visitor.plan))
    }

    /// Bytes that are to be cached in the end, of which a budget lets only so many be fetched.
    pub(super) fn needed_bytes(&self, budget_bytes: u64) -> u64 {
        self.cached_bytes.saturating_add(self.missing_bytes.min(budget_bytes))
    }

    fn plus(self, other: Self) -> Self {
        Self {
            cached_bytes: self.cached_bytes.saturating_add(other.cached_bytes),
            missing_bytes: self.missing_bytes.saturating_add(other.missing_bytes),
        }
    }
}

struct PlanVisitor {
    span: ByteSpan,
    plan: Plan,
}

impl Visitor for PlanVisitor {
    fn file(&mut self, file: &Found<'_>) {
        let page = hotset_sys::page_size();
        let pages = self.span.pages(file.size_bytes);
        // Where nobody tells, all of it may be missing.
        let cached = cache::seen_pages(file.fd, pages).unwrap_or(0).min(pages.count);
        let missing = pages.count - cached;
        self.plan = self.plan.plus(Plan {
            cached_bytes: cached.saturating_mul(page),
            missing_bytes: missing.saturating_mul(page),
        });
    }

    // The walk that warms says so.
    fn unreadable(&mut self, _: &Path, _: &dyn Display) {}
}
