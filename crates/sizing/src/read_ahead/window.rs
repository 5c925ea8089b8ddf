//! Which pages are read, as one open file description has it.

use super::ReadAheadRules;

/// The most pages that a request makes the kernel read at once, beyond the window of read-ahead: what one request of a usual disk takes
/// (`max_sectors_kb`, 1280).
const DEVICE_PAGES: u64 = 320;
/// Of a file that nobody read yet (`prev_pos` is -1).
const NOWHERE: u64 = u64::MAX >> 12;

/// The last window (`struct file_ra_state`), and where the last read ended; in pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    start: u64,
    size: u64,
    /// What of it lies behind the page that is marked.
    ahead: u64,
    /// The page of the first byte behind the last read.
    last: u64,
}

/// Pages that are read as far as they are not cached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// The page that is marked if it is read now: when it is asked for, the next window is read.
    pub(crate) mark: Option<u64>,
}

impl State {
    pub(crate) const NEW: Self = Self { start: 0, size: 0, ahead: 0, last: NOWHERE };

    /// A read ended so that this is the page of the byte behind it.
    pub(crate) fn ends(&mut self, page: u64) {
        self.last = page;
    }

    /// A page is missing, of a request for it and more, `asked` together (`page_cache_sync_ra()`). `cached_before` counts the pages in front of it that
    /// are cached without a gap, up to so many.
    pub(crate) fn miss(
        &mut self,
        rules: ReadAheadRules,
        page: u64,
        asked: u64,
        window: u64,
        cached_before: impl FnOnce(u64) -> u64,
    ) -> Window {
        let most = most(asked, window);
        if rules.is_common && page > 0 && (page == self.mark() || page == self.start + self.size) {
            return self.move_on(rules, page, most);
        }
        if page == 0 || asked > most || page.wrapping_sub(self.last) <= 1 {
            return self.begin(rules, page, asked, most);
        }
        let cached = cached_before(most);
        if cached <= asked {
            return Window { start: page, size: asked, mark: None };
        }
        // All from the beginning of the file on: it is read from one end to the other.
        let cached = if cached >= page { cached * 2 } else { cached };
        self.start = page;
        self.size = (cached + asked).min(most);
        self.ahead = 1;
        self.submit(rules, page, most)
    }

    /// A marked page is asked for, of a request for it and more, `asked` together (`page_cache_async_ra()`). `next_missing` finds the first of so many
    /// pages behind it that is not cached.
    pub(crate) fn marked(
        &mut self,
        rules: ReadAheadRules,
        page: u64,
        asked: u64,
        window: u64,
        next_missing: impl FnOnce(u64) -> Option<u64>,
    ) -> Option<Window> {
        let most = most(asked, window);
        if rules.is_common && page == 0 {
            return Some(self.begin(rules, page, asked, most));
        }
        if page == self.mark() || rules.is_common && page == self.start + self.size {
            return Some(self.move_on(rules, page, most));
        }
        let start = next_missing(most)?;
        self.start = start;
        self.size = next_size(start - page + asked, most);
        self.ahead = self.size;
        Some(self.submit(rules, page, most))
    }

    fn mark(&self) -> u64 {
        self.start + self.size - self.ahead
    }

    fn move_on(&mut self, rules: ReadAheadRules, page: u64, most: u64) -> Window {
        self.start += self.size;
        self.size = self.size.max(next_size(self.size, most));
        self.ahead = self.size;
        self.submit(rules, page, most)
    }

    fn begin(&mut self, rules: ReadAheadRules, page: u64, asked: u64, most: u64) -> Window {
        self.start = page;
        self.size = first_size(asked, most);
        self.ahead = match self.size.checked_sub(asked) {
            Some(more) if more > 0 => more,
            _ if rules.is_common => self.size,
            _ => self.size / 2,
        };
        self.submit(rules, page, most)
    }

    fn submit(&mut self, rules: ReadAheadRules, page: u64, most: u64) -> Window {
        if rules.is_common && page == self.start && self.size == self.ahead {
            let more = next_size(self.size, most);
            if self.size + more <= most {
                self.ahead = more;
                self.size += more;
            } else {
                self.size = most;
                self.ahead = most / 2;
            }
        }
        Window { start: self.start, size: self.size, mark: Some(self.mark()) }
    }
}

fn most(asked: u64, window: u64) -> u64 {
    if asked > window { asked.min(DEVICE_PAGES).max(window) } else { window }
}

/// `get_init_ra_size()`.
fn first_size(asked: u64, most: u64) -> u64 {
    let size = asked.next_power_of_two();
    if size <= most / 32 {
        size * 4
    } else if size <= most / 4 {
        size * 2
    } else {
        most
    }
}

/// `get_next_ra_size()`.
fn next_size(size: u64, most: u64) -> u64 {
    if size < most / 16 {
        size * 4
    } else if size <= most / 2 {
        size * 2
    } else {
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::KernelVersion;

    const WINDOW: u64 = 32;

    fn rules(major: u32, minor: u32) -> ReadAheadRules {
        ReadAheadRules::of(KernelVersion::new(major, minor))
    }

    fn window(start: u64, size: u64, mark: u64) -> Window {
        Window { start, size, mark: Some(mark) }
    }

    #[test]
    fn a_file_that_is_read_from_its_beginning_gets_larger_and_larger_windows() {
        for rules in [rules(6, 1), rules(6, 12)] {
            let mut state = State::NEW;
            let none = |_| 0;
            assert_eq!(state.miss(rules, 0, 4, WINDOW, none), window(0, 8, 4));
            let next = |_| None;
            assert_eq!(state.marked(rules, 4, 4, WINDOW, next), Some(window(8, 16, 8)));
            assert_eq!(state.marked(rules, 8, 4, WINDOW, next), Some(window(24, 32, 24)));
            assert_eq!(state.marked(rules, 24, 4, WINDOW, next), Some(window(56, 32, 56)));
        }
    }

    #[test]
    fn a_random_read_is_read_as_it_is_unless_much_is_cached_in_front_of_it() {
        for rules in [rules(6, 1), rules(6, 12)] {
            let mut state = State::NEW;
            let alone = Window { start: 100, size: 4, mark: None };
            assert_eq!(state.miss(rules, 100, 4, WINDOW, |_| 4), alone);
            assert_eq!(state.miss(rules, 100, 4, WINDOW, |_| 5), window(100, 9, 108));
            assert_eq!(state.miss(rules, 200, 4, WINDOW, |most| most), window(200, 32, 231));
            // From the beginning of the file on.
            assert_eq!(state.miss(rules, 10, 4, WINDOW, |_| 10), window(10, 24, 33));
        }
    }

    #[test]
    fn a_read_behind_the_last_one_is_sequential() {
        let mut state = State::NEW;
        state.ends(100);
        assert_eq!(state.miss(rules(6, 12), 100, 4, WINDOW, |_| 0), window(100, 8, 104));
        state.ends(90);
        assert_eq!(
            state.miss(rules(6, 12), 100, 4, WINDOW, |_| 0),
            Window { start: 100, size: 4, mark: None }
        );
    }

    #[test]
    fn requests_larger_than_a_window_are_read_as_the_device_takes_them() {
        let mut state = State::NEW;
        assert_eq!(state.miss(rules(6, 12), 0, 64, WINDOW, |_| 0), window(0, 64, 32));
        assert_eq!(state.miss(rules(6, 1), 0, 64, WINDOW, |_| 0), window(0, 64, 32));
        assert_eq!(state.miss(rules(6, 12), 7, 1000, WINDOW, |_| 0), window(7, 320, 167));
    }

    #[test]
    fn a_missing_page_at_the_end_of_the_window_moves_it_on_in_old_kernels_only() {
        let next = |rules| {
            let mut state = State::NEW;
            state.miss(rules, 0, 4, WINDOW, |_| 0);
            state.miss(rules, 8, 1, WINDOW, |_| 0)
        };
        // One that would be used up at once is enlarged.
        assert_eq!(next(rules(6, 1)), window(8, 32, 24));
        assert_eq!(next(rules(6, 12)), Window { start: 8, size: 1, mark: None });
    }

    #[test]
    fn a_marked_page_of_another_window_is_followed_by_one_behind_what_is_cached() {
        let mut state = State::NEW;
        assert_eq!(
            state.marked(rules(6, 12), 50, 2, WINDOW, |_| Some(60)),
            Some(window(60, 24, 60))
        );
        assert_eq!(state.marked(rules(6, 12), 50, 2, WINDOW, |_| None), None);
    }
}
