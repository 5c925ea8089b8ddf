//! What went before: a point an interval of the whole, and of the items that did most.

use std::collections::VecDeque;
use std::time::SystemTime;

use hotset_facts::{HostMemory, LiveIo, Observed, PackedLiveIo};

use super::bounded::activity;
use super::frame::TopFrame;
use super::item::{ItemKey, LineState};

/// Intervals that are remembered.
pub const TRAIL_LENGTH: usize = 240;

/// Items of each kind of which an interval is remembered.
const TRAILED_ITEMS: usize = 100;

/// One interval of the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// When it ended.
    pub at: SystemTime,
    /// How long it was, in nanoseconds.
    pub length_ns: u64,
    /// All that was counted.
    pub totals: LiveIo,
    /// Pages that left the cache.
    pub evicted_pages: Observed<u64>,
    /// The host.
    pub host: HostMemory,
    items: Vec<(ItemKey, PackedLiveIo)>,
    /// Every item is among `items`.
    complete: bool,
}

/// The last intervals, oldest first.
#[derive(Debug, Clone, Default)]
pub struct FrameHistory {
    points: VecDeque<Point>,
}

impl FrameHistory {
    /// Remembers an interval.
    pub fn push(&mut self, frame: &TopFrame) {
        if self.points.len() >= TRAIL_LENGTH {
            self.points.pop_front();
        }
        let (items, complete) = busiest(frame);
        self.points.push_back(Point {
            at: frame.at,
            length_ns: frame.length_ns,
            totals: frame.totals,
            evicted_pages: frame.evicted_pages,
            host: frame.host.clone(),
            items,
            complete,
        });
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// Remembers what another has after all that this one has.
    pub fn append(&mut self, newer: Self) {
        self.points.extend(newer.points);
        while self.points.len() > TRAIL_LENGTH {
            self.points.pop_front();
        }
    }

    /// The intervals, oldest first.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = &Point> + ExactSizeIterator {
        self.points.iter()
    }

    /// What an item did in each interval, oldest first; nothing where that was not kept.
    pub fn of<'a>(
        &'a self,
        key: &'a ItemKey,
    ) -> impl DoubleEndedIterator<Item = Option<LiveIo>> + 'a {
        self.points.iter().map(move |point| {
            let found =
                point.items.iter().find(|(other, _)| other == key).map(|(_, io)| io.unpack());
            found.or_else(|| point.complete.then(LiveIo::default))
        })
    }
}

/// The items that did most, and whether these are all.
fn busiest(frame: &TopFrame) -> (Vec<(ItemKey, PackedLiveIo)>, bool) {
    let mut items = Vec::new();
    let mut complete = frame.unlisted.iter().all(|unlisted| unlisted.items == 0);
    for lines in &frame.lines {
        let mut keyed: Vec<(u64, usize)> = (0..lines.len())
            .filter_map(|index| Some((activity(&lines.io(index)?), index)))
            .collect();
        if keyed.len() > TRAILED_ITEMS {
            keyed.select_nth_unstable_by(TRAILED_ITEMS, |a, b| b.cmp(a));
            keyed.truncate(TRAILED_ITEMS);
            complete = false;
        }
        let happened = keyed
            .into_iter()
            .filter_map(|(_, index)| lines.get(index))
            .filter(|line| matches!(line.state, LineState::Active | LineState::Ended));
        items.extend(happened.map(|line| (line.item.key(), line.io.into())));
    }
    (items, complete)
}
