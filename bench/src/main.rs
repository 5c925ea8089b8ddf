//! Loops of file calls that time themselves, so that start-up of whoever watches is not in the figure.
//!
//! Prints nanoseconds an operation. `loops pread4k FILE CALLS` (the mean, and the median of parts), `loops access PATH CALLS` (the same of path lookups), `loops replay-pread4k FILE CALLS` (the same as steps of a replay, the mean), `loops small-files DIR FILES` (those of the first and of a second pass), `loops make-files DIR FILES`,
//! `loops spawn PROGRAM RUNS` and `loops lab PROGRAM RUNS` print the wall time of each run of a program in nanoseconds, started by
//! bare posix_spawn or by hotset's engine; `loops states DIR ROUNDS` sets and verifies cache states on a directory.
//! `loops cachestat FILE CELLS` (for all cells together), `loops walk DIR THREADS` and its floor `loops walk-floor DIR THREADS`. `loops timed OUTPUT PROGRAM ARGUMENT…` measures another program.
//! `loops size-dense TRACE 1`, `size-hashed`, and `size-lists TRACE THREADS`, `size-lists-6.12`, `size-mglru` predict from a trace; `loops size-traces DIR REFERENCES` writes such.
//! `loops live MILLISECONDS COUNT` samples the host as `hotset top` does, `loops crowd DIR PROCESSES` gives it much to see, and `loops curves EXPONENT|off|lookups COUNT`
//! samples it as `hotset export` does, with curves of control groups; `loops sampled RECORDING EXPONENT` says how right these are.
//! `loops baselines DIR SESSIONS` compares saved sessions of `hotset bench` with baselines of so many others, `baselines-ahead` those of programs that ran ahead of all others.

#![allow(clippy::print_stdout, reason = "a program whose output is its result")]

mod baselines;
mod lab;
mod live;
mod replay;
mod sampled;
mod size;
mod spawn;
mod timed;
mod walk;

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files in one directory, as source trees and caches have them.
const FILES_A_DIRECTORY: u64 = 100;
const SMALL_FILE_BYTES: usize = 3_000;
const BLOCK: usize = 4096;
/// Each timed alone.
const PARTS: u64 = 40;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().collect();
    if let [_, verb, rest @ ..] = words.as_slice()
        && verb == "timed"
    {
        println!("{}", timed::timed(rest)?);
        return Ok(());
    }
    let [_, verb, path, count] = words.as_slice() else {
        return Err(
            "usage: loops pread4k|access|replay-pread4k|small-files|make-files|cachestat|walk|walk-floor|size-… PATH COUNT"
                .into(),
        );
    };
    let (path, count) = (Path::new(path), count.parse()?);
    match verb.as_str() {
        "pread4k" => {
            let [mean, median] = pread4k(path, count)?;
            println!("{mean:.1} {median:.1}");
        }
        "access" => {
            let [mean, median] = access(path, count)?;
            println!("{mean:.1} {median:.1}");
        }
        "replay-pread4k" => println!("{:.1}", replay::preads(path, count)?),
        "small-files" => {
            let [first, again] = small_files(path, count)?;
            println!("{first:.1} {again:.1}");
        }
        "cachestat" => println!("{:.1}", cachestat(path, count)?),
        "make-files" => make_files(path, count)?,
        "spawn" => println!("{}", lines(&spawn::bare(&text(path)?, count)?)),
        "baselines" => println!("{}", baselines::rates(path, count.try_into()?, false)?),
        "baselines-ahead" => println!("{}", baselines::rates(path, count.try_into()?, true)?),
        "live" => live::watch(&text(path)?, count)?,
        "sampled" => println!("{}", sampled::sampled(path, count.try_into()?)?),
        "curves" => live::curves(&text(path)?, count)?,
        "crowd" => live::crowd(path, count)?,
        "lab" => println!("{}", lines(&lab::timed(&text(path)?, count)?)),
        "states" => println!("{}", lab::states(path, count)?.join("\n")),
        "walk" => println!("{}", walk::walker(path, count)),
        "walk-floor" => println!("{}", walk::floor(path, count)?),
        verb if verb.starts_with("size-") => println!("{}", size::run(verb, path, count)?),
        other => return Err(format!("unknown loop {other}").into()),
    }
    Ok(())
}

fn text(path: &Path) -> Result<String, Box<dyn Error>> {
    Ok(path.to_str().ok_or("the path must be UTF-8")?.to_owned())
}

fn lines(times: &[u64]) -> String {
    let lines: Vec<String> = times.iter().map(u64::to_string).collect();
    lines.join("\n")
}

/// The time of one operation: of all of them, and in the median of these parts, which a disturbed one does not change.
fn mean_and_median(parts: &mut [Duration], operations_of_a_part: u64) -> [f64; 2] {
    let all: Duration = parts.iter().sum();
    let mean = all.as_nanos() as f64 / (parts.len() as u64 * operations_of_a_part).max(1) as f64;
    parts.sort_unstable();
    let median = parts.get(parts.len() / 2).copied().unwrap_or_default();
    [mean, median.as_nanos() as f64 / operations_of_a_part as f64]
}

/// Random numbers that cost next to nothing.
struct Xorshift(u64);

impl Default for Xorshift {
    fn default() -> Self {
        Self(88_172_645_463_325_252)
    }
}

impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Random preads of 4 KiB over a file that fits the cache.
fn pread4k(path: &Path, calls: u64) -> Result<[f64; 2], Box<dyn Error>> {
    let file = File::open(path)?;
    let blocks = file.metadata()?.len() / BLOCK as u64;
    let mut buffer = [0_u8; BLOCK];
    let mut numbers = Xorshift::default();
    let calls_of_a_part = (calls / PARTS).max(1);
    let mut parts = Vec::new();
    for _ in 0..calls / calls_of_a_part {
        let start = Instant::now();
        for _ in 0..calls_of_a_part {
            file.read_exact_at(&mut buffer, numbers.next() % blocks * BLOCK as u64)?;
            black_box(&buffer);
        }
        parts.push(start.elapsed());
    }
    Ok(mean_and_median(&mut parts, calls_of_a_part))
}

/// Looks a path up by access(2), whether it is there or not.
fn access(path: &Path, calls: u64) -> Result<[f64; 2], Box<dyn Error>> {
    let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
    let calls_of_a_part = (calls / PARTS).max(1);
    let mut parts = Vec::new();
    for _ in 0..calls / calls_of_a_part {
        let start = Instant::now();
        for _ in 0..calls_of_a_part {
            // SAFETY: a text that ends in a zero.
            black_box(unsafe { libc::access(path.as_ptr(), libc::F_OK) });
        }
        parts.push(start.elapsed());
    }
    Ok(mean_and_median(&mut parts, calls_of_a_part))
}

/// Opens, reads to the end and closes each file, twice: the files are new to whoever watches this process in the first pass only.
/// The median part of each pass.
fn small_files(directory: &Path, files: u64) -> Result<[f64; 2], Box<dyn Error>> {
    let paths: Vec<PathBuf> = (0..files).map(|i| path_of(directory, i)).collect();
    let mut buffer = vec![0_u8; 64 << 10];
    let files_of_a_part = (files / PARTS).max(1);
    let mut pass = || -> Result<f64, Box<dyn Error>> {
        let mut parts = Vec::new();
        for some in paths.chunks_exact(files_of_a_part as usize) {
            let start = Instant::now();
            for path in some {
                let mut file = File::open(path)?;
                while file.read(&mut buffer)? > 0 {}
            }
            parts.push(start.elapsed());
        }
        let [_, median] = mean_and_median(&mut parts, files_of_a_part);
        Ok(median)
    };
    Ok([pass()?, pass()?])
}

/// Asks once for each of so many equal parts of a file: what a picture of it can't do without.
fn cachestat(path: &Path, cells: u64) -> Result<f64, Box<dyn Error>> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let cell = size.div_ceil(cells.max(1)).next_multiple_of(BLOCK as u64);
    let start = Instant::now();
    let mut offset = 0;
    while offset < size {
        black_box(hotset_sys::cache::cachestat(&file, offset, cell.min(size - offset))?);
        offset += cell;
    }
    Ok(start.elapsed().as_nanos() as f64)
}

fn make_files(directory: &Path, files: u64) -> Result<(), Box<dyn Error>> {
    for i in 0..files {
        let path = path_of(directory, i);
        if i % FILES_A_DIRECTORY == 0
            && let Some(parent) = path.parent()
        {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, [b'x'; SMALL_FILE_BYTES])?;
    }
    Ok(())
}

fn path_of(directory: &Path, i: u64) -> PathBuf {
    directory.join(format!("d{}", i / FILES_A_DIRECTORY)).join(format!("f{i}"))
}
