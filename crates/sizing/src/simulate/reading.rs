//! Read calls with the kernel's read-ahead, which depends on what is cached.

use crate::policy::{Found, Policy, Touch};
use crate::read_ahead::{Opened, ReadAhead, Segment, State, Window};
use crate::references::References;

use super::bits::Bits;
use super::play::Run;

/// What changes from call to call.
pub(super) struct Reading<'a> {
    of: &'a ReadAhead,
    /// Of each open file description.
    states: Vec<State>,
    /// Pages of the call under way that were missing, and are counted.
    fetched: Bits,
}

/// A page of a call.
struct Asked {
    /// Its number, and the one of the last page of the call.
    page: u32,
    last: u32,
    /// The number of pages from it on.
    count: u64,
    is_first: bool,
}

impl<'a> Reading<'a> {
    /// None where read-ahead is that of the recording.
    pub(super) fn of(references: &'a References) -> Option<Self> {
        let of = references.read_ahead()?;
        let states = vec![State::NEW; of.opens.len()];
        Some(Self { of, states, fetched: Bits::new(references.numbers(), false) })
    }

    /// What the request with this place reads through, if its read-ahead is simulated.
    pub(super) fn opened(&self, place: usize) -> Option<Opened> {
        self.of.opens.of(place)
    }
}

impl<P: Policy> Run<'_, P> {
    /// A read call, as `filemap_read()` does it, with its first page used as `first_touch` says.
    pub(super) fn read_through(
        &mut self,
        reading: &mut Reading<'_>,
        opened: Opened,
        first_touch: Touch,
        pages: &[u32],
    ) {
        let Some((&last, segment)) = pages.last().zip(reading.of.layout.segment(pages[0])) else {
            return;
        };
        let mut touch = first_touch;
        for (at, &page) in pages.iter().enumerate() {
            self.policy.advance(self.outcome.clock_ns);
            if self.room.holds(page) {
                self.count(Found::Hit);
                continue;
            }
            let count = (pages.len() - at) as u64;
            let asked = Asked { page, last, count, is_first: at == 0 };
            if !self.policy.has(page) && !reading.fetched.has(page) {
                self.miss(reading, opened.number, segment, &asked);
            }
            if self.marked.take(page) {
                self.read_on(reading, opened.number, segment, &asked);
            }
            let outcome = self.policy.touch(page, std::mem::replace(&mut touch, Touch::Read));
            self.outcome.written_pages += u64::from(outcome.written);
            if !reading.fetched.take(page) {
                self.asked(page, outcome.found);
            }
        }
        self.outcome.references += pages.len() as u64;
        let behind = segment.page(last) + u64::from(opened.ends_a_page);
        if let Some(state) = reading.states.get_mut(opened.number as usize) {
            state.ends(behind);
        }
    }

    fn miss(&mut self, reading: &mut Reading<'_>, open: u32, segment: &Segment, asked: &Asked) {
        let (rules, limit) = (reading.of.rules, reading.of.opens.window(open));
        let Some(state) = reading.states.get_mut(open as usize) else { return };
        let page = segment.page(asked.page);
        if rules.knows_place_within_calls && !asked.is_first {
            state.ends(page);
        }
        let cached_before = |most| {
            (1..=most).take_while(|back| self.has(segment, page.checked_sub(*back))).count() as u64
        };
        let window = state.miss(rules, page, asked.count, limit, cached_before);
        self.fetch(&mut reading.fetched, segment, asked, window);
    }

    fn read_on(&mut self, reading: &mut Reading<'_>, open: u32, segment: &Segment, asked: &Asked) {
        let (rules, limit) = (reading.of.rules, reading.of.opens.window(open));
        let Some(state) = reading.states.get_mut(open as usize) else { return };
        let page = segment.page(asked.page);
        let next_missing =
            |most| (page + 1..=page + most).find(|&next| !self.has(segment, Some(next)));
        let window = state.marked(rules, page, asked.count, limit, next_missing);
        if let Some(window) = window {
            self.fetch(&mut reading.fetched, segment, asked, window);
        }
    }

    /// Whether a page is cached, by its index.
    fn has(&self, segment: &Segment, page: Option<u64>) -> bool {
        let number = page.and_then(|page| segment.number(page));
        number.is_some_and(|number| self.policy.has(number) || self.room.holds(number))
    }

    /// Reads the pages of a window that are not cached. Of those that are asked for it is counted what was found, the others are read ahead. Pages are
    /// locked until they are read, so that those of a window do not evict each other: where there is room for no more, it ends.
    fn fetch(&mut self, fetched: &mut Bits, segment: &Segment, asked: &Asked, window: Window) {
        let end = window.start.saturating_add(window.size).min(segment.end_page());
        let mut room = self.room.left().max(1);
        for page in window.start.max(segment.first_page)..end {
            let Some(number) = segment.number(page) else { continue };
            if self.policy.has(number) || self.room.holds(number) {
                continue;
            }
            if room == 0 {
                return;
            }
            room -= 1;
            self.policy.advance(self.outcome.clock_ns);
            let outcome = self.policy.touch(number, Touch::ReadSamePage);
            self.outcome.written_pages += u64::from(outcome.written);
            if (asked.page..=asked.last).contains(&number) {
                self.unasked.take(number);
                self.marked.take(number);
                if fetched.add(number) {
                    self.count(outcome.found);
                }
            } else {
                self.brought(number, outcome.found);
            }
            if window.mark == Some(page) {
                self.marked.add(number);
            }
        }
    }
}
