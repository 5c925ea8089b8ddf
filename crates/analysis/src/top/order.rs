//! The order of lines: only those that are looked at are put in order, the others only on their side of them.

use std::cmp;

use super::column::Column;
use super::item::{ItemKey, Lines};

/// What lines are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The column.
    pub by: Column,
    /// Largest first.
    pub descending: bool,
}

impl Order {
    /// By a column, in the direction that it is usually wanted in.
    pub fn usual(by: Column) -> Self {
        Self { by, descending: by.largest_first() }
    }
}

/// Lines by their indices, of which the first few are in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ordering {
    /// Indices of lines.
    pub indices: Vec<u32>,
    /// So many of them are in order.
    pub sorted: usize,
}

impl Ordering {
    /// The lines `kept`, the first `wanted` of them in order. Equal lines stay in the order of their indices.
    pub fn of(lines: &Lines, kept: Vec<u32>, order: Order, wanted: usize) -> Self {
        let wanted = wanted.min(kept.len());
        let mut keyed: Vec<(f64, u32)> =
            kept.into_iter().map(|index| (rank(lines, index, order), index)).collect();
        let compare = |a: &(f64, u32), b: &(f64, u32)| compare(lines, order, a, b);
        if wanted < keyed.len() {
            keyed.select_nth_unstable_by(wanted, compare);
        }
        if let Some(front) = keyed.get_mut(..wanted) {
            front.sort_unstable_by(compare);
        }
        let indices = keyed.into_iter().map(|(_, index)| index).collect();
        Self { indices, sorted: wanted }
    }

    /// Where the line `index` is, if that part is in order.
    pub fn find(&self, index: u32) -> Option<usize> {
        self.indices.get(..self.sorted)?.iter().position(|&other| other == index)
    }
}

/// Which place among `kept` the line of `key` has in `order`, without putting them in order.
pub fn place_of(lines: &Lines, kept: &[u32], order: Order, key: &ItemKey) -> Option<usize> {
    let index = u32::try_from(lines.position(key)?).ok()?;
    let own = (rank(lines, index, order), index);
    let mut found = false;
    let mut before = 0;
    for &other in kept {
        found |= other == index;
        let other = (rank(lines, other, order), other);
        before += usize::from(compare(lines, order, &other, &own) == cmp::Ordering::Less);
    }
    found.then_some(before)
}

fn rank(lines: &Lines, index: u32, order: Order) -> f64 {
    lines.get(index as usize).and_then(|line| order.by.rank(&line)).unwrap_or(0.0)
}

/// By rank, then by name where the column is one, then by index.
fn compare(lines: &Lines, order: Order, a: &(f64, u32), b: &(f64, u32)) -> cmp::Ordering {
    let by_value = a.0.total_cmp(&b.0).then_with(|| {
        if order.by.largest_first() || order.by == Column::Pid {
            return cmp::Ordering::Equal;
        }
        match (lines.get(a.1 as usize), lines.get(b.1 as usize)) {
            (Some(a), Some(b)) => order.by.compare(&a, &b),
            _ => cmp::Ordering::Equal,
        }
    });
    let by_value = if order.descending { by_value.reverse() } else { by_value };
    by_value.then(a.1.cmp(&b.1))
}
