//! What rules know at the end of a recording, and how a finding is made of what they say.

use std::borrow::Cow;

use hotset_facts::trace::{OperationClass, TraceHead, TraceLists};
use hotset_facts::{Command, CostTable, Reason, Target};

use super::blame::Blame;
use super::how::{Way, how};
use super::language::languages;
use super::seen::Seen;
use super::settings::{Disk, disks, settings};
use super::{FileShare, TraceFinding};
use crate::trace::RequestKind;
use crate::{Evidence, Gate, Saving, Severity};

/// What elementary operations cost where the host's own table is not at hand: measured on an EPYC of 2024, quiet.
pub(crate) const USUAL_COSTS: CostTable = CostTable {
    syscall_ns: 108.0,
    read_4b_ns: 286.0,
    read_4k_ns: 335.0,
    read_64k_ns: 1600.0,
    write_4b_ns: 461.0,
    write_4k_ns: 700.0,
    write_64k_ns: 9000.0,
    stat_ns: 755.0,
    stat_enoent_ns: 484.0,
    open_close_ns: 1490.0,
};

/// A buffer that fixes are priced with: above 64 KiB nothing is gained.
const BUFFER_BYTES: f64 = 65536.0;

/// What records tell at all, counted while they come.
#[derive(Debug, Default)]
pub(super) struct Tells {
    pub(super) from_ns: Option<u64>,
    pub(super) to_ns: u64,
    pub(super) io_ns: u64,
    timed: u64,
    untimed: u64,
    with_pages: u64,
    without_pages: u64,
    reads: u64,
    /// Of these, reads of which it is not known what was used before, because records were lost.
    lost_reads: u64,
}

impl Tells {
    pub(super) fn count(&mut self, seen: &Seen<'_>) {
        let (record, kind, end_ns) = (seen.record, seen.kind, seen.end_ns);
        if record.class == OperationClass::Read {
            self.reads += 1;
            self.lost_reads += u64::from(seen.again.is_lost);
        }
        self.from_ns = Some(self.from_ns.map_or(record.start_ns, |from| from.min(record.start_ns)));
        self.to_ns = self.to_ns.max(end_ns);
        if !kind.is_request() || kind == RequestKind::MinorFault {
            return;
        }
        match record.duration_ns {
            Some(ns) => {
                self.timed += 1;
                self.io_ns = self.io_ns.saturating_add(ns);
            }
            None => self.untimed += 1,
        }
        match kind {
            RequestKind::ReadUnknown => self.without_pages += 1,
            RequestKind::ReadMissed | RequestKind::ReadAhead | RequestKind::ReadCached => {
                self.with_pages += 1;
            }
            _ => {}
        }
    }
}

/// The end of a recording.
#[derive(Debug)]
pub(super) struct End<'a> {
    pub(super) lists: &'a TraceLists,
    costs: Option<&'a CostTable>,
    /// How long the run took, in nanoseconds.
    pub(super) wall_ns: u64,
    origin: &'a Origin,
    tells: &'a Tells,
}

/// What matters of the host and of the recording.
#[derive(Debug)]
pub(super) struct Origin {
    /// Memory that can hold cached pages: the limit of the control group, else all; where it is not known, no bound.
    pub(super) memory_bytes: u64,
    /// Whether it evicts page cache that nobody uses.
    pub(super) evicts_idle_cache: bool,
    /// Whether the recording begins with the program: not where it was running already.
    pub(super) has_start: bool,
    /// Whether records were lost.
    pub(super) has_gaps: bool,
    /// Disks of the host that it is known of which files they have.
    disks: Vec<Disk>,
}

impl Origin {
    pub(super) fn of(head: &TraceHead, lists: &TraceLists) -> Self {
        let host = head.environment.as_ref();
        let limit = host.and_then(|host| host.memory_limit_bytes).unwrap_or(u64::MAX);
        let is_started = |command: &Command| command.target == Target::Command;
        Self {
            memory_bytes: host.map_or(u64::MAX, |host| limit.min(host.memory_bytes)),
            evicts_idle_cache: host.is_some_and(|host| host.evicts_idle_cache),
            has_start: head.command.as_ref().is_none_or(is_started),
            has_gaps: !lists.gaps.is_empty(),
            disks: host.map_or_else(Vec::new, disks),
        }
    }
}

impl<'a> End<'a> {
    pub(super) fn new(
        lists: &'a TraceLists,
        costs: Option<&'a CostTable>,
        wall_ns: u64,
        origin: &'a Origin,
        tells: &'a Tells,
    ) -> Self {
        Self { lists, costs, wall_ns, origin, tells }
    }

    /// Memory that can hold cached pages, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.origin.memory_bytes
    }

    /// Whether the host evicts page cache that nobody uses, whatever the program does.
    pub(super) fn evicts_idle_cache(&self) -> bool {
        self.origin.evicts_idle_cache
    }

    /// Of so many bytes, the share that fits into memory, 0 to 1.
    pub(super) fn fits(&self, bytes: u64) -> f64 {
        let memory = self.origin.memory_bytes;
        if bytes <= memory { 1.0 } else { memory as f64 / bytes as f64 }
    }

    /// What it costs to read bytes from the cache by calls of 64 KiB, in nanoseconds.
    pub(super) fn cached_read_ns(&self, bytes: u64) -> u64 {
        let calls = (bytes as f64 / BUFFER_BYTES).ceil();
        (calls * self.costs().read_ns((bytes as f64).min(BUFFER_BYTES))) as u64
    }

    /// What operations cost on this host, or on one like it.
    pub(super) fn costs(&self) -> &CostTable {
        self.costs.unwrap_or(&USUAL_COSTS)
    }

    /// Needs a recording that begins with the program.
    ///
    /// # Errors
    /// Where the program was running already.
    pub(super) fn start(&self) -> Result<(), Reason> {
        match self.origin.has_start {
            true => Ok(()),
            false => {
                Err(Reason::not_measured("the program was running before the recording began"))
            }
        }
    }

    /// Needs every record, to say that something did not happen.
    ///
    /// # Errors
    /// Where records were lost.
    pub(super) fn all_records(&self) -> Result<(), Reason> {
        match self.origin.has_gaps {
            true => Err(Reason::lost("records, of which some may be of these files")),
            false => Ok(()),
        }
    }

    /// Needs durations, and which bytes were used before.
    ///
    /// # Errors
    /// Where records were lost at the time of most reads.
    pub(super) fn history(&self) -> Result<(), Reason> {
        match self.tells.lost_reads > self.tells.reads / 2 {
            true => Err(Reason::lost("records; what was read before is not known")),
            false => self.times(),
        }
    }

    /// Needs the durations of requests.
    ///
    /// # Errors
    /// Where there are requests and none of them is timed.
    pub(super) fn times(&self) -> Result<(), Reason> {
        match self.tells {
            Tells { timed: 0, untimed: 1.., .. } => {
                Err(Reason::not_measured("the recording does not tell how long requests took"))
            }
            _ => Ok(()),
        }
    }

    /// Needs durations, and where the pages of reads were.
    ///
    /// # Errors
    /// Where there are reads and none tells it.
    pub(super) fn pages(&self) -> Result<(), Reason> {
        match self.tells {
            Tells { with_pages: 0, without_pages: 1.., .. } => {
                Err(Reason::not_measured("the recording does not tell which pages were cached"))
            }
            _ => self.times(),
        }
    }

    /// A saving of wall time from savings of threads' time. Where threads ran in parallel, a fix that spares each of them a
    /// second shortens the run by less than their sum: the lower bound is divided by the parallelism that I/O had at least.
    pub(super) fn saving(&self, low_ns: u64, high_ns: u64) -> Saving {
        let parallel = (self.tells.io_ns as f64 / self.wall_ns.max(1) as f64).max(1.0);
        let low = (low_ns as f64 / parallel) as u64;
        Saving::of_wall(low, high_ns.max(low), self.wall_ns)
    }

    /// What a rule has to say, where it is worth saying.
    pub(super) fn finding(&self, rule: &'static str, draft: Draft<'_>) -> Option<TraceFinding> {
        let saving = self.saving(draft.low_ns, draft.high_ns);
        let informs = matches!(draft.proof, Proof::NoTime(_));
        if !informs && !Gate::default().passes(&saving) {
            return None;
        }
        let mut evidence = draft.evidence;
        if !informs {
            evidence.push(Evidence::count("saving_ns_low", saving.low_ns));
            evidence.push(Evidence::count("saving_ns_high", saving.high_ns));
        }
        let (files, more_files) = draft.files.unwrap_or_else(|| draft.blame.files(self.lists));
        let languages = languages(draft.blame.processes(), &draft.blame.sites(), self.lists);
        let how = languages
            .into_iter()
            .filter_map(|language| Some((language, how(draft.way, language)?.to_owned())));
        let (changes, unproved) = match draft.proof {
            Proof::Replay(changes) => (changes.iter().map(|&text| text.to_owned()).collect(), None),
            Proof::None(why) | Proof::NoTime(why) => (Vec::new(), Some(why)),
        };
        Some(TraceFinding {
            rule,
            severity: if informs { Severity::Info } else { saving.severity() },
            title: draft.title,
            evidence,
            saving,
            files,
            more_files,
            sites: draft.blame.sites(),
            changes,
            unproved,
            advice: draft.advice.into_owned(),
            how: how.collect(),
            risks: draft.risks.map(str::to_owned),
            settings: settings(rule, draft.blame, self.lists, &self.origin.disks),
        })
    }
}

/// What proves a finding.
#[derive(Debug, Clone, Copy)]
pub(super) enum Proof {
    /// A replay with these changes.
    Replay(&'static [&'static str]),
    /// Nothing, for this reason.
    None(&'static str),
    /// Nothing needs to be proved: it informs and claims no saving, for this reason.
    NoTime(&'static str),
}

/// What a rule has to say.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) title: String,
    /// Nanoseconds of threads' time that are spared at least.
    pub(super) low_ns: u64,
    /// And at most.
    pub(super) high_ns: u64,
    pub(super) evidence: Vec<Evidence>,
    pub(super) blame: &'a Blame,
    /// Directories, where it is about them, and how many more there are; else the files of `blame`.
    pub(super) files: Option<(Vec<FileShare>, u64)>,
    pub(super) proof: Proof,
    pub(super) way: Way,
    pub(super) advice: Cow<'static, str>,
    pub(super) risks: Option<&'static str>,
}
