//! The first N rows of an order, without keeping the others.

use hotset_facts::ListedFile;

use super::order::Order;

/// Rows kept so far: up to twice as many as are wanted, before the later half goes.
#[derive(Debug)]
pub struct Top {
    order: Order,
    limit: usize,
    rows: Vec<ListedFile>,
    /// The later half went once: the row at `limit - 1` was the last of those that stayed.
    cut: bool,
}

impl Top {
    /// Keeps at most `limit` rows.
    pub fn new(order: Order, limit: usize) -> Self {
        Self { order, limit, rows: Vec::new(), cut: false }
    }

    /// Whether a file may be one of the first: for callers to whom making a row costs something.
    pub fn wants(&self, file: &ListedFile) -> bool {
        let Some(last) = self.limit.checked_sub(1) else { return false };
        !self.cut || self.rows.get(last).is_none_or(|last| self.order.compare(file, last).is_lt())
    }

    /// Keeps a file if it belongs to the first ones.
    pub fn push(&mut self, file: ListedFile) {
        if !self.wants(&file) {
            return;
        }
        self.rows.push(file);
        if self.rows.len() >= self.limit.saturating_mul(2) {
            let order = self.order;
            self.rows.select_nth_unstable_by(self.limit - 1, |a, b| order.compare(a, b));
            self.rows.truncate(self.limit);
            self.cut = true;
        }
    }

    /// Adds the rows that another thread kept.
    pub fn merge(&mut self, other: Self) {
        for file in other.rows {
            self.push(file);
        }
    }

    /// The rows in order.
    pub fn into_rows(mut self) -> Vec<ListedFile> {
        self.rows.sort_by(|a, b| self.order.compare(a, b));
        self.rows.truncate(self.limit);
        self.rows
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
