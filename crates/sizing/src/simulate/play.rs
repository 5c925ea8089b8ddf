//! One run of all requests, at one limit.

use crate::ahead::Ahead;
use crate::policy::{Found, Policy, Touch};
use crate::references::{References, Request, RequestKind};

use super::bits::Bits;
use super::reading::Reading;
use super::room::Room;
use super::{Costs, LimitOutcome};

/// What changes from request to request.
pub(super) struct Run<'a, P> {
    pub(super) policy: P,
    pub(super) room: Room<'a>,
    /// Pages that were read ahead and not asked for since.
    pub(super) unasked: Bits,
    /// Those of them that had been evicted.
    pub(super) again: Bits,
    /// Pages that make the kernel read on when they are asked for (`PG_readahead`).
    pub(super) marked: Bits,
    pub(super) outcome: LimitOutcome,
    pub(super) costs: &'a Costs,
}

/// Plays all requests to a policy.
pub(super) fn run(
    references: &References,
    policy: impl Policy,
    limit_pages: u64,
    costs: &Costs,
) -> LimitOutcome {
    let (pages, mut reading) = (references.numbers(), Reading::of(references));
    let is_recorded = reading.is_none();
    let mut run = Run {
        policy,
        room: Room::new(references, limit_pages),
        unasked: Bits::new(pages, is_recorded && !references.reads_ahead()),
        again: Bits::new(pages, is_recorded && !references.reads_ahead()),
        marked: Bits::new(pages, is_recorded),
        outcome: LimitOutcome::new(limit_pages),
        costs,
    };
    let mut ahead = Ahead::of(references.pages());
    for (place, (request, pages)) in references.iter().enumerate() {
        run.outcome.written_pages += run.room.pass(place, &mut run.policy);
        ahead.pass(pages.len(), &run.policy);
        run.outcome.clock_ns += u64::from(request.own_ns);
        if let Some(reading) = &mut reading
            && let Some(opened) = reading.opened(place)
        {
            run.read_through(reading, opened, first_touch(request), pages);
        } else if request.kind.is_reference() {
            run.play(request, pages);
        } else {
            run.pass_over(request.kind, pages);
        }
    }
    let mut outcome = run.outcome;
    outcome.waited_ns = (outcome.misses + outcome.ahead) * u64::from(costs.miss_ns);
    outcome.misses_by_phase = (outcome.misses, outcome.misses);
    outcome
}

impl<P: Policy> Run<'_, P> {
    /// Requests without references; not among the code of those with, which is what takes time.
    #[inline(never)]
    fn pass_over(&mut self, kind: RequestKind, pages: &[u32]) {
        match kind {
            RequestKind::Remove => pages.iter().for_each(|&page| self.remove(page)),
            RequestKind::Sync => {
                let dirty = pages.iter().filter(|&&page| self.policy.sync(page)).count();
                self.outcome.written_pages += dirty as u64;
            }
            RequestKind::Ahead => self.read_ahead(pages),
            RequestKind::MapAround => self.map_around(pages),
            _ => {}
        }
    }

    fn play(&mut self, request: &Request, pages: &[u32]) {
        let mut next_touch = first_touch(request);
        for &page in pages {
            let touch = next_touch;
            if touch == Touch::ReadSamePage {
                next_touch = Touch::Read;
            }
            self.policy.advance(self.outcome.clock_ns);
            if self.room.holds(page) {
                self.count(Found::Hit);
                continue;
            }
            let outcome = self.policy.touch(page, touch);
            self.outcome.written_pages += u64::from(outcome.written);
            self.asked(page, outcome.found);
            if request.kind == RequestKind::Code {
                self.outcome.written_pages += self.room.hold(page, &mut self.policy);
            }
        }
        self.outcome.references += pages.len() as u64;
    }

    fn read_ahead(&mut self, pages: &[u32]) {
        for &page in pages {
            self.policy.advance(self.outcome.clock_ns);
            if self.room.holds(page) {
                continue;
            }
            // A page that is cached stays as it is.
            let outcome = self.policy.touch(page, Touch::ReadSamePage);
            self.outcome.written_pages += u64::from(outcome.written);
            if outcome.found != Found::Hit {
                self.brought(page, outcome.found);
            }
        }
    }

    /// A page was read that nobody asked for so far.
    pub(super) fn brought(&mut self, page: u32, found: Found) {
        self.marked.take(page);
        self.unasked.add(page);
        match found {
            Found::Refault => self.again.add(page),
            _ => self.again.take(page),
        };
        self.outcome.ahead += 1;
        self.outcome.clock_ns += u64::from(self.costs.miss_ns);
    }

    fn map_around(&mut self, pages: &[u32]) {
        for &page in pages.iter().filter(|&&page| !self.room.holds(page)) {
            if self.policy.has(page) {
                self.policy.touch(page, Touch::Code);
            }
        }
    }

    /// A page that is gone is not in use.
    fn remove(&mut self, page: u32) {
        if self.room.release(page) {
            self.policy.set_limit(self.room.left());
        }
        self.policy.remove(page);
    }

    /// A page was asked for, and found so.
    #[inline]
    pub(super) fn asked(&mut self, page: u32, found: Found) {
        if !self.unasked.take(page) || found != Found::Hit {
            if found != Found::Hit {
                self.marked.take(page);
            }
            self.count(found);
            return;
        }
        // Its reading took its time when it was read ahead.
        self.outcome.misses += 1;
        self.outcome.ahead -= 1;
        self.outcome.refaults += u64::from(self.again.take(page));
    }

    pub(super) fn count(&mut self, found: Found) {
        let (outcome, costs) = (&mut self.outcome, self.costs);
        outcome.clock_ns += u64::from(match found {
            Found::Hit | Found::Written => costs.hit_ns,
            Found::Miss | Found::Refault => costs.miss_ns,
        });
        match found {
            Found::Hit => outcome.hits += 1,
            Found::Written => outcome.filled += 1,
            Found::Miss => outcome.misses += 1,
            Found::Refault => {
                outcome.misses += 1;
                outcome.refaults += 1;
            }
        }
    }
}

/// How a request uses its first page; only where a read goes on in the same page, the others differ.
fn first_touch(request: &Request) -> Touch {
    match request.kind {
        RequestKind::WriteWhole => Touch::WriteWhole,
        RequestKind::WritePart => Touch::WritePart,
        RequestKind::Fault => Touch::Fault,
        RequestKind::Code => Touch::Code,
        RequestKind::RandomFault => Touch::RandomFault,
        _ if request.continues => Touch::ReadSamePage,
        _ => Touch::Read,
    }
}
