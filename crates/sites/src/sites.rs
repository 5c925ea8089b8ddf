//! Samples in, sites out.

use std::collections::HashMap;

use hotset_facts::trace::{Frame, Site, SiteIndex, SiteState};

use crate::Sample;
use crate::binaries::{Binaries, BinaryIndex};
use crate::binary::{Binary, Names, Unread};
use crate::chain::{Call, Chain, Place, climb};
use crate::image::{Image, Mappings};
use crate::interned::{FrameIndex, Interned};
use crate::process::{Owner, Process};
use crate::unwind::Steps;

/// Processes that are kept at most; beyond, the one that was used longest ago is forgotten.
const MAX_PROCESSES: usize = 1_024;

/// Places and chains that are kept at most, each; beyond, they are found anew.
const MAX_KNOWN: usize = 1 << 17;

/// What code made at run time is called instead of a module.
const RUN_TIME: &str = "[jit]";

/// How many samples came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SiteCounts {
    /// Resolved to the thread's first function.
    pub whole: u64,
    /// Resolved in part: the copy of the stack ended, or what unwinds it was not found.
    pub cut: u64,
    /// The instruction alone: its process was gone, or its stack could not be unwound.
    pub lost: u64,
    /// Not resolved, because there are too many sites already. They are in no other count.
    pub refused: u64,
}

/// A chain of calls without names.
pub struct Unwound {
    image: Image,
    calls: Vec<Call>,
    state: SiteState,
    returns: Vec<(u64, u64)>,
}

impl Unwound {
    /// Where on its stack return addresses stand, in bytes from the stack pointer on, and which ones; innermost first. Whoever has
    /// these there is in the same chain of calls, as far as they go.
    pub fn returns(&self) -> &[(u64, u64)] {
        &self.returns
    }
}

/// Files whose names were not read yet, and are needed.
pub struct UnreadNames(Vec<(BinaryIndex, Unread)>);

/// Names that were read of files.
pub struct ReadNames(Vec<(BinaryIndex, Names)>);

impl UnreadNames {
    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads symbols and debug information, which takes up to seconds.
    pub fn read(self) -> ReadNames {
        ReadNames(self.0.into_iter().map(|(index, unread)| (index, unread.read())).collect())
    }
}

/// All that was resolved so far, with what was learned of processes and files on the way.
///
/// It reads /proc and the files that processes run, when a sample first needs them, and bounds what it keeps: 256 MiB of files,
/// 1,024 processes, 262,144 sites.
pub struct Sites {
    processes: HashMap<Image, Process>,
    binaries: Binaries,
    run_time: Steps,
    interned: Interned,
    frames: HashMap<(Place, bool), Box<[FrameIndex]>>,
    chains: HashMap<(Box<[Place]>, SiteState), SiteIndex>,
    counts: SiteCounts,
    serial: u32,
    clock: u64,
}

impl Default for Sites {
    fn default() -> Self {
        Self::new()
    }
}

impl Sites {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self {
            processes: HashMap::new(),
            binaries: Binaries::default(),
            run_time: Steps::by_frame_pointers(),
            interned: Interned::default(),
            frames: HashMap::new(),
            chains: HashMap::new(),
            counts: SiteCounts::default(),
            serial: 0,
            clock: 0,
        }
    }

    /// The site of a sample, at once; nothing where there are too many sites already.
    pub fn resolve(
        &mut self,
        sample: &Sample<'_>,
        mappings: Option<Mappings>,
    ) -> Option<SiteIndex> {
        let unwound = self.unwind(sample, mappings);
        self.name(&unwound)
    }

    /// The chain of a sample. `mappings` are those that were read since the sample of this image before ([`crate::Images`]). Without
    /// any it reads them itself: the sooner after the sample, the better, for of a process that ended before, only the
    /// instruction's address is known.
    pub fn unwind(&mut self, sample: &Sample<'_>, mappings: Option<Mappings>) -> Unwound {
        self.clock += 1;
        let image = sample.image;
        let process = self.processes.entry(image).or_insert_with(|| {
            self.serial = self.serial.wrapping_add(1);
            Process::new(image, sample.time_ns, self.serial)
        });
        process.used = self.clock;
        match mappings {
            Some(mappings) => process.take(mappings),
            None if process.is_unread() => process.read(),
            None => {}
        }
        let Chain { calls, state, returns } =
            climb(sample, process, &mut self.binaries, &mut self.run_time);
        self.forget_oldest(image);
        Unwound { image, calls, state, returns }
    }

    /// The files of a chain whose names nobody has read or taken yet: to be read elsewhere, and put here before the chain is named.
    pub fn take_unread(&mut self, unwound: &Unwound) -> UnreadNames {
        let files = unwound.calls.iter().filter_map(|call| match call.owner {
            Some(Owner::Binary(index, _)) => Some(index),
            _ => None,
        });
        let mut unread = Vec::new();
        for index in files {
            let taken = self.binaries.get(index).and_then(Binary::take_unread);
            unread.extend(taken.map(|taken| (index, taken)));
        }
        UnreadNames(unread)
    }

    /// Takes names that were read.
    pub fn put_names(&mut self, read: ReadNames) {
        for (index, names) in read.0 {
            self.binaries.put_names(index, names);
        }
    }

    /// The site of a chain; nothing where there are too many sites already. Names that nobody has read are read now.
    pub fn name(&mut self, unwound: &Unwound) -> Option<SiteIndex> {
        let site = self.find(unwound);
        match (site, unwound.state) {
            (None, _) => self.counts.refused += 1,
            (_, SiteState::Whole) => self.counts.whole += 1,
            (_, SiteState::Cut) => self.counts.cut += 1,
            (_, SiteState::Lost) => self.counts.lost += 1,
        }
        site
    }

    /// The sites that are new since this was called last, in the order of their indexes.
    pub fn added(&mut self) -> Vec<Site> {
        self.interned.added()
    }

    /// How many samples came to what.
    pub fn counts(&self) -> SiteCounts {
        self.counts
    }

    /// Bytes of memory that the files take which were read, at least.
    pub fn file_bytes(&self) -> usize {
        self.binaries.bytes()
    }

    /// Keeps processes within their bound, `but` this one in any case.
    fn forget_oldest(&mut self, but: Image) {
        if self.processes.len() > MAX_PROCESSES {
            let others = self.processes.iter().filter(|(image, _)| **image != but);
            let oldest = others.min_by_key(|(_, process)| process.used).map(|(image, _)| *image);
            oldest.and_then(|image| self.processes.remove(&image));
        }
    }

    fn find(&mut self, unwound: &Unwound) -> Option<SiteIndex> {
        self.clock += 1;
        let process = self.processes.get_mut(&unwound.image)?;
        process.used = self.clock;
        let places: Box<[Place]> = unwound.calls.iter().map(|call| call.place(process)).collect();
        let key = (places, unwound.state);
        match self.chains.get(&key) {
            Some(known) => Some(*known),
            None if self.interned.is_full() => None,
            None => self.make(unwound, key),
        }
    }

    /// Makes a site of calls, and keeps it for the next sample that has them.
    fn make(&mut self, unwound: &Unwound, key: (Box<[Place]>, SiteState)) -> Option<SiteIndex> {
        if self.frames.len() > MAX_KNOWN {
            self.frames.clear();
        }
        if self.chains.len() > MAX_KNOWN {
            self.chains.clear();
        }
        let mut frames = Vec::new();
        let mut lasting = true;
        for (call, place) in unwound.calls.iter().zip(&key.0) {
            if let Some(known) = self.frames.get(&(*place, call.returns)) {
                frames.extend_from_slice(known);
                continue;
            }
            let process = self.processes.get_mut(&unwound.image)?;
            let named = named(call, process, &mut self.binaries);
            // Code that is made at run time may get its name later, and another the same memory.
            let keeps = matches!(place, Place::File(..));
            lasting &= keeps;
            let indexes: Box<[FrameIndex]> =
                named.into_iter().map(|frame| self.interned.frame(frame)).collect();
            frames.extend_from_slice(&indexes);
            if keeps {
                self.frames.insert((*place, call.returns), indexes);
            }
        }
        let site = self.interned.site(frames, key.1)?;
        if lasting {
            self.chains.insert(key, site);
        }
        Some(site)
    }
}

/// The frames of a call, innermost first.
fn named(call: &Call, process: &mut Process, binaries: &mut Binaries) -> Vec<Frame> {
    let within = call.address.saturating_sub(u64::from(call.returns));
    let bare = |module: Option<String>, offset| {
        vec![Frame { function: None, module, offset, source: None, line: None }]
    };
    match call.owner {
        Some(Owner::Binary(index, address)) => {
            let module = process.module_at(within).unwrap_or_default();
            binaries
                .frames(index, address, call.returns, &module)
                .unwrap_or_else(|| bare(Some(module), address))
        }
        Some(Owner::Unreadable(_, offset)) => bare(process.module_at(within), offset),
        Some(Owner::Anonymous) => match process.function_at(within) {
            Some((name, offset)) => {
                let (function, module) = (Some(name.to_owned()), Some(RUN_TIME.to_owned()));
                let offset = offset + u64::from(call.returns);
                vec![Frame { function, module, offset, source: None, line: None }]
            }
            None => bare(Some(RUN_TIME.to_owned()), call.address),
        },
        None => bare(None, call.address),
    }
}
