//! Counts the exact curve of a file of 64-bit keys, little-endian: `curve FILE`. Prints the seconds of CPU time and of the
//! clock that it took, without reading the file, and the hits at a few limits. `bench/curves.py` compares it with the Python module.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a program that measures"
)]

use std::error::Error;
use std::time::Instant;

use hotset_sizing::distance::HashedStack;

/// CPU time of the thread so far, in seconds.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let on_cpu_ns: u64 = stat.split(' ').next().unwrap_or_default().parse()?;
    Ok(on_cpu_ns as f64 / 1e9)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: curve FILE")?;
    let bytes = std::fs::read(path)?;
    let (eights, _) = bytes.as_chunks::<8>();
    let keys: Vec<u64> = eights.iter().map(|&eight| u64::from_le_bytes(eight)).collect();
    drop(bytes);
    let (started, cpu_before) = (Instant::now(), cpu_s()?);
    let mut stack = HashedStack::new();
    stack.touch_all(&keys);
    let hits = stack.into_distances().hits_at(&[1_000, 30_000, 1_000_000]);
    let wall = started.elapsed().as_secs_f64();
    println!("{:.3} {wall:.3} {hits:?}", cpu_s()? - cpu_before);
    Ok(())
}
