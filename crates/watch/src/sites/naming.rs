//! Names for the code that asked: copies of stacks become the call sites of the records that stand for the same code.

use std::collections::{HashMap, VecDeque};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::recording::Waiting;
use hotset_facts::SiteContexts;
use hotset_facts::trace::{SiteIndex, TraceBatch};
use hotset_observe::{Chains, CodeMapping, RecordBatch, StackSample};
use hotset_sites::{Image, Images, Mappings, Sample, SiteCounts, Sites, ToldMapping, Unwound};

/// Sites that are remembered by the sensor's numbers, in each of two generations. The sensor remembers those of 8,192 places, and
/// sends the stack of what it has forgotten again.
const GENERATION: usize = 1 << 18;

/// Memory that a record takes, about: beside itself, its share of the lists that it points into.
const RECORD_BYTES: usize = 200;

/// What was taken from the sensor: records, and what their sites are found by.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    pub(crate) batch: RecordBatch,
    /// Of each stack, mappings that were read for it.
    mappings: Vec<Option<Mappings>>,
    /// Counts it among those that wait.
    pub(crate) waiting: Option<Waiting>,
}

impl Taken {
    /// How much memory it takes, in records of a usual size.
    pub(crate) fn weight(&self) -> usize {
        let stacks = self.batch.stacks.iter().map(|stack| stack.stack.len()).sum::<usize>();
        self.batch.trace.records.len() + stacks / RECORD_BYTES
    }

    /// Sees to what ends with the processes: call it as soon as the batch is there.
    pub(crate) fn of(mut batch: RecordBatch, images: &mut Images) -> Self {
        let look = |stack: &mut StackSample| {
            let code = stack.code.take().map(|code| code.into_iter().map(told).collect());
            images.look(image(stack), stack.ip, code)
        };
        let mappings = batch.stacks.iter_mut().map(look).collect();
        Self { batch, mappings, waiting: None }
    }
}

fn told(mapping: CodeMapping) -> ToldMapping {
    let CodeMapping { addresses, offset, file, path, is_vdso } = mapping;
    ToldMapping { addresses, offset, file, path, is_vdso }
}

fn image(stack: &StackSample) -> Image {
    Image { pid: stack.pid, stack_start: stack.stack_start }
}

/// How well the code of records became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Named {
    /// What came of the stacks.
    pub contexts: SiteContexts,
    /// Records whose code is not known, because its stack was lost or refused.
    pub records: u64,
}

/// Records whose stacks are unwound, and not all named yet.
struct Arrived {
    trace: TraceBatch,
    sites: Vec<u64>,
    /// Chains by the sensor's numbers of their sites.
    unnamed: VecDeque<(u64, Unwound)>,
    _waiting: Option<Waiting>,
}

/// How often, while a file is read, it is looked whether stacks came.
const LOOK: Duration = Duration::from_micros(200);

/// Finds the sites of records. It reads files with debug information, which takes longer than a ring takes to fill: it belongs in
/// another thread than what reads the rings. Stacks of what comes meanwhile are unwound before the next name is looked for, for
/// until the sensor is told a chain it takes all that lead to its place for one.
#[derive(Default)]
pub(crate) struct Namer {
    /// Where the sensor is told of chains.
    chains: Option<Chains>,
    arrived: VecDeque<Arrived>,
    sites: Sites,
    young: HashMap<u64, SiteIndex>,
    old: HashMap<u64, SiteIndex>,
    unknown: u64,
}

impl Namer {
    pub(crate) fn new(chains: Option<Chains>) -> Self {
        Self { chains, ..Self::default() }
    }

    /// The next records that come, with their sites, and the sites that are new; nothing once no more come.
    pub(crate) fn next(&mut self, batches: &Receiver<Taken>) -> Option<TraceBatch> {
        loop {
            self.arrive_all(batches);
            let Some(first) = self.arrived.front_mut() else {
                let taken = batches.recv().ok()?;
                self.arrive(taken);
                continue;
            };
            match first.unnamed.pop_front() {
                Some((key, unwound)) => self.name(key, &unwound, batches),
                None => return self.arrived.pop_front().map(|arrived| self.finish(arrived)),
            }
        }
    }

    fn arrive_all(&mut self, batches: &Receiver<Taken>) {
        // How many wait then is bounded by what is handed over ([`crate::recording::Pipe`]).
        while let Ok(taken) = batches.try_recv() {
            self.arrive(taken);
        }
    }

    /// Names a chain. Where that takes files to be read, another thread does it, and what comes meanwhile is unwound.
    fn name(&mut self, key: u64, unwound: &Unwound, batches: &Receiver<Taken>) {
        let unread = self.sites.take_unread(unwound);
        if !unread.is_empty() {
            let read = std::thread::scope(|scope| {
                let reading = scope.spawn(|| unread.read());
                while !reading.is_finished() {
                    self.arrive_all(batches);
                    std::thread::sleep(LOOK);
                }
                reading.join().ok()
            });
            if let Some(read) = read {
                self.sites.put_names(read);
            }
        }
        if let Some(site) = self.sites.name(unwound) {
            self.remember(key, site);
        }
    }

    /// Unwinds the stacks of a batch, and tells the sensor.
    fn arrive(&mut self, taken: Taken) {
        let Taken { batch: RecordBatch { trace, sites, stacks }, mappings, mut waiting } = taken;
        let mut unnamed = VecDeque::with_capacity(stacks.len());
        for (stack, mappings) in stacks.iter().zip(mappings) {
            let sample = Sample {
                image: image(stack),
                ip: stack.ip,
                sp: stack.sp,
                bp: stack.bp,
                stack: &stack.stack,
                time_ns: stack.time_ns,
            };
            let unwound = self.sites.unwind(&sample, mappings);
            if let Some(chains) = &self.chains {
                chains.tell(stack.place, stack.site, unwound.returns());
            }
            unnamed.push_back((stack.site, unwound));
        }
        // The stacks are let go of.
        if let Some(waiting) = &mut waiting {
            waiting.lighten(trace.records.len());
        }
        self.arrived.push_back(Arrived { trace, sites, unnamed, _waiting: waiting });
    }

    /// The records of a batch whose chains have names.
    fn finish(&mut self, arrived: Arrived) -> TraceBatch {
        let Arrived { mut trace, sites, .. } = arrived;
        // Most records are of the same code as the one before.
        let mut last = (0, None);
        for (record, key) in trace.records.iter_mut().zip(sites) {
            if key != last.0 {
                last = (key, self.find(key));
            }
            record.site = last.1;
            self.unknown += u64::from(key != 0 && record.site.is_none());
        }
        trace.added.sites = self.sites.added();
        trace
    }

    fn find(&mut self, key: u64) -> Option<SiteIndex> {
        if key == 0 {
            return None;
        }
        if let Some(site) = self.young.get(&key) {
            return Some(*site);
        }
        let site = *self.old.get(&key)?;
        self.remember(key, site);
        Some(site)
    }

    fn remember(&mut self, key: u64, site: SiteIndex) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, site);
    }

    /// How well that went.
    pub(crate) fn named(&self) -> Named {
        let SiteCounts { whole, cut, lost, refused } = self.sites.counts();
        Named { contexts: SiteContexts { whole, cut, lost, refused }, records: self.unknown }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use hotset_facts::trace::{Operation, SiteState, TraceRecord};

    use super::*;

    fn batch(keys: &[u64], stacks: &[u64]) -> RecordBatch {
        let stack = |&site: &u64| StackSample {
            site,
            place: site,
            pid: u32::MAX,
            tid: 1,
            time_ns: 0,
            ip: 0x1000 * site,
            sp: 0x7000,
            bp: 0,
            stack_start: 0x8000,
            stack: Vec::new(),
            code: None,
        };
        let records = keys.iter().map(|_| TraceRecord::new(0, Operation::Read)).collect();
        RecordBatch {
            trace: TraceBatch { records, ..TraceBatch::default() },
            sites: keys.to_vec(),
            stacks: stacks.iter().map(stack).collect(),
        }
    }

    fn sites(trace: &TraceBatch) -> Vec<Option<u32>> {
        trace.records.iter().map(|record| record.site.map(|site| site.0)).collect()
    }

    #[test]
    fn records_of_code_that_was_seen_once_have_its_site() {
        let (mut namer, mut images) = (Namer::default(), Images::default());
        let (sender, receiver) = channel();
        let mut name = |batch| {
            sender.send(Taken::of(batch, &mut images)).expect("a receiver");
            namer.next(&receiver).expect("a batch")
        };
        let first = name(batch(&[7, 0, 8], &[7, 8]));
        assert_eq!(sites(&first), [Some(0), None, Some(1)]);
        assert_eq!(first.added.sites.len(), 2);
        assert!(first.added.sites.iter().all(|site| site.state == SiteState::Lost));
        let later = name(batch(&[8, 9, 7], &[]));
        assert_eq!(sites(&later), [Some(1), None, Some(0)]);
        assert!(later.added.sites.is_empty());
        let named = namer.named();
        assert_eq!((named.contexts.lost, named.records), (2, 1));
    }

    #[test]
    fn what_is_used_again_and_again_is_not_forgotten() {
        let mut namer = Namer::default();
        namer.remember(7, SiteIndex(0));
        for key in 0..3 * GENERATION as u64 {
            namer.remember(1_000 + key, SiteIndex(1));
            assert_eq!(namer.find(7), Some(SiteIndex(0)), "after {key}");
        }
        assert_eq!(namer.find(1_000), None);
        assert!(namer.young.len() + namer.old.len() <= 2 * GENERATION);
    }
}
