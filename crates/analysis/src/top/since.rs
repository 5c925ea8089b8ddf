//! The sums since the start of a session, for at most so many items of each kind.

use std::collections::HashMap;

use hotset_facts::Observed;

use super::bounded::activity;
use super::frame::TopFrame;
use super::item::{GroupItem, Item, ItemKey, KeptLine, Kind, LineState, Lines, Unlisted};

/// Items of each kind that are summed apart. When there are more, the half that did least becomes one sum.
pub const SINCE_LINES: usize = 20_000;

/// Sums since the start. [`SinceStart::frame`] holds them as lines, so that views show them as they show an interval.
#[derive(Debug, Clone)]
pub struct SinceStart {
    frame: Option<TopFrame>,
    places: [HashMap<ItemKey, usize>; 3],
    bound: usize,
}

impl Default for SinceStart {
    fn default() -> Self {
        Self::with_bound(SINCE_LINES)
    }
}

impl SinceStart {
    /// Nothing yet; at most `bound` items of each kind.
    pub fn with_bound(bound: usize) -> Self {
        Self { frame: None, places: Default::default(), bound: bound.max(2) }
    }

    /// The sums, if there was an interval.
    pub fn frame(&self) -> Option<&TopFrame> {
        self.frame.as_ref()
    }

    /// Adds an interval, or the sums of several.
    pub fn add(&mut self, interval: &TopFrame) {
        let first = self.frame.is_none();
        let sums = self.frame.get_or_insert_with(|| empty(interval));
        if !first {
            sums.length_ns = sums.length_ns.saturating_add(interval.length_ns);
        }
        sums.at = interval.at;
        sums.ended_after_ns = interval.ended_after_ns;
        sums.totals.add(&interval.totals);
        sums.others.add(&interval.others);
        sums.losses = interval.losses.clone();
        let host = std::mem::replace(&mut sums.host, interval.host.clone());
        if !first {
            // States and pressure are those of the last interval, events are sums.
            let sum = |sum: &mut Observed<u64>, before: Observed<u64>| {
                *sum = before.zip_with(*sum, u64::saturating_add);
            };
            sum(&mut sums.host.refaulted_pages, host.refaulted_pages);
            sum(&mut sums.host.reclaimed_pages, host.reclaimed_pages);
            sum(&mut sums.host.written_back_pages, host.written_back_pages);
            let before = std::mem::replace(&mut sums.evicted_pages, interval.evicted_pages);
            sum(&mut sums.evicted_pages, before);
        }
        for (kind, new) in interval.lines.iter().enumerate() {
            sums.unlisted[kind].items =
                sums.unlisted[kind].items.max(interval.unlisted[kind].items);
            sums.unlisted[kind].io.add(&interval.unlisted[kind].io);
            let places = &mut self.places[kind];
            let room = (self.bound, &mut sums.unlisted[kind]);
            match (&mut sums.lines[kind], new) {
                (Lines::Processes(all), Lines::Processes(new)) => {
                    merge(all, places, new, room, |item| Item::Process(item), Clone::clone_from);
                }
                (Lines::Files(all), Lines::Files(new)) => {
                    merge(all, places, new, room, |item| Item::File(item), Clone::clone_from);
                }
                (Lines::Groups(all), Lines::Groups(new)) => {
                    merge(all, places, new, room, |item| Item::Group(item), GroupItem::follow);
                }
                _ => {}
            }
            if sums.lines[kind].len() > self.bound {
                shrink(sums, Kind::ALL[kind], self.bound / 2);
                *places = sums.lines[kind].iter().map(|line| line.item.key()).zip(0..).collect();
            }
        }
    }
}

fn empty(like: &TopFrame) -> TopFrame {
    TopFrame {
        totals: Default::default(),
        others: Default::default(),
        lines: Kind::ALL.map(Lines::none),
        pairs: Vec::new(),
        unlisted: Default::default(),
        host: like.host.clone(),
        losses: like.losses.clone(),
        ..*like
    }
}

/// Adds lines to those of the same items. Of new items at most `bound` become lines, those that did most: no other would be
/// left when there are too many.
fn merge<T: Clone>(
    all: &mut Vec<KeptLine<T>>,
    places: &mut HashMap<ItemKey, usize>,
    lines: &[KeptLine<T>],
    (bound, unlisted): (usize, &mut Unlisted),
    item: fn(&T) -> Item<'_>,
    follow: fn(&mut T, &T),
) {
    // What a screen keeps of earlier intervals was added when it happened.
    let happened = |line: &&KeptLine<T>| matches!(line.state, LineState::Active | LineState::Ended);
    let mut new: Vec<(u64, &KeptLine<T>)> = Vec::new();
    for line in lines.iter().filter(happened) {
        match places.get(&item(&line.item).key()).and_then(|&place| all.get_mut(place)) {
            Some(known) => {
                known.io.add(&line.io);
                follow(&mut known.item, &line.item);
                known.state = line.state;
            }
            None => new.push((activity(&line.io.unpack()), line)),
        }
    }
    if new.len() > bound {
        new.select_nth_unstable_by_key(bound, |(activity, _)| std::cmp::Reverse(*activity));
        new.drain(bound..).for_each(|(_, line)| unlisted.add(&line.io.unpack()));
    }
    for (_, line) in new {
        places.insert(item(&line.item).key(), all.len());
        all.push(line.clone());
    }
}

/// Leaves the `keep` lines that did most, and sums up the others.
fn shrink(sums: &mut TopFrame, kind: Kind, keep: usize) {
    fn cut<T>(lines: &mut Vec<KeptLine<T>>, keep: usize, unlisted: &mut Unlisted) {
        lines.sort_by_cached_key(|line| std::cmp::Reverse(activity(&line.io.unpack())));
        for line in lines.drain(keep.min(lines.len())..) {
            unlisted.add(&line.io.unpack());
        }
    }
    let unlisted = &mut sums.unlisted[kind as usize];
    match &mut sums.lines[kind as usize] {
        Lines::Processes(lines) => cut(lines, keep, unlisted),
        Lines::Files(lines) => cut(lines, keep, unlisted),
        Lines::Groups(lines) => cut(lines, keep, unlisted),
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::Observed;

    use super::super::item::GroupMemory;
    use super::*;

    #[test]
    fn refaults_of_a_group_are_a_sum_and_its_memory_is_the_last() {
        let group = |refaulted_pages, cache_bytes| GroupItem {
            path: Observed::Value("/a".into()),
            name: None,
            processes: 1,
            memory: GroupMemory { refaulted_pages, cache_bytes, ..GroupMemory::default() },
        };
        let mut sum = group(None, None);
        for (refaults, cache) in [(Some(5), Some(9)), (None, Some(8)), (Some(7), Some(3))] {
            sum.follow(&group(refaults, cache));
        }
        assert_eq!((sum.memory.refaulted_pages, sum.memory.cache_bytes), (Some(12), Some(3)));
    }
}
