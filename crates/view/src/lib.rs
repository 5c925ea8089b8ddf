//! Bytes out of a summary.
#![forbid(unsafe_code)]
