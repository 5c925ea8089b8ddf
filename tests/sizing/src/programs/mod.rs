//! Programs that read several files, in several threads or processes, or many pages at once: what each does, step by step.
//!
//! Which step comes when is known of one thread only. What several of them ask for together is what a recording says.

mod pattern;
pub mod runs;
mod steps;

use crate::runs::Set;

pub use steps::Steps;

/// What is new about a program, compared with one that reads single pages of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Several files.
    Files,
    /// Several threads.
    Threads,
    /// Requests of several pages, read ahead as the kernel does it.
    LargeReads,
    /// Several processes, which end and begin.
    Children,
    /// Pages that are written, so that they are dirty for a while.
    Writes,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Files, Self::Threads, Self::LargeReads, Self::Children, Self::Writes];

    /// What a table calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Threads => "threads",
            Self::LargeReads => "large reads",
            Self::Children => "children",
            Self::Writes => "writes",
        }
    }
}

/// A step of a thread or process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// pread(2) from a file that is open all the time.
    Read {
        /// The number of the file.
        file: u32,
        /// The first page.
        page: u32,
        /// Pages; what is behind the end of the file is not read.
        pages: u32,
    },
    /// pwrite(2) to a file that is open all the time, from the beginning of a page.
    Write {
        /// The number of the file.
        file: u32,
        /// The page.
        page: u32,
        /// Bytes: a page, or less.
        bytes: u32,
    },
    /// A file is opened, read whole by read(2) of so many pages at a time, and closed.
    Whole {
        /// The number of the file.
        file: u32,
        /// Pages of each request.
        pages: u32,
    },
}

/// A program.
#[derive(Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// What is new about it.
    pub kind: Kind,
    /// Its files' pages.
    pub files: &'static [u32],
    /// Threads or processes, which do the steps of one worker each.
    pub workers: u32,
    /// So many of them at a time; the next begins when one ends.
    pub at_a_time: u32,
    /// Whether it says `POSIX_FADV_RANDOM`, so that nothing is read ahead.
    pub is_random: bool,
    /// Anonymous memory that each worker fills, in MiB.
    pub anonymous_mib: u32,
    /// The limits under which it runs, in MiB of the whole control group; in the short set, the first and the last.
    pub limits_mib: [u32; 3],
    /// Whether it belongs to the short set.
    pub is_short: bool,
}

const SIX: &[u32] = &[8000, 7000, 6000, 4000, 3000, 2000];
const MANY: [u32; 400] = many();
const ONE: &[u32] = &[30_000];
const TWO: &[u32] = &[18_000, 12_000];

/// Sizes of files as in a tree of sources: few of them large, 28,800 pages together.
const fn many() -> [u32; 400] {
    let mut sizes = [0; 400];
    let mut at = 0;
    while at < sizes.len() {
        let step = at as u32 % 8;
        sizes[at] = 9 + step * step * 18 / 5;
        at += 1;
    }
    sizes
}

/// One worker that reads single pages of six files.
const SINGLE: Program = Program {
    name: "files-patterns",
    kind: Kind::Files,
    files: SIX,
    workers: 1,
    at_a_time: 1,
    is_random: true,
    anonymous_mib: 0,
    limits_mib: [12, 28, 60],
    is_short: true,
};
const THREADS: Program = Program { kind: Kind::Threads, workers: 4, at_a_time: 4, ..SINGLE };
const LARGE: Program = Program { kind: Kind::LargeReads, is_random: false, ..SINGLE };

/// All programs.
pub const PROGRAMS: [Program; 9] = [
    SINGLE,
    Program { name: "files-many", files: &MANY, is_random: false, is_short: false, ..SINGLE },
    Program { name: "threads-same", files: ONE, ..THREADS },
    Program { name: "threads-own", is_short: false, ..THREADS },
    Program { name: "large-random", files: ONE, ..LARGE },
    Program { name: "large-scan", files: TWO, is_short: false, ..LARGE },
    Program {
        name: "children-pool",
        kind: Kind::Children,
        files: TWO,
        workers: 18,
        at_a_time: 3,
        anonymous_mib: 4,
        limits_mib: [28, 44, 76],
        ..SINGLE
    },
    Program {
        name: "children-tree",
        kind: Kind::Children,
        files: &MANY,
        workers: 12,
        is_random: false,
        anonymous_mib: 2,
        limits_mib: [16, 32, 64],
        is_short: false,
        ..SINGLE
    },
    Program { name: "writes-pages", kind: Kind::Writes, files: TWO, ..SINGLE },
];

impl Program {
    /// The one with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        PROGRAMS.iter().find(|program| program.name == name)
    }

    /// The steps of a worker.
    pub fn steps(&self, worker: u32) -> Steps {
        Steps::new(self, worker)
    }

    /// The limits under which it runs in a set of cases, in MiB.
    pub fn limits(&self, set: Set) -> Vec<u32> {
        let [first, _, last] = self.limits_mib;
        if set == Set::Short { vec![first, last] } else { self.limits_mib.to_vec() }
    }

    /// Pages that all workers ask for.
    pub fn pages(&self) -> u64 {
        let of_step = |step| match step {
            Step::Read { file, page, pages } => {
                pages.min(self.files[file as usize].saturating_sub(page))
            }
            Step::Write { .. } => 1,
            Step::Whole { file, .. } => self.files[file as usize],
        };
        (0..self.workers)
            .flat_map(|worker| self.steps(worker))
            .map(|step| u64::from(of_step(step)))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_within_the_files_and_touch_most_of_them() {
        for program in &PROGRAMS {
            let first = program.files.iter().scan(0, |sum, &pages| {
                *sum += pages as usize;
                Some(*sum - pages as usize)
            });
            let first: Vec<usize> = first.collect();
            let all: u32 = program.files.iter().sum();
            let mut touched = vec![false; all as usize];
            for step in (0..program.workers).flat_map(|worker| program.steps(worker)) {
                let (file, page, pages) = match step {
                    Step::Read { file, page, pages } => (file, page, pages),
                    Step::Write { file, page, .. } => (file, page, 1),
                    Step::Whole { file, .. } => (file, 0, program.files[file as usize]),
                };
                let len = program.files[file as usize];
                assert!(page < len && pages > 0, "{}: {step:?}", program.name);
                let from = first[file as usize] + page as usize;
                let to = first[file as usize] + (page + pages).min(len) as usize;
                touched[from..to].fill(true);
            }
            let touched = touched.iter().filter(|one| **one).count() as u32;
            assert!(touched > all / 2, "{}: {touched} of {all} pages", program.name);
            assert!(
                (100_000..600_000).contains(&program.pages()),
                "{}: {}",
                program.name,
                program.pages()
            );
            assert!(all * 4 / 1024 > program.limits_mib[2], "{}: all have room", program.name);
        }
    }
}
