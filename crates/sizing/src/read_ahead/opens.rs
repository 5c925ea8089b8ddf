//! Through which open file description each request read.

use std::collections::HashMap;

/// Of a request that is simulated as it was recorded.
const NONE: u32 = u32::MAX;
/// The read ended where a page does.
const ENDS_A_PAGE: u32 = 1 << 31;

/// An open file description, and whether the read through it ended where a page does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) number: u32,
    pub(crate) ends_a_page: bool,
}

/// The open file descriptions of all requests. 4 bytes a request, and 4 for each description.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Opens {
    of_request: Vec<u32>,
    /// The window of each, in pages.
    windows: Vec<u32>,
    /// Numbers of those that are open, by the numbers of the caller.
    open: HashMap<u32, u32>,
}

impl Opens {
    /// The number of a description with this window: another one where it got another window.
    pub(crate) fn number(&mut self, description: u32, window: u32) -> u32 {
        let known = self.open.get(&description).copied();
        if let Some(number) = known
            && self.window(number) == u64::from(window)
        {
            return number;
        }
        // As many as there is memory for stay below the bit.
        let number = (self.windows.len() as u32).min(ENDS_A_PAGE - 1);
        self.windows.push(window);
        self.open.insert(description, number);
        number
    }

    pub(crate) fn close(&mut self, description: u32) {
        self.open.remove(&description);
    }

    /// The requests up to the one with this place read through a description.
    pub(crate) fn set(&mut self, request: usize, opened: Opened) {
        self.of_request.resize(request, NONE);
        let ends = if opened.ends_a_page { ENDS_A_PAGE } else { 0 };
        self.of_request.push(opened.number | ends);
    }

    /// What a request read through, if its read-ahead is simulated.
    pub(crate) fn of(&self, request: usize) -> Option<Opened> {
        let found = *self.of_request.get(request)?;
        (found != NONE).then_some(Opened {
            number: found & !ENDS_A_PAGE,
            ends_a_page: found & ENDS_A_PAGE != 0,
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.windows.len()
    }

    /// The window of one, in pages.
    pub(crate) fn window(&self, number: u32) -> u64 {
        self.windows.get(number as usize).copied().unwrap_or(0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_new_when_they_are_opened_again_or_get_another_window() {
        let mut opens = Opens::default();
        assert_eq!((opens.number(7, 32), opens.number(8, 32), opens.number(7, 32)), (0, 1, 0));
        assert_eq!((opens.number(7, 64), opens.number(7, 64)), (2, 2));
        opens.close(8);
        assert_eq!((opens.number(8, 32), opens.len(), opens.window(2)), (3, 4, 64));
    }

    #[test]
    fn requests_between_are_of_none() {
        let mut opens = Opens::default();
        let opened = |number, ends_a_page| Opened { number, ends_a_page };
        opens.set(1, opened(0, true));
        opens.set(3, opened(5, false));
        let found: Vec<_> = (0..5).map(|request| opens.of(request)).collect();
        assert_eq!(found, [None, Some(opened(0, true)), None, Some(opened(5, false)), None]);
    }
}
