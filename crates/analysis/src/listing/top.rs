//! The first N rows of an order, without keeping the others.

use hotset_facts::ListedFile;

use super::order::Order;

/// Rows kept so far: a heap whose root is the last of them, so that most newcomers are refused by one comparison.
#[derive(Debug)]
pub struct Top {
    order: Order,
    limit: usize,
    heap: Vec<ListedFile>,
}

impl Top {
    /// Keeps at most `limit` rows.
    pub fn new(order: Order, limit: usize) -> Self {
        Self { order, limit, heap: Vec::new() }
    }

    /// Whether a file would be kept: for callers to whom making a row costs something.
    pub fn wants(&self, file: &ListedFile) -> bool {
        self.heap.len() < self.limit
            || self.heap.first().is_some_and(|last| self.order.compare(file, last).is_lt())
    }

    /// Keeps a file if it belongs to the first ones.
    pub fn push(&mut self, file: ListedFile) {
        if !self.wants(&file) {
            return;
        }
        if self.heap.len() < self.limit {
            self.heap.push(file);
            self.rise(self.heap.len() - 1);
        } else if let Some(root) = self.heap.first_mut() {
            *root = file;
            self.sink(0);
        }
    }

    /// Adds the rows that another thread kept.
    pub fn merge(&mut self, other: Self) {
        for file in other.heap {
            self.push(file);
        }
    }

    /// The rows in order.
    pub fn into_rows(mut self) -> Vec<ListedFile> {
        self.heap.sort_by(|a, b| self.order.compare(a, b));
        self.heap
    }

    fn is_later(&self, a: usize, b: usize) -> bool {
        self.order.compare(&self.heap[a], &self.heap[b]).is_gt()
    }

    fn rise(&mut self, mut at: usize) {
        while at > 0 && self.is_later(at, (at - 1) / 2) {
            self.heap.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn sink(&mut self, mut at: usize) {
        loop {
            let mut latest = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.heap.len() && self.is_later(child, latest) {
                    latest = child;
                }
            }
            if latest == at {
                return;
            }
            self.heap.swap(at, latest);
            at = latest;
        }
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
