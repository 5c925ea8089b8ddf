//! `hotset stat` and `hotset top`: intervals as lines, and on a full screen.

mod stat;
mod top;

pub(crate) use stat::stat;
pub(crate) use top::top;
