//! How fast `hotset size` predicts: exact curves, and simulations of twelve limits.
//!
//! The references are read from a trace in the format that libCacheSim calls oracleGeneral, so that its programs can be given the
//! same file. Only what is predicted is timed, not the reading.

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::time::Instant;

use hotset_facts::random::Random;
use hotset_sizing::distance::{DenseStack, Distances, HashedStack};
use hotset_sizing::sample::{FileIdentity, hash};
use hotset_sizing::{Costs, PolicyKind, References, Request, RequestKind, simulate};

/// Pages of each trace; not all of them come up.
const PAGES: u32 = 1_000_000;
/// Limits in pages, from 0.5 % of them to nearly all.
const LIMITS: [u64; 12] = [
    5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 180_000, 260_000, 380_000, 540_000, 760_000,
    950_000,
];
/// About those of a copy of a cached page, and of a read from a device.
const COSTS: Costs = Costs { hit_ns: 700, miss_ns: 80_000 };
/// As `hotset size` has it.
const PHASES: u8 = 5;
/// Time of a reference, number of the page, its size, and the next reference to it, which nobody asks for here.
const RECORD: usize = 4 + 8 + 4 + 8;

/// What the first word says of traces in `path`: nanoseconds, and the bytes of memory that it took beyond the references; of
/// `size-curve` the misses at each hundredth of all pages; of `size-traces`, which writes them, nothing.
pub(crate) fn run(verb: &str, path: &Path, count: u64) -> Result<String, Box<dyn Error>> {
    match verb {
        "size-traces" => write_traces(path, count).map(|()| String::new()),
        "size-curve" => Ok(curve(&read(path)?)),
        "size-dense" => {
            let pages = read(path)?;
            measured(|| dense(&pages))
        }
        "size-hashed" => {
            let file = FileIdentity::new(0, 1, 0);
            let keys: Vec<u64> = read(path)?.iter().map(|&page| hash(file, page.into())).collect();
            measured(|| {
                let mut stack = HashedStack::new();
                stack.touch_all(&keys);
                stack.into_distances()
            })
        }
        verb => {
            let policy = policy(verb).ok_or_else(|| format!("unknown loop {verb}"))?;
            let references = references(read(path)?)?;
            measured(|| simulate(&references, policy, &LIMITS, &COSTS, count as usize))
        }
    }
}

fn policy(verb: &str) -> Option<PolicyKind> {
    match verb {
        "size-lists" => Some(PolicyKind::Classic),
        "size-lists-6.12" => Some(PolicyKind::ClassicOldSizes { phases: PHASES }),
        "size-mglru" => Some(PolicyKind::Mglru),
        _ => None,
    }
}

fn dense(pages: &[u32]) -> Distances {
    let mut stack = DenseStack::new(PAGES);
    stack.touch_all(pages);
    stack.into_distances()
}

fn curve(pages: &[u32]) -> String {
    let limits: Vec<u64> = (1..=100).map(|part| part * u64::from(PAGES) / 100).collect();
    let distances = dense(pages);
    let misses = distances.hits_at(&limits).into_iter().map(|hits| distances.references() - hits);
    let lines: Vec<String> =
        limits.iter().zip(misses).map(|(limit, misses)| format!("{limit} {misses}")).collect();
    lines.join("\n")
}

/// Each page is read by a request of its own.
fn references(pages: Vec<u32>) -> Result<References, Box<dyn Error>> {
    let read = Request { pages: 1, own_ns: 0, kind: RequestKind::Read, continues: false };
    let requests = vec![read; pages.len()];
    Ok(References::new(pages, requests)?)
}

fn measured<T>(work: impl FnOnce() -> T) -> Result<String, Box<dyn Error>> {
    // The peak begins anew (proc_pid_clear_refs(5)).
    fs::write("/proc/self/clear_refs", "5")?;
    let before = status_bytes("VmRSS")?;
    let start = Instant::now();
    black_box(work());
    let nanoseconds = start.elapsed().as_nanos();
    Ok(format!("{nanoseconds} {}", status_bytes("VmHWM")?.saturating_sub(before)))
}

/// A number of /proc/self/status that is given in KiB.
fn status_bytes(name: &str) -> Result<u64, Box<dyn Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib: u64 = line.and_then(|line| line.split_whitespace().next()).ok_or(name)?.parse()?;
    Ok(kib << 10)
}

/// The page of each reference of a trace.
fn read(path: &Path) -> Result<Vec<u32>, Box<dyn Error>> {
    let file = File::open(path)?;
    let records = file.metadata()?.len() as usize / RECORD;
    let mut file = BufReader::with_capacity(RECORD << 14, file);
    let mut pages = Vec::with_capacity(records);
    let mut record = [0; RECORD];
    for _ in 0..records {
        file.read_exact(&mut record)?;
        let [_, _, _, _, page @ .., _, _, _, _, _, _, _, _, _, _, _, _] = record;
        pages.push(u32::try_from(u64::from_le_bytes(page))?);
    }
    Ok(pages)
}

/// Three traces, the same each time: pages by Zipf's distribution with two exponents, and loops between such.
fn write_traces(directory: &Path, references: u64) -> Result<(), Box<dyn Error>> {
    write(&directory.join("zipf-0.8"), zipf(references, PAGES, 0.8, 1))?;
    write(&directory.join("zipf-1.0"), zipf(references, PAGES, 1.0, 2))?;
    let often = PAGES * 6 / 10;
    let in_turn = zipf(references / 2, often, 0.9, 3);
    let in_turn = (0..).zip(in_turn).flat_map(|(at, page)| [page, often + at % (PAGES - often)]);
    write(&directory.join("zipf-0.9-and-a-loop"), in_turn)
}

fn write(path: &Path, pages: impl Iterator<Item = u32>) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::with_capacity(RECORD << 14, File::create(path)?);
    for (at, page) in (0_u32..).zip(pages) {
        // A thousand references a second, each of an object of one byte, so that limits are numbers of objects.
        file.write_all(&(at / 1000).to_le_bytes())?;
        file.write_all(&u64::from(page).to_le_bytes())?;
        file.write_all(&1_u32.to_le_bytes())?;
        file.write_all(&(-1_i64).to_le_bytes())?;
    }
    Ok(file.flush()?)
}

/// So many of this many pages, which are as often as their place in a random order says.
fn zipf(references: u64, pages: u32, exponent: f64, seed: u64) -> impl Iterator<Item = u32> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=pages)
        .map(|rank| {
            sum += f64::from(rank).powf(-exponent);
            sum
        })
        .collect();
    let mut random = Random::new(seed);
    let mut order: Vec<u32> = (0..pages).collect();
    random.shuffle(&mut order);
    (0..references).map(move |_| {
        let drawn = random.unit() * sum;
        let rank = sums.partition_point(|&sum| sum < drawn);
        order[rank.min(order.len() - 1)]
    })
}
