//! Intervals as they end: lines of `hotset stat`.

pub mod stat;
