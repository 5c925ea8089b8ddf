//! For tests of sizing: sequences of pages and programs whose requests are known, what real kernels did with them under memory limits, and
//! predictions of that.
//!
//! One source for both sides: the program that runs in a virtual machine (`tests/src/bin/sizing`) makes its requests of the same
//! sequences as the references that are simulated.

mod compare;
mod numpy;
pub mod programs;
pub mod runs;
pub mod sequences;

pub use compare::{Compared, Errors, compare, references};
