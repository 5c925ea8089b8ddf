//! Counts the exact curve of a file of 64-bit keys, little-endian: `curve FILE`. Prints the seconds that it took, without
//! reading the file, and the hits at a few limits. `bench/curves.py` compares it with the Python module.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a program that measures"
)]

use std::error::Error;
use std::time::Instant;

use hotset_sizing::distance::HashedStack;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: curve FILE")?;
    let bytes = std::fs::read(path)?;
    let (eights, _) = bytes.as_chunks::<8>();
    let keys: Vec<u64> = eights.iter().map(|&eight| u64::from_le_bytes(eight)).collect();
    drop(bytes);
    let started = Instant::now();
    let mut stack = HashedStack::new();
    stack.touch_all(&keys);
    let hits = stack.into_distances().hits_at(&[1_000, 30_000, 1_000_000]);
    println!("{:.3} {hits:?}", started.elapsed().as_secs_f64());
    Ok(())
}
