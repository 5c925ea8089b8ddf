//! One thread: its open files, and what every operation needs.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hotset_facts::random::Random;

use super::Outcome;
use super::aio::Context;
use super::ledger::{FileId, Ledger};
use super::memory::Memory;
use super::rings::Ring;
use super::table::{Chosen, DIRECT, pick};

/// Files that keep their size or grow: what is mapped must not be cut off. They are never renamed or unlinked.
pub(super) const STABLE: u64 = 5;
/// Files to which anything may happen.
pub(super) const VOLATILE: u64 = 4;
/// Files that are only read: on an overlay they stay in the lower layer, because the number of a file that is copied up is
/// not that of the file with the pages.
pub(super) const READ_ONLY: u64 = 3;

/// Open files of a thread.
const HANDLES: u64 = 6;
/// The largest request.
pub(super) const LONGEST: usize = 512 << 10;
/// Requests begin below this offset.
const FARTHEST: u64 = 2 << 20;

/// Where it happens.
pub(super) struct Place {
    pub(super) dir: PathBuf,
    pub(super) process: u64,
}

/// An open file.
pub(super) struct Handle {
    pub(super) file: File,
    pub(super) id: FileId,
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) direct: bool,
    pub(super) appends: bool,
    pub(super) stable: bool,
    pub(super) volatile: bool,
}

impl Handle {
    /// Where a call that moved so many bytes at the file's own position began: nobody else has this descriptor.
    pub(super) fn began(&self, moved: usize) -> u64 {
        rustix::fs::tell(&self.file).unwrap_or(0).saturating_sub(moved as u64)
    }
}

/// What an operation needs of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Read,
    Write,
    /// Writing at an offset: Linux appends also where pwrite(2) names one.
    WriteAt,
    /// Writing at the end, wherever that is.
    Append,
    /// Without O_DIRECT.
    Cached,
    /// With O_DIRECT.
    Direct,
    /// Both, of a file that is never cut off, without O_DIRECT.
    Mapped,
    /// Writing to a file that may be cut off.
    Volatile,
    Any,
}

impl Need {
    fn is_met(self, by: &Handle) -> bool {
        match self {
            Self::Read => by.reads,
            Self::Write => by.writes,
            Self::WriteAt => by.writes && !by.appends,
            Self::Append => by.appends,
            Self::Cached => by.reads && !by.direct,
            Self::Direct => by.direct,
            Self::Mapped => by.reads && by.writes && by.stable && !by.direct,
            Self::Volatile => by.writes && by.volatile,
            Self::Any => true,
        }
    }

    fn writes(self) -> bool {
        matches!(self, Self::Write | Self::WriteAt | Self::Append | Self::Mapped | Self::Volatile)
    }
}

/// Of this thread so far.
fn major_faults() -> u64 {
    // SAFETY: all bytes zero is a valid rusage, and the place is valid for the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    usage.ru_majflt.unsigned_abs()
}

/// A thread at work.
pub(super) struct Worker {
    pub(super) dir: PathBuf,
    /// Ends the names of the files that are this thread's own.
    own: String,
    may_be_direct: bool,
    steps: Random,
    /// Of the present operation: what one draws changes nothing for the next.
    random: Random,
    pub(super) memory: Memory,
    pub(super) handles: Vec<Handle>,
    pub(super) ledger: Ledger,
    pub(super) ring: Option<Ring>,
    pub(super) context: Option<Context>,
}

impl Worker {
    pub(super) fn new(place: &Place, thread: u64, seed: u64) -> Outcome<Self> {
        let mut streams = Random::new(seed);
        // A stream of its own for each thread of each process.
        let own_seed = (0..=place.process * 64 + thread).map(|_| streams.number()).last();
        let mut memory = Memory::new(LONGEST)?;
        memory.fill(0x5a);
        Ok(Self {
            dir: place.dir.clone(),
            own: format!("{}-{thread}", place.process),
            may_be_direct: false,
            steps: Random::new(own_seed.unwrap_or(seed)),
            random: Random::new(0),
            memory,
            handles: Vec::new(),
            ledger: Ledger::default(),
            ring: None,
            context: None,
        })
    }

    /// So many operations of the table, one after the other.
    pub(super) fn work(mut self, chosen: &Chosen, operations: u64) -> Outcome<Ledger> {
        self.may_be_direct = chosen.has(DIRECT);
        chosen.names().for_each(|name| self.ledger.may_do(name));
        for _ in 0..operations {
            self.random = Random::new(self.steps.number());
            let Some(operation) = pick(chosen, &mut self.random) else { continue };
            let before = major_faults();
            // An answer of the kernel that is an error is no request, and nothing to stop for.
            if (operation.run)(&mut self).is_ok() {
                self.ledger.done(operation.name);
            }
            self.ledger.majors(operation.name, major_faults() - before);
        }
        Ok(self.ledger)
    }

    /// A number below.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// One in so many.
    pub(super) fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// An open file that meets a need: one of those that are open, or a new one.
    pub(super) fn handle(&mut self, need: Need) -> std::io::Result<usize> {
        let index = self.below(HANDLES) as usize;
        let fresh = self.one_in(12);
        if !fresh && self.handles.get(index).is_some_and(|handle| need.is_met(handle)) {
            return Ok(index);
        }
        let handle = self.open(need)?;
        if index < self.handles.len() {
            self.handles[index] = handle;
            return Ok(index);
        }
        self.handles.push(handle);
        Ok(self.handles.len() - 1)
    }

    /// Two different descriptors of different files: one to read and one to write.
    pub(super) fn pair(&mut self) -> std::io::Result<(usize, usize)> {
        let from = self.handle(Need::Read)?;
        let to = self.handle(Need::WriteAt)?;
        let (a, b) = (&self.handles[from], &self.handles[to]);
        if from == to || !a.reads || a.id == b.id {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        Ok((from, to))
    }

    /// A file's name.
    pub(super) fn name(&mut self, need: Need) -> (String, bool, bool) {
        let (stable, volatile) = (self.below(STABLE), self.below(VOLATILE));
        let (read_only, own, which) = (self.below(READ_ONLY), self.below(2), self.below(10));
        match need {
            Need::Mapped => return (format!("s{stable}"), true, false),
            Need::Volatile if which < 7 => return (format!("v{volatile}"), false, true),
            Need::Volatile => return (format!("p{}-{own}", self.own), false, true),
            _ => {}
        }
        match which {
            0 | 1 if !need.writes() => (format!("r{read_only}"), false, false),
            0..=4 => (format!("s{stable}"), true, false),
            5..=7 => (format!("v{volatile}"), false, true),
            _ => (format!("p{}-{own}", self.own), false, true),
        }
    }

    fn open(&mut self, need: Need) -> std::io::Result<Handle> {
        let (name, stable, volatile) = self.name(need);
        let read_only = name.starts_with('r');
        let writes = !read_only && (need.writes() || self.below(4) > 0);
        let reads = !writes || need == Need::Mapped || need == Need::Read || self.below(4) > 0;
        let reads = reads || need == Need::Cached;
        let direct = self.one_in(6) && !matches!(need, Need::Mapped | Need::Cached);
        let direct = self.may_be_direct && (direct || need == Need::Direct);
        let appends = need == Need::Append || self.one_in(8) && writes && need != Need::WriteAt;
        let synced = if self.one_in(16) && writes { libc::O_DSYNC } else { 0 };
        let direct_flag = if direct { libc::O_DIRECT } else { 0 };
        let mut options = File::options();
        options.read(reads).custom_flags(synced | direct_flag);
        if writes {
            options.write(true).append(appends).create(true);
        }
        let file = self.opened(&options, &name)?;
        let stat = rustix::fs::fstat(&file)?;
        let id = hotset_sys::file_id(&stat);
        let id = (id.dev.to_string(), id.ino);
        Ok(Handle { file, id, reads, writes, direct, appends, stable, volatile })
    }

    /// Opens a path below the directory, and books it as a lookup.
    pub(super) fn opened(
        &mut self,
        options: &std::fs::OpenOptions,
        name: &str,
    ) -> std::io::Result<File> {
        let opened = options.open(self.path(name));
        let failed = matches!(&opened, Err(error) if error.kind() == std::io::ErrorKind::NotFound);
        self.ledger.lookup(failed);
        opened
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        Path::new(&self.dir).join(name)
    }

    /// A range to read, which is booked as asked for. A read at the file's own position may begin elsewhere in a page.
    pub(super) fn asks(&mut self, index: usize) -> (u64, usize) {
        let (offset, len) = self.range(index);
        self.ledger.ask(&self.handles[index], offset, len + 4095);
        (offset, len)
    }

    /// A range to write, which is booked as such.
    pub(super) fn writes(&mut self, index: usize) -> (u64, usize) {
        self.will_write(index);
        self.range(index)
    }

    /// Where a write with O_DIRECT beyond the end fails, the file is cut off where it ended, and ext4 reads that block to fill its
    /// rest with zeros.
    pub(super) fn will_write(&mut self, index: usize) {
        if self.handles[index].direct {
            self.ledger.edges(&self.handles[index], 1);
        }
    }

    /// A range to read or write through this descriptor; with O_DIRECT nearly always one that a device takes.
    pub(super) fn range(&mut self, index: usize) -> (u64, usize) {
        let len = match self.below(8) {
            0 => self.below(64),
            1 | 2 => self.below(4096),
            3 | 4 => 4096 << self.below(5),
            5 => self.below(LONGEST as u64),
            _ => self.below(40_000),
        };
        let farthest = if self.one_in(3) { 64 << 10 } else { FARTHEST };
        let offset = self.below(farthest);
        let aligned = self.below(10) > 0;
        if self.handles[index].direct && aligned {
            return (offset & !4095, (len as usize + 4095) & !4095);
        }
        (offset, (len as usize).min(LONGEST))
    }
}
