//! What `hotset top` shows: one interval as lines of processes, files and control groups, what each line says in a column,
//! their order, the sums since the start, and what went before.
//!
//! Everything here is bounded: what has no line of its own is summed up in [`TopFrame::unlisted`].

mod bounded;
mod column;
mod detail;
mod format;
mod frame;
mod history;
mod item;
mod needs;
mod order;
mod since;
mod tree;

#[cfg(test)]
mod tests;

pub use bounded::RECORDED_LINES;
pub use column::{Column, Value};
pub use detail::{DETAIL_LINES, Detail, detail};
pub use frame::{Names, NoNames, TopFrame};
pub use history::{FrameHistory, Point, TRAIL_LENGTH};
pub use item::{
    FileItem, GroupItem, GroupMemory, Item, ItemKey, KeptLine, Kind, Line, LineState, Lines,
    ProcessItem, Unlisted,
};
pub use needs::GroupNeeds;
pub use order::{Order, Ordering, place_of};
pub use since::{SINCE_LINES, SinceStart};
pub use tree::{TreeRow, tree};
