//! Pure interpretation.
#![forbid(unsafe_code)]
