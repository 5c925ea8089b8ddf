//! How much room pages have that are not in use all the time.

use crate::policy::{Policy, Touch};
use crate::references::{References, RoomChange};

use super::bits::Bits;

/// Pages that code in use leaves at least: a program whose code takes more than all does not hold it, and waits for it again and again.
const LEAST_PAGES: u64 = 32;

/// The room of a limit.
pub(super) struct Room<'a> {
    /// Pages of the limit.
    limit: u64,
    /// Pages beside it.
    spare: u64,
    /// Pages of code in use, which no policy evicts.
    code: Bits,
    code_len: u64,
    /// What is still to come.
    changes: &'a [(usize, RoomChange)],
}

impl<'a> Room<'a> {
    pub(super) fn new(references: &'a References, limit: u64) -> Self {
        Self {
            limit,
            spare: 0,
            code: Bits::new(references.numbers(), !references.has_code()),
            code_len: 0,
            changes: references.room_changes(),
        }
    }

    /// Changes it as far as it has changed before the request with this place, and counts dirty pages that were evicted for that.
    #[inline]
    pub(super) fn pass(&mut self, request: usize, policy: &mut impl Policy) -> u64 {
        let mut written = 0;
        while let Some(((_, change), rest)) =
            self.changes.split_first().filter(|((from_request, _), _)| *from_request <= request)
        {
            self.changes = rest;
            written += self.change(change, policy);
        }
        written
    }

    #[cold]
    fn change(&mut self, change: &RoomChange, policy: &mut impl Policy) -> u64 {
        match change {
            RoomChange::Spare(pages) => {
                self.spare = *pages;
                u64::from(policy.set_limit(self.left()))
            }
            RoomChange::Unused(pages) => {
                let mut give_back = |&page: &u32| match self.release(page) {
                    true => self.give_back(page, policy),
                    false => 0,
                };
                pages.iter().map(&mut give_back).sum()
            }
        }
    }

    /// Whether a page is code in use.
    #[inline]
    pub(super) fn holds(&self, page: u32) -> bool {
        self.code.has(page)
    }

    /// Takes a page that is cached from the policy, if it can: how many dirty pages were evicted for that.
    #[inline(never)]
    pub(super) fn hold(&mut self, page: u32, policy: &mut impl Policy) -> u64 {
        if self.left() <= LEAST_PAGES || !self.code.add(page) {
            return 0;
        }
        self.code_len += 1;
        policy.remove(page);
        u64::from(policy.set_limit(self.left()))
    }

    /// Lets a page go, wherever to; whether it was held.
    pub(super) fn release(&mut self, page: u32) -> bool {
        let was_held = self.code.take(page);
        self.code_len -= u64::from(was_held);
        was_held
    }

    /// Makes a page that was let go one that can be evicted.
    fn give_back(&self, page: u32, policy: &mut impl Policy) -> u64 {
        let written = policy.set_limit(self.left());
        u64::from(written + policy.touch(page, Touch::ReadSamePage).written)
    }

    /// Pages for all that is not held.
    pub(super) fn left(&self) -> u64 {
        self.limit.saturating_add(self.spare).saturating_sub(self.code_len)
    }
}
