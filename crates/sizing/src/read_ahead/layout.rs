//! Page numbers in the order of files, so that a page's neighbours are known by its number.

use std::collections::HashMap;

use crate::references::References;

/// Pages of a file that stand side by side, as their numbers do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The number of the first.
    pub(crate) first: u32,
    /// How many there are.
    pub(crate) len: u32,
    /// The index of the first in its file.
    pub(crate) first_page: u64,
}

impl Segment {
    /// The index of a page with this number.
    pub(crate) fn page(&self, number: u32) -> u64 {
        self.first_page + u64::from(number - self.first)
    }

    /// The index behind the last.
    pub(crate) fn end_page(&self) -> u64 {
        self.first_page + u64::from(self.len)
    }

    /// The number of a page, if it has one here.
    pub(crate) fn number(&self, page: u64) -> Option<u32> {
        let at = page.checked_sub(self.first_page)?;
        (at < u64::from(self.len)).then(|| self.first + at as u32)
    }
}

/// How far pages may be read ahead in a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The most pages behind one that was asked for.
    pub(crate) pages: u64,
    /// The pages of the file.
    pub(crate) end: u64,
}

/// All segments, by their numbers. 16 bytes each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Layout {
    segments: Vec<Segment>,
    numbers: u32,
}

impl Layout {
    /// Makes new numbers of pages whose keys are given by their old numbers, and puts those after them that may be read ahead: of a key, the high
    /// half tells the file and the low half the page. A page that stands alone is not the beginning of a sequential read, unless it is the first of
    /// the file: none is put after it. Second, the new number of each old one.
    pub(crate) fn of(keys: &[u64], reaches: &HashMap<u32, Reach>) -> (Self, Vec<u32>) {
        let with_margins = Self::numbered(keys, |file| reaches.get(&file).copied());
        // There are no more pages than keys, so that it succeeds without margins.
        let made = with_margins.or_else(|| Self::numbered(keys, |_| None));
        made.unwrap_or_default()
    }

    fn numbered(keys: &[u64], reach: impl Fn(u32) -> Option<Reach>) -> Option<(Self, Vec<u32>)> {
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        order.sort_unstable_by_key(|&old| keys[old as usize]);
        let mut layout = Self::default();
        let mut numbers = vec![0; keys.len()];
        let mut run: Option<Run> = None;
        for old in order {
            let key = keys[old as usize];
            let next = match run {
                Some(run) if run.file() == (key >> 32) as u32 && key <= run.end(&reach) => {
                    Run { asked_end: run.asked_end.max(key + 1), ..run }
                }
                done => {
                    done.map_or(Some(()), |done| layout.push(done, &reach))?;
                    Run { start: key, asked_end: key + 1, first: layout.numbers }
                }
            };
            numbers[old as usize] = next.first.checked_add((key - next.start) as u32)?;
            run = Some(next);
        }
        run.map_or(Some(()), |done| layout.push(done, &reach))?;
        Some((layout, numbers))
    }

    fn push(&mut self, run: Run, reach: impl Fn(u32) -> Option<Reach>) -> Option<()> {
        let len = u32::try_from(run.end(reach) - run.start).ok()?;
        let first_page = run.start & u64::from(u32::MAX);
        self.segments.push(Segment { first: self.numbers, len, first_page });
        self.numbers = self.numbers.checked_add(len)?;
        (self.numbers <= References::MAX_DISTINCT).then_some(())
    }

    /// All numbers are below this one.
    pub(crate) fn numbers(&self) -> u32 {
        self.numbers
    }

    /// Where a page stands.
    pub(crate) fn segment(&self, number: u32) -> Option<&Segment> {
        let behind = self.segments.partition_point(|segment| segment.first <= number);
        self.segments.get(behind.checked_sub(1)?)
    }
}

/// A segment that is not done, by keys.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: u64,
    /// Above all pages that were asked for.
    asked_end: u64,
    /// The number of the first page.
    first: u32,
}

impl Run {
    fn file(&self) -> u32 {
        (self.start >> 32) as u32
    }

    /// Above all pages that are asked for or may be read ahead.
    fn end(&self, reach: impl Fn(u32) -> Option<Reach>) -> u64 {
        let is_first = self.start & u64::from(u32::MAX) == 0;
        let is_sequential = is_first || self.asked_end - self.start > 1;
        let Some(reach) = reach(self.file()).filter(|_| is_sequential) else {
            return self.asked_end;
        };
        let file = self.start >> 32 << 32;
        let most = reach.end.min(u64::from(u32::MAX));
        let end = (self.asked_end - file).saturating_add(reach.pages).min(most);
        self.asked_end.max(file + end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(pages: &[(u64, u64)]) -> Vec<u64> {
        pages.iter().map(|(file, page)| file << 32 | page).collect()
    }

    fn reaches(pages: u64, end: u64) -> HashMap<u32, Reach> {
        HashMap::from([(1, Reach { pages, end })])
    }

    #[test]
    fn neighbours_have_neighbouring_numbers() {
        let keys = keys(&[(2, 9), (1, 5), (1, 3), (1, 4), (1, 90), (1, 3), (2, 10)]);
        let (layout, numbers) = Layout::of(&keys, &HashMap::new());
        assert_eq!(numbers, [4, 2, 0, 1, 3, 0, 5]);
        let segment = |first, len, first_page| Segment { first, len, first_page };
        assert_eq!(layout.segments, [segment(0, 3, 3), segment(3, 1, 90), segment(4, 2, 9)]);
        let of = *layout.segment(2).expect("it has one");
        assert_eq!(
            (of.page(2), of.number(4), of.number(6), of.number(2)),
            (5, Some(1), None, None)
        );
    }

    #[test]
    fn pages_that_may_be_read_ahead_follow() {
        let keys = keys(&[(1, 3), (1, 4), (1, 7), (1, 20), (2, 0)]);
        let (layout, numbers) = Layout::of(&keys, &reaches(8, 10));
        // Those from 5 to 9 are put in, the file ends there as far as anybody knows; a page alone stays alone.
        assert_eq!(numbers, [0, 1, 4, 7, 8]);
        assert_eq!((layout.numbers(), layout.segments.len()), (9, 3));
        let (layout, numbers) = Layout::of(&keys, &reaches(8, 100));
        // The margin is that of the last page that was asked for.
        assert_eq!((numbers, layout.numbers()), (vec![0, 1, 4, 13, 14], 15));
    }

    #[test]
    fn a_file_does_not_go_on_in_the_next() {
        let (layout, numbers) = Layout::of(&keys(&[(1, u32::MAX.into()), (2, 0)]), &reaches(8, 10));
        assert_eq!((numbers, layout.segments.len()), (vec![0, 1], 2));
        assert_eq!(Layout::of(&[], &HashMap::new()), (Layout::default(), Vec::new()));
    }
}
