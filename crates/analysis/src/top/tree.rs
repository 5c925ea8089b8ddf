//! Lines as a tree: processes below their parents, control groups below those that contain them.

use std::collections::HashMap;

use super::item::{Item, Lines};
use super::order::{Order, Ordering};

/// A line in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeRow {
    /// Its index among the lines.
    pub index: u32,
    /// How many are above it.
    pub depth: u16,
    /// Whether it is the last one below its parent.
    pub last: bool,
    /// For each level above, from the lowest bit: more follows there, so a guide is drawn.
    pub guides: u64,
}

/// The lines `kept` as a tree; siblings are in `order`. A line whose parent is not among them is a root. Files have no tree:
/// all are roots.
pub fn tree(lines: &Lines, kept: Vec<u32>, order: Order) -> Vec<TreeRow> {
    let wanted = kept.len();
    let sorted = Ordering::of(lines, kept, order, wanted).indices;
    let parents = parents(lines, &sorted);
    let mut below: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut roots = Vec::new();
    for &index in &sorted {
        match parents.get(&index) {
            Some(&parent) => below.entry(parent).or_default().push(index),
            None => roots.push(index),
        }
    }
    let mut rows = Vec::with_capacity(sorted.len());
    let mut left: Vec<TreeRow> = level(&roots, 0, 0);
    while let Some(row) = left.pop() {
        rows.push(row);
        if let Some(children) = below.remove(&row.index) {
            let more = u64::from(!row.last) << row.depth.min(63);
            left.extend(level(&children, row.depth.saturating_add(1), row.guides | more));
        }
    }
    // Parents of each other, as a recording could claim: they are shown all the same.
    let mut lost: Vec<u32> = below.into_values().flatten().collect();
    lost.sort_unstable();
    rows.extend(lost.into_iter().map(|index| TreeRow { index, depth: 0, last: true, guides: 0 }));
    rows
}

/// Siblings, the first one last, as a stack wants them.
fn level(indices: &[u32], depth: u16, guides: u64) -> Vec<TreeRow> {
    let last = indices.len().saturating_sub(1);
    let row =
        |(place, &index): (usize, &u32)| TreeRow { index, depth, last: place == last, guides };
    indices.iter().enumerate().map(row).rev().collect()
}

fn parents(lines: &Lines, kept: &[u32]) -> HashMap<u32, u32> {
    match lines {
        Lines::Processes(_) => process_parents(lines, kept),
        Lines::Groups(_) => group_parents(lines, kept),
        Lines::Files(_) => HashMap::new(),
    }
}

fn process_parents(lines: &Lines, kept: &[u32]) -> HashMap<u32, u32> {
    let process = |index: u32| match lines.get(index as usize).map(|line| line.item) {
        Some(Item::Process(item)) => Some(&item.process),
        _ => None,
    };
    let by_pid: HashMap<u32, u32> =
        kept.iter().filter_map(|&index| Some((process(index)?.pid, index))).collect();
    let parent = |&index: &u32| {
        let parent = *by_pid.get(&process(index)?.ppid.value()?)?;
        (parent != index).then_some((index, parent))
    };
    kept.iter().filter_map(parent).collect()
}

fn group_parents(lines: &Lines, kept: &[u32]) -> HashMap<u32, u32> {
    let path = |index: u32| match lines.get(index as usize).map(|line| line.item) {
        Some(Item::Group(item)) => item.path.as_value(),
        _ => None,
    };
    let by_path: HashMap<&str, u32> =
        kept.iter().filter_map(|&index| Some((&**path(index)?, index))).collect();
    let parent = |&index: &u32| {
        let mut rest: &str = path(index)?;
        while let Some(slash) = rest.rfind('/') {
            rest = &rest[..slash];
            let above = if rest.is_empty() { "/" } else { rest };
            if let Some(&parent) = by_path.get(above).filter(|&&parent| parent != index) {
                return Some((index, parent));
            }
        }
        None
    };
    kept.iter().filter_map(parent).collect()
}
