//! Which limits are simulated, and which one is the smallest that suffices.

/// Limits in a table: as many as a terminal shows beside each other's difference.
const GRID: usize = 12;
/// The smallest of them, by all pages that the program asks for: a 64th.
const SMALLEST: f64 = 64.0;
/// Limits that are simulated at a time while one is looked for.
const STEPS: u64 = 6;
/// It is found where the next smaller one is less than a hundredth away.
const NEAR: u64 = 100;

/// Pages of files for a table: equal ratios between a 64th of all pages, or `least` pages if that is more, and all of them.
pub(super) fn grid(distinct: u64, least: u64) -> Vec<u64> {
    let smallest = (distinct as f64 / SMALLEST).max(least.min(distinct) as f64).max(1.0);
    let step = (distinct as f64 / smallest).max(1.0).powf(1.0 / (GRID - 1) as f64);
    let mut pages: Vec<u64> =
        (0..GRID as i32).map(|at| (smallest * step.powi(at)).round().max(1.0) as u64).collect();
    pages.dedup();
    pages
}

/// Where enough begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Edge<T> {
    /// The largest number of pages that was found not to suffice; none where all suffice.
    pub(super) below: Option<(u64, T)>,
    /// The smallest from which on all suffice.
    pub(super) from: (u64, T),
}

/// The smallest number of pages from which on `suffices`, by at most a hundredth; none if the most that is asked about does not suffice.
/// What is known is a grid in ascending order with an answer for each; more is asked by `simulate`, which answers for many at a time.
pub(super) fn smallest<T: Copy>(
    known: &[(u64, T)],
    suffices: impl Fn(&T) -> bool,
    mut simulate: impl FnMut(&[u64]) -> Vec<T>,
) -> Option<Edge<T>> {
    let last = known.last().copied().filter(|(_, one)| suffices(one))?;
    let mut edge = Edge { below: None, from: last };
    edge.narrow(known.iter().copied(), &suffices);
    loop {
        let below = edge.below.map_or(0, |(pages, _)| pages);
        if edge.from.0 - below <= (edge.from.0 / NEAR).max(1) {
            return Some(edge);
        }
        let gap = edge.from.0 - below;
        let mut next: Vec<u64> = (1..=STEPS).map(|at| below + gap * at / (STEPS + 1)).collect();
        next.retain(|&pages| pages > below && pages < edge.from.0);
        next.dedup();
        let answers = simulate(&next);
        edge.narrow(next.into_iter().zip(answers), &suffices);
    }
}

impl<T: Copy> Edge<T> {
    /// Policies can do worse with a little more memory: what counts is from where on all suffice.
    fn narrow(
        &mut self,
        answers: impl DoubleEndedIterator<Item = (u64, T)>,
        suffices: &impl Fn(&T) -> bool,
    ) {
        for (pages, one) in answers.rev() {
            if !suffices(&one) {
                self.below = Some((pages, one));
                break;
            }
            self.from = (pages, one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_goes_to_all_pages_in_equal_ratios() {
        let pages = grid(64_000, 0);
        assert_eq!((pages.len(), pages[0], pages[11]), (12, 1_000, 64_000));
        assert!(
            pages.windows(2).all(|pair| (1.4..1.5).contains(&(pair[1] as f64 / pair[0] as f64)))
        );
        assert_eq!(grid(1, 0), [1]);
        assert_eq!(grid(0, 5), [1]);
        let pages = grid(64_000, 16_000);
        assert_eq!((pages[0], pages[11]), (16_000, 64_000));
    }

    #[test]
    fn the_smallest_is_found_within_a_hundredth() {
        for wanted in [1, 7, 999, 1_000, 1_001, 12_345, 63_999, 64_000] {
            let same = |pages: &[u64]| pages.to_vec();
            let known: Vec<(u64, u64)> =
                grid(64_000, 0).into_iter().map(|pages| (pages, pages)).collect();
            let edge = smallest(&known, |&pages| pages >= wanted, same).expect("it is there");
            let found = edge.from.0;
            assert!(found >= wanted && found - wanted <= (wanted / 99).max(1), "{wanted}: {found}");
            let below = edge.below.map(|(pages, _)| pages);
            let near = |below| below < wanted && found - below <= (found / 100).max(1);
            assert!(below.map_or(wanted == 1, near), "{wanted}: {edge:?}");
        }
        let known = [(10, 1), (20, 2)];
        assert_eq!(smallest(&known, |&one| one > 2, |_| Vec::new()), None);
    }

    #[test]
    fn a_hole_above_which_all_suffice_counts() {
        // 100 suffices, 200 does not, 400 does.
        let known = [(100, true), (200, false), (400, true)];
        let answers = |pages: &[u64]| pages.iter().map(|&pages| pages >= 300).collect();
        let edge = smallest(&known, |&one| one, answers).expect("it is there");
        assert!((300..=303).contains(&edge.from.0), "{edge:?}");
    }
}
