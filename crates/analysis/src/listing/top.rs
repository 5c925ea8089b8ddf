//! The first N rows of an order, without keeping the others.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hotset_facts::ListedFile;

use super::order::Order;

/// Rows kept so far: a heap whose top is the last of them, so that most newcomers are refused by one comparison.
#[derive(Debug)]
pub struct Top {
    order: Order,
    limit: usize,
    heap: BinaryHeap<Ranked>,
}

/// A row where the order puts it.
#[derive(Debug)]
struct Ranked {
    order: Order,
    file: ListedFile,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order.compare(&self.file, &other.file)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

impl Top {
    /// Keeps at most `limit` rows.
    pub fn new(order: Order, limit: usize) -> Self {
        Self { order, limit, heap: BinaryHeap::new() }
    }

    /// Whether a file would be kept: for callers to whom making a row costs something.
    pub fn wants(&self, file: &ListedFile) -> bool {
        self.heap.len() < self.limit
            || self.heap.peek().is_some_and(|last| self.order.compare(file, &last.file).is_lt())
    }

    /// Keeps a file if it belongs to the first ones.
    pub fn push(&mut self, file: ListedFile) {
        if !self.wants(&file) {
            return;
        }
        self.heap.push(Ranked { order: self.order, file });
        if self.heap.len() > self.limit {
            self.heap.pop();
        }
    }

    /// Adds the rows that another thread kept.
    pub fn merge(&mut self, other: Self) {
        other.heap.into_iter().for_each(|ranked| self.push(ranked.file));
    }

    /// The rows in order.
    pub fn into_rows(self) -> Vec<ListedFile> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::{Direction, SortKey};
    use super::super::testing::{file, unknown};
    use super::*;

    #[test]
    fn the_first_rows_are_those_of_the_whole_sorted() {
        let order = Order { key: SortKey::Cached, direction: Direction::Usual };
        let mut all: Vec<ListedFile> =
            (0..500_u64).map(|i| file(&format!("/{i}"), 1 << 20, i * 7919 % 250)).collect();
        all.push(unknown("/u", 1));
        for limit in [0, 1, 2, 7, 100, 501, 600] {
            let (mut a, mut b) = (Top::new(order, limit), Top::new(order, limit));
            for (i, file) in all.iter().enumerate() {
                let half = if i % 3 == 0 { &mut a } else { &mut b };
                half.push(file.clone());
            }
            a.merge(b);
            let mut wanted = all.clone();
            wanted.sort_by(|a, b| order.compare(a, b));
            wanted.truncate(limit);
            assert_eq!(a.into_rows(), wanted, "{limit}");
        }
    }
}
