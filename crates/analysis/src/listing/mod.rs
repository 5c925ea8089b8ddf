//! A listing of cache states: each number that a row, a roll-up or a total shows, and which rows are shown in which order.

mod arena;
mod cells;
mod kept;
mod notes;
mod numbers;
mod order;
mod rollup;
mod select;
#[cfg(test)]
mod testing;
mod top;
mod varint;

pub use arena::{Arena, sorted};
pub use cells::{Fill, bar, fill_of};
pub use kept::{KeptRows, RowChoice, RowKind, RowStore, is_met};
pub use notes::{NAMED, Notes, Unknown};
pub use numbers::{RowNumbers, TotalNumbers};
pub use order::{Direction, Order, SortKey};
pub use rollup::{DirectoryRow, RollUp};
pub use select::{Only, all_cached};
pub use top::Top;
