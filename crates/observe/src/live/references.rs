//! References to pages that are in the sample, as the sensor sends them: which pages, by which processes, and how many in all.

use std::cell::RefCell;
use std::mem::offset_of;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hotset_facts::Observed;

use super::window::Window;
use super::{LiveSession, map_whole};
use crate::ObserveError;
use crate::load::Loaded;
use crate::record::{Globals, Process, Sample, read};
use crate::scope::Taker;

/// What the ring holds, four times over: so much is kept until it is taken.
const MOST_KEPT: usize = 65_536;

/// Of 2^48 pages, an exbibyte, there is hardly one in the sample; the programs shift by six bits.
const HIGHEST_EXPONENT: u32 = 48;

/// What refers to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A call that reads through the page cache.
    Read,
    /// One that writes through it.
    Write,
    /// A fault on a mapping of a file that looked for its page.
    Fault,
    /// Nothing: the page was truncated, or its file removed. It is of no process.
    Removed,
}

/// A reference to a page that is in the sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageReference {
    /// Of the file and the page, as `hotset_sizing::sample::hash` makes it.
    pub hash: u64,
    /// The process, by its [`hotset_facts::LiveProcess::id`]; 0 where there is none.
    pub process: u32,
    /// What refers to it.
    pub kind: ReferenceKind,
}

impl PageReference {
    fn read(bytes: &[u8]) -> Option<Self> {
        let Sample { hash, owner: process, kind } = read(bytes)?;
        let kind = match kind {
            0 => ReferenceKind::Read,
            1 => ReferenceKind::Write,
            2 => ReferenceKind::Fault,
            3 => ReferenceKind::Removed,
            _ => return None,
        };
        Some(Self { hash, process, kind })
    }
}

/// What a process did in an interval that its rows do not tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessReferences {
    /// Its control group.
    pub cgroup: Observed<Arc<str>>,
    /// Faults that looked for their page: each is a reference to one page. Faults that only mapped pages which were cached are
    /// none, because no event tells which page they were about.
    pub faults: u64,
    /// References to pages in the sample that found no room in the ring.
    pub lost: u64,
}

/// References that were taken from the ring.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) references: Vec<PageReference>,
    /// Those that nobody took from here in time.
    pub(crate) lost: u64,
}

impl Taken {
    /// Takes a record of the ring.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        match PageReference::read(bytes) {
            Some(reference) if self.references.len() < MOST_KEPT => self.references.push(reference),
            _ => self.lost += 1,
        }
    }
}

/// The sample of a session, and what is told of it.
#[derive(Debug)]
pub(crate) struct References {
    taken: Rc<RefCell<Taken>>,
    /// Variables of the programs.
    globals: Window,
}

impl References {
    /// Of a session whose programs are not attached yet: one in 2^`exponent` pages.
    pub(crate) fn open(loaded: &Loaded, exponent: u32) -> Result<Self, ObserveError> {
        let references = Self { taken: Rc::default(), globals: map_whole(loaded, ".bss")? };
        references.raise(exponent);
        Ok(references)
    }

    /// What takes the records of the ring.
    pub(crate) fn taker(&self) -> Taker {
        let taken = Rc::clone(&self.taken);
        Box::new(move |bytes| taken.borrow_mut().take(bytes))
    }

    fn word(&self) -> Option<&AtomicU64> {
        self.globals.words().get(offset_of!(Globals, sample_exponent) / 8)
    }

    /// One in 2^`exponent` pages from now on, if that is fewer than before.
    pub(crate) fn raise(&self, exponent: u32) {
        let exponent = u64::from(exponent.min(HIGHEST_EXPONENT));
        self.word().map(|word| word.fetch_max(exponent, Ordering::AcqRel));
    }

    /// One in 2^this pages is in the sample.
    pub(crate) fn exponent(&self) -> u32 {
        self.word().map_or(0, |word| word.load(Ordering::Acquire) as u32)
    }

    /// References that were taken from the ring since the last call.
    pub(crate) fn take(&self) -> Vec<PageReference> {
        std::mem::take(&mut self.taken.borrow_mut().references)
    }

    /// References that were taken from the ring and not kept, since the session began.
    pub(crate) fn lost(&self) -> u64 {
        self.taken.borrow().lost
    }
}

impl LiveSession {
    /// Takes references to pages in the sample, in the order in which the ring had them, each with the control group of its
    /// process. There are new ones after [`LiveSession::drain`] and [`LiveSession::sample`]; what is not taken by then is kept
    /// up to a bound.
    pub fn take_references(
        &mut self,
        mut each: impl FnMut(PageReference, Option<&Observed<Arc<str>>>),
    ) {
        let taken = self.references.as_ref().map(References::take).unwrap_or_default();
        for reference in taken {
            let index = self.index_of(reference.process);
            let process = index.and_then(|index| self.processes.get(index));
            each(reference, process.map(|process| &process.cgroup));
        }
    }

    /// One in 2^this pages is in the sample now; none is where it was not asked for.
    pub fn sample_exponent(&self) -> Option<u32> {
        self.references.as_ref().map(References::exponent)
    }

    /// Takes fewer pages into the sample from now on: one in 2^`exponent`, where it was more. References to others that are on
    /// their way still come.
    pub fn raise_sample_exponent(&self, exponent: u32) {
        if let Some(references) = &self.references {
            references.raise(exponent);
        }
    }

    /// References to pages in the sample that were lost since the session began.
    pub fn lost_references(&self) -> u64 {
        let of_ring = self.globals().map_or(0, |globals| globals.samples_lost);
        of_ring + self.references.as_ref().map_or(0, References::lost)
    }

    /// Whether there is a control group of this path, as [`hotset_facts::LiveProcess::cgroup`] has it; true where that can't be told.
    pub fn has_cgroup(&self, path: &str) -> bool {
        self.cgroups.has(path)
    }

    /// Where a process stands; one that was not met before is registered.
    fn index_of(&mut self, owner: u32) -> Option<u32> {
        if owner == 0 {
            return None;
        }
        if let Some(index) = self.processes.find(owner) {
            return Some(index);
        }
        // Its end is for the next sample to see.
        let seen = Process { ended: 0, ..self.store.process(&self.loaded, owner)? };
        self.processes.register(&seen, self.now, &mut self.cgroups);
        self.processes.find(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::bytes_of;

    #[test]
    fn what_nobody_takes_is_bounded_and_counted() {
        let mut taken = Taken::default();
        let sample = |kind| Sample { hash: 5, owner: 7, kind };
        taken.take(bytes_of(&sample(3)));
        let expected = PageReference { hash: 5, process: 7, kind: ReferenceKind::Removed };
        assert_eq!(taken.references, [expected]);
        taken.take(bytes_of(&sample(4)));
        taken.take(&[1, 2, 3]);
        assert_eq!((taken.references.len(), taken.lost), (1, 2), "of no kind that is known");
        for _ in 0..MOST_KEPT {
            taken.take(bytes_of(&sample(0)));
        }
        assert_eq!((taken.references.len(), taken.lost), (MOST_KEPT, 3));
    }
}
