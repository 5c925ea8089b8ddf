//! What the workers of each program do.

use super::pattern::Pattern;
use super::{Program, Step};
use crate::numpy::Generator;

const PAGE_BYTES: u32 = hotset_sizing::PAGE_BYTES as u32;
/// What is written of a page of which the rest stays.
const PART_BYTES: u32 = 100;

/// What makes the next step.
type Make = fn(&mut Steps) -> Step;

/// The steps of a worker, in order.
pub struct Steps {
    random: Generator,
    /// How many are left.
    left: u32,
    /// Patterns, and how often one is taken: up to this share of all.
    patterns: Vec<(f64, Pattern)>,
    make: Make,
}

impl Steps {
    pub(super) fn new(program: &Program, worker: u32) -> Self {
        let files = program.files;
        let (left, make, patterns): (u32, Make, _) = match program.name {
            "files-patterns" => (200_000, Self::page, six_patterns(files)),
            "files-many" => (6000, Self::whole, vec![(1.0, Pattern::zipf(0.8, 400, 1))]),
            "threads-same" => (50_000, Self::page, vec![(1.0, Pattern::zipf(0.8, files[0], 2))]),
            "threads-own" => (50_000, Self::own_page, own_pattern(files, worker)),
            "large-random" => (12_000, Self::large, vec![(1.0, Pattern::zipf(0.6, files[0], 3))]),
            "large-scan" => (60_000, Self::beside_scan, beside_scan(files)),
            "writes-pages" => (120_000, Self::written_page, written(files)),
            "children-pool" => (12_000, Self::page, pool(files, worker)),
            _ => (500, Self::whole, vec![(1.0, Pattern::zipf(0.8, 400, 4))]),
        };
        let random = Generator::new(1000 + worker);
        Self { random, left, patterns, make }
    }

    /// One of the patterns, which is of the file with its number, and its next page.
    fn draw(&mut self) -> (u32, u32) {
        let drawn = self.random.random();
        let last = self.patterns.len() - 1;
        let at = self.patterns.iter().position(|(share, _)| drawn < *share).unwrap_or(last);
        (at as u32, self.patterns[at].1.next(&mut self.random))
    }

    fn page(&mut self) -> Step {
        let (file, page) = self.draw();
        Step::Read { file, page, pages: 1 }
    }

    /// Of the first file, pages are read; of the second, whole pages are written, and parts of pages.
    fn written_page(&mut self) -> Step {
        match self.draw() {
            (0, page) => Step::Read { file: 0, page, pages: 1 },
            (1, page) => Step::Write { file: 1, page, bytes: PAGE_BYTES },
            (_, page) => Step::Write { file: 1, page, bytes: PART_BYTES },
        }
    }

    /// Its file is named by the only pattern that has a share.
    fn own_page(&mut self) -> Step {
        let (_, page) = self.draw();
        let file = (self.patterns.len() - 1) as u32;
        Step::Read { file, page, pages: 1 }
    }

    fn whole(&mut self) -> Step {
        Step::Whole { file: self.draw().1, pages: 16 }
    }

    /// From 1 to 64 pages, as many of each length.
    fn large(&mut self) -> Step {
        let page = self.draw().1;
        Step::Read { file: 0, page, pages: self.random.integer(1, 65) }
    }

    /// Single pages of one file, and the other from its beginning to its end, four pages at a time.
    fn beside_scan(&mut self) -> Step {
        match self.draw() {
            (1, at) => Step::Read { file: 1, page: at * 4, pages: 4 },
            (_, page) => Step::Read { file: 0, page, pages: 1 },
        }
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        self.left = self.left.checked_sub(1)?;
        Some((self.make)(self))
    }
}

fn six_patterns(files: &[u32]) -> Vec<(f64, Pattern)> {
    vec![
        (0.30, Pattern::zipf(0.8, files[0], 5)),
        (0.55, Pattern::zipf(1.0, files[1], 6)),
        (0.65, Pattern::uniform(files[2])),
        (0.80, Pattern::from(0, files[3])),
        (0.95, Pattern::zipf(1.2, files[4], 7)),
        (1.00, Pattern::from(0, files[5])),
    ]
}

/// A file for each thread, with a pattern of its own.
fn own_pattern(files: &[u32], worker: u32) -> Vec<(f64, Pattern)> {
    let nothing = || (0.0, Pattern::uniform(1));
    let own = files[worker as usize];
    let pattern = match worker {
        0 => Pattern::zipf(0.8, own, 8),
        1 => Pattern::zipf(1.0, own, 9),
        2 => Pattern::uniform(own),
        _ => Pattern::from(0, own),
    };
    (0..worker).map(|_| nothing()).chain([(1.0, pattern)]).collect()
}

fn written(files: &[u32]) -> Vec<(f64, Pattern)> {
    vec![
        (0.5, Pattern::zipf(0.8, files[0], 12)),
        (0.8, Pattern::zipf(0.8, files[1], 13)),
        (1.0, Pattern::zipf(0.8, files[1], 14)),
    ]
}

fn beside_scan(files: &[u32]) -> Vec<(f64, Pattern)> {
    vec![(0.6, Pattern::zipf(0.9, files[0], 10)), (1.0, Pattern::from(0, files[1] / 4))]
}

/// Pages of the first file that all children find popular, and each goes on with the second where another child began too.
fn pool(files: &[u32], worker: u32) -> Vec<(f64, Pattern)> {
    let first = worker % 6 * (files[1] / 6);
    vec![(0.75, Pattern::zipf(0.8, files[0], 11)), (1.0, Pattern::from(first, files[1]))]
}
