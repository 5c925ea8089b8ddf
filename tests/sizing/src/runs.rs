//! What a kernel did with a sequence under a limit: a run is a row of CSV.

use std::fmt::{self, Display};
use std::str::FromStr;

use hotset_sizing::evidence;

use crate::sequences::{CHUNK, NAMES};

/// The first line of such CSV, below comments. Older files lack the last column.
pub const COLUMNS: &str =
    "policy,access,sequence,limit_pages,requests,misses,refaults,milliseconds,hit_ns";

/// How a program uses the pages of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// pread(2) of a page after `POSIX_FADV_RANDOM`.
    Read,
    /// pread(2) of [`CHUNK`] pages with read-ahead of as many.
    ReadChunk,
    /// A load through a mapping of the file; read-ahead is 0.
    Mapped,
    /// The same with `MADV_RANDOM`.
    MappedRandom,
}

impl Access {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::ReadChunk, Self::Mapped, Self::MappedRandom];

    const NAMES: [(Self, &str); 4] = [
        (Self::Read, "read"),
        (Self::ReadChunk, "read-128k"),
        (Self::Mapped, "mapped"),
        (Self::MappedRandom, "mapped-random"),
    ];

    /// Its name in CSV.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(one, _)| *one == self).map_or("", |(_, name)| name)
    }

    /// Pages of each request.
    pub fn pages(self) -> u64 {
        if self == Self::ReadChunk { u64::from(CHUNK) } else { 1 }
    }

    /// What `evidence` calls it.
    pub fn of_evidence(self) -> evidence::Access {
        match self {
            Self::Read | Self::ReadChunk => evidence::Access::Read,
            Self::Mapped => evidence::Access::Mapped,
            Self::MappedRandom => evidence::Access::MappedRandom,
        }
    }
}

/// What is run once with each policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// How pages are used.
    pub access: Access,
    /// The name of the sequence.
    pub sequence: &'static str,
    /// The limit of the whole control group, in pages.
    pub limit_pages: u64,
}

/// What `make test-kernels` runs with each kernel and policy. Of every kind of sequence one, under limits where the policies and exact
/// LRU differ by more than a point, as far as the sequence has one.
const SHORT: [(Access, &str, u64); 7] = [
    (Access::Read, "zipf08", 1500),
    (Access::Read, "hot", 3000),
    (Access::Read, "zipfscan", 7500),
    (Access::Read, "burstscan", 15_000),
    (Access::Read, "shift", 3000),
    (Access::Read, "twoloops", 15_000),
    (Access::ReadChunk, "chunks-zipf", 3000),
];

/// How many cases are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// Those of `make test-kernels`: the first half of each sequence.
    Short,
    /// Some of the short set, under `memory.high` instead of `memory.max`.
    High,
    /// More than the short set, whose runs can become fixtures: the first half of each sequence.
    Wide,
    /// All, and the whole sequences. Under emulation, a kernel takes hours.
    Full,
}

impl Set {
    const NAMES: [(Self, &str); 4] =
        [(Self::Short, "short"), (Self::High, "high"), (Self::Wide, "wide"), (Self::Full, "full")];

    /// The set with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, known)| *known == name).map(|(set, _)| set)
    }

    /// Its cases.
    pub fn cases(self) -> Vec<Case> {
        let (pages, chunks) = NAMES.split_at(NAMES.len() - 2);
        match self {
            Self::Short => {
                let case = |(access, sequence, limit_pages)| Case { access, sequence, limit_pages };
                SHORT.map(case).to_vec()
            }
            Self::High => [
                with(Access::Read, &["zipf08"], &[1500]),
                with(Access::Read, &["burstscan"], &[15_000]),
            ]
            .concat(),
            Self::Wide => [
                with(Access::Read, pages, &[3000, 15_000]),
                with(Access::ReadChunk, chunks, &[3000, 15_000]),
                with(Access::Mapped, &["zipf08", "hot", "twoloops"], &[7500]),
                with(Access::MappedRandom, &["zipf08", "hot"], &[7500]),
            ]
            .concat(),
            Self::Full => [
                with(Access::Read, pages, &[1500, 3000, 7500, 15_000, 22_500]),
                with(Access::ReadChunk, chunks, &[3000, 7500, 15_000, 22_500]),
                with(
                    Access::Mapped,
                    &["zipf08", "zipf10", "hot", "zipfscan", "shift", "twoloops"],
                    &[3000, 7500, 15_000],
                ),
                with(
                    Access::MappedRandom,
                    &["zipf08", "zipf10", "hot", "zipfscan", "shift"],
                    &[3000, 7500, 15_000],
                ),
            ]
            .concat(),
        }
    }

    /// What is asked for of a sequence.
    pub fn asked(self, sequence: &[u32]) -> &[u32] {
        if self == Self::Full { sequence } else { &sequence[..sequence.len() / 2] }
    }
}

/// Each of these sequences under each of these limits.
fn with(access: Access, names: &[&'static str], limits: &[u64]) -> Vec<Case> {
    let at =
        |sequence| limits.iter().map(move |&limit_pages| Case { access, sequence, limit_pages });
    names.iter().flat_map(|&sequence| at(sequence)).collect()
}

/// A run of a real kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Whether the multi-gen LRU was enabled.
    pub is_mglru: bool,
    /// What was run.
    pub case: Case,
    /// Requests, the first of the sequence, each of [`Access::pages`].
    pub requests: u64,
    /// Pages that were read from the device.
    pub misses: u64,
    /// Of these, pages that the group had evicted before, by its own count.
    pub refaults: u64,
    /// How long it took.
    pub milliseconds: u64,
    /// What a request takes that finds its pages cached, in nanoseconds; none where nobody measured it.
    pub hit_ns: Option<u64>,
}

impl Run {
    /// The policy's name in CSV.
    pub fn policy(&self) -> &'static str {
        if self.is_mglru { "mglru" } else { "classic" }
    }
}

impl Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { access, sequence, limit_pages } = self.case;
        let (policy, access) = (self.policy(), access.name());
        write!(f, "{policy},{access},{sequence},{limit_pages},{},", self.requests)?;
        write!(f, "{},{},{}", self.misses, self.refaults, self.milliseconds)?;
        self.hit_ns.map_or(Ok(()), |hit_ns| write!(f, ",{hit_ns}"))
    }
}

impl FromStr for Run {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let cells: Vec<&str> = line.split(',').collect();
        let wrong = |what: &str| format!("\"{line}\": {what}; expected {COLUMNS}");
        let (names, numbers) = cells.split_at_checked(3).ok_or_else(|| wrong("too few cells"))?;
        let numbers: Result<Vec<u64>, _> = numbers.iter().map(|number| number.parse()).collect();
        let numbers = numbers.map_err(|error| wrong(&error.to_string()))?;
        let &[limit_pages, requests, misses, refaults, milliseconds, ref hit_ns @ ..] =
            &numbers[..]
        else {
            return Err(wrong("too few numbers"));
        };
        let is_mglru = match names[0] {
            "mglru" => true,
            "classic" => false,
            _ => return Err(wrong("unknown policy")),
        };
        let access = Access::NAMES.iter().find(|(_, name)| *name == names[1]);
        let access = access.ok_or_else(|| wrong("unknown access"))?.0;
        let sequence = NAMES.iter().find(|name| **name == names[2]);
        let sequence = sequence.ok_or_else(|| wrong("unknown sequence"))?;
        let case = Case { access, sequence, limit_pages };
        let hit_ns = hit_ns.first().copied();
        Ok(Self { is_mglru, case, requests, misses, refaults, milliseconds, hit_ns })
    }
}

/// The runs of CSV, of this or another kind, whose comments begin with `#`.
///
/// # Errors
/// The first row that is none.
pub fn parse<T: FromStr<Err = String>>(csv: &str) -> Result<Vec<T>, String> {
    let rows = csv.lines().filter(|line| !line.starts_with('#') && !line.starts_with("policy,"));
    rows.map(str::parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_written_and_read() {
        let text = "mglru,read-128k,chunks-zipf,3000,15000,283200,237888,6630,5120";
        let run: Run = text.parse().expect("a run");
        assert_eq!((run.to_string().as_str(), run.hit_ns), (text, Some(5120)));
        let old: Run = text.trim_end_matches(",5120").parse().expect("a run");
        assert_eq!(old.hit_ns, None);
        let parsed = parse(&format!("# Linux\n{COLUMNS}\n{old}\n"));
        assert_eq!(parsed, Ok(vec![old]));
        for wrong in ["", "mglru,read", "lru,read,loop,1,2,3,4,5", "mglru,read,loop,1,2,3,4,x"] {
            assert!(wrong.parse::<Run>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_case_is_one_of_all() {
        let full = Set::Full.cases();
        assert_eq!(full.len(), 45 + 8 + 18 + 15);
        for set in [Set::Short, Set::High, Set::Wide] {
            assert!(set.cases().iter().all(|case| full.contains(case)), "{set:?}");
        }
    }
}
