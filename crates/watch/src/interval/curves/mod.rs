//! Curves of control groups: how much of what each group refers to would be cached at other limits, from a sample of the pages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hotset_facts::{GroupCurve, LiveCurves, Observed};
use hotset_observe::live::{LiveSample, PageReference, ReferenceKind};
use hotset_sizing::sample::{DEFAULT_EXPONENT, Sampler, limit_grid};

/// What a group's sample may take, in bytes, and those of all groups together.
const GROUP_BYTES: usize = 32 << 10;
const ALL_BYTES: usize = 8 << 20;
/// What the one sample of everything may take, in bytes.
const TOGETHER_BYTES: usize = 1 << 20;
/// What a group takes besides, in bytes, and each limit of its curve.
const BESIDE_BYTES: usize = 1_024;
const LIMIT_BYTES: usize = 8;
/// The largest limit that is told apart, in pages: 1 TiB.
const LARGEST_LIMIT: u64 = 1 << 28;
/// Intervals without a reference after which a group makes room for another.
const IDLE_INTERVALS: u32 = 60;
/// One in so many references to pages in the sample may be lost before fewer pages are taken into it.
const LOST_OF: u64 = 100;

/// Which curves are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurveOptions {
    /// One in 2^exponent pages is in the sample, until more references to these come than can be taken.
    pub exponent: u32,
    /// Everything that is observed is one cache, and has one curve; else each control group has its own.
    pub together: bool,
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self { exponent: DEFAULT_EXPONENT, together: false }
    }
}

/// A control group by its path; none stands for everything.
type Key = Option<Arc<str>>;

/// A group's sample, and what came in the interval under way.
#[derive(Debug)]
struct Group {
    sampler: Sampler,
    references: u64,
    /// References to pages in the sample, and those that were lost.
    sampled: u64,
    lost: u64,
    idle_intervals: u32,
}

impl Group {
    /// What is shown of the interval.
    fn take(&mut self, group: Key) -> GroupCurve {
        let (sampled, lost) = (std::mem::take(&mut self.sampled), std::mem::take(&mut self.lost));
        let references = std::mem::take(&mut self.references);
        // What the sample lacks, because it was lost, must not count as if other pages were used more often.
        let seen = u128::from(references) * u128::from(sampled);
        let seen = seen.checked_div(u128::from(sampled) + u128::from(lost));
        self.sampler.count(seen.map_or(references, |seen| seen as u64));
        GroupCurve {
            group,
            exponent: self.sampler.exponent(),
            pages: self.sampler.pages() as u64,
            references,
            lost,
            counts: self.sampler.take().into_counts(),
        }
    }
}

/// The samples of all groups.
#[derive(Debug)]
pub(super) struct Curves {
    together: bool,
    /// What a new group begins with.
    empty: Sampler,
    most_groups: usize,
    groups: HashMap<Key, Group>,
    /// Those that found no room in this interval.
    beyond: HashSet<Arc<str>>,
    unattributed: u64,
    /// References to pages in the sample in this interval, and those lost up to the last one.
    sampled: u64,
    lost_before: u64,
}

impl Curves {
    pub(super) fn new(options: CurveOptions) -> Self {
        let limits = limit_grid(LARGEST_LIMIT);
        let bytes = if options.together { TOGETHER_BYTES } else { GROUP_BYTES };
        let left = bytes.saturating_sub(BESIDE_BYTES + LIMIT_BYTES * limits.len());
        let most_pages = Sampler::most_pages_in(left);
        Self {
            together: options.together,
            empty: Sampler::of_sample(options.exponent, most_pages, &limits),
            most_groups: if options.together { 1 } else { ALL_BYTES / GROUP_BYTES },
            groups: HashMap::new(),
            beyond: HashSet::new(),
            unattributed: 0,
            sampled: 0,
            lost_before: 0,
        }
    }

    /// Takes a reference to a page in the sample, of a process in this group.
    pub(super) fn take(&mut self, reference: PageReference, group: Option<&Observed<Arc<str>>>) {
        if reference.kind == ReferenceKind::Removed {
            self.groups.values_mut().for_each(|group| group.sampler.remove(reference.hash));
            return;
        }
        self.sampled += 1;
        match self.group(group) {
            Some(group) => {
                group.sampled += 1;
                group.sampler.touch_sampled(reference.hash);
            }
            None => self.unattributed += 1,
        }
    }

    /// Ends an interval, in which this was counted. `exponent` is that of the sensor, `lost` counts references since the session began;
    /// `is_gone` says of a group that it is not there any more.
    pub(super) fn interval(
        &mut self,
        counted: &LiveSample,
        exponent: u32,
        lost: u64,
        is_gone: impl Fn(&str) -> bool,
    ) -> LiveCurves {
        let mut pages = vec![0_u64; counted.processes.len()];
        for row in &counted.rows {
            let io = row.io.unpack();
            if let Some(sum) = pages.get_mut(row.process as usize) {
                *sum += io.read_pages + io.write_pages;
            }
        }
        for (process, pages) in counted.processes.iter().zip(pages) {
            self.count(&process.cgroup, pages, 0);
        }
        for process in &counted.references {
            self.count(&process.cgroup, process.faults, process.lost);
        }
        let mut groups: Vec<GroupCurve> = Vec::new();
        for (key, group) in &mut self.groups {
            if group.references == 0 && group.sampled == 0 && group.lost == 0 {
                group.idle_intervals = group.idle_intervals.saturating_add(1);
            } else {
                group.idle_intervals = 0;
                groups.push(group.take(key.clone()));
            }
        }
        groups.sort_by(|a, b| a.group.cmp(&b.group));
        self.groups.retain(|key, group| {
            group.idle_intervals == 0 || key.as_deref().is_none_or(|path| !is_gone(path))
        });
        LiveCurves {
            groups,
            exponent,
            groups_beyond: std::mem::take(&mut self.beyond).len() as u64,
            unattributed: std::mem::take(&mut self.unattributed),
            lost: lost.wrapping_sub(std::mem::replace(&mut self.lost_before, lost)),
        }
    }

    /// With too many losses in the interval that `ended`: fewer pages, one in 2^(this many), are to be in the sample from now on.
    pub(super) fn fewer(&mut self, ended: &LiveCurves) -> Option<u32> {
        let sampled = std::mem::take(&mut self.sampled);
        if ended.lost.saturating_mul(LOST_OF) <= sampled {
            return None;
        }
        let exponent = ended.exponent.saturating_add(1);
        self.empty.raise(exponent);
        self.groups.values_mut().for_each(|group| group.sampler.raise(exponent));
        Some(exponent)
    }

    fn count(&mut self, group: &Observed<Arc<str>>, references: u64, lost: u64) {
        if references == 0 && lost == 0 {
            return;
        }
        if let Some(group) = self.group(Some(group)) {
            group.references = group.references.saturating_add(references);
            group.lost += lost;
        }
    }

    /// The sample of a group, a new one if there is room; none where it is not known which group it is.
    fn group(&mut self, group: Option<&Observed<Arc<str>>>) -> Option<&mut Group> {
        let key = match group.and_then(Observed::as_value) {
            _ if self.together => None,
            Some(path) => Some(Arc::clone(path)),
            None => return None,
        };
        if !self.groups.contains_key(&key) && !self.make_room() {
            self.beyond.extend(key);
            return None;
        }
        let empty = &self.empty;
        Some(self.groups.entry(key).or_insert_with(|| Group {
            sampler: empty.clone(),
            references: 0,
            sampled: 0,
            lost: 0,
            idle_intervals: 0,
        }))
    }

    /// Whether there is room for one more group: without any, the one that did nothing for longest is forgotten.
    fn make_room(&mut self) -> bool {
        if self.groups.len() < self.most_groups {
            return true;
        }
        let idle = self.groups.iter().filter(|(_, group)| group.idle_intervals >= IDLE_INTERVALS);
        let longest =
            idle.max_by_key(|(_, group)| group.idle_intervals).map(|(key, _)| key.clone());
        longest.is_some_and(|key| self.groups.remove(&key).is_some())
    }
}

#[cfg(test)]
mod tests;
