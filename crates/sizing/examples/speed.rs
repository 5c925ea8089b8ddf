//! Measures the crate: `cargo run --release -p hotset-sizing --example speed [REFERENCES [SUBJECT]]`, 10 million by default, and
//! subjects with this in their name, of a million pages by Zipf's distribution with exponent 0.8. All subjects are run in turn, several times; printed are millions of
//! references a second in the median run, by the CPU time of all threads and by the clock, and the slowest and fastest run.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a program that measures"
)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use hotset_facts::random::Random;
use hotset_sizing::distance::{self, DenseStack, HashedStack};
use hotset_sizing::sample::{FileIdentity, Sampler, hash, limit_grid};
use hotset_sizing::{
    Bytes, Costs, PAGE_BYTES, PolicyKind, References, ReferencesBuilder, simulate,
};

const PAGES: u32 = 1_000_000;
const RUNS: usize = 5;
const COSTS: Costs = Costs { hit_ns: 700, miss_ns: 80_000 };
/// Limits from 0.5 % of the pages to nearly all.
const LIMITS: [u64; 12] = [
    5_000, 10_000, 20_000, 40_000, 80_000, 120_000, 180_000, 260_000, 380_000, 540_000, 760_000,
    950_000,
];

struct Subject<'a> {
    name: &'a str,
    /// References that one run simulates: so many times those of the sequence.
    times: usize,
    run: Box<dyn Fn() + 'a>,
}

fn zipf(references: usize) -> Vec<u32> {
    let mut sum = 0.0;
    let sums: Vec<f64> = (1..=PAGES)
        .map(|rank| {
            sum += f64::from(rank).powf(-0.8);
            sum
        })
        .collect();
    let mut random = Random::new(1);
    let mut order: Vec<u32> = (0..PAGES).collect();
    random.shuffle(&mut order);
    let mut draw = || {
        let drawn = random.unit() * sum;
        order[sums.partition_point(|&sum| sum < drawn).min(PAGES as usize - 1)]
    };
    (0..references).map(|_| draw()).collect()
}

fn built(pages: &[u32]) -> References {
    let mut builder = ReferencesBuilder::new();
    for &page in pages {
        let bytes = Bytes { file: 0, offset: u64::from(page) * PAGE_BYTES, len: PAGE_BYTES };
        // There are few enough pages.
        let _ = builder.read(&bytes, 0);
    }
    builder.finish()
}

fn subjects<'a>(pages: &'a [u32], keys: &'a [u64], references: &'a References) -> Vec<Subject<'a>> {
    let subject = |name, times, run: Box<dyn Fn() + 'a>| Subject { name, times, run };
    let simulated = |name, policy, limits: &'static [u64], threads| {
        let run = move || drop(black_box(simulate(references, policy, limits, &COSTS, threads)));
        subject(name, limits.len(), Box::new(run))
    };
    let old_sizes = PolicyKind::ClassicOldSizes { phases: 1 };
    let sampled = |make: fn(&[u64]) -> Sampler| {
        move || {
            let mut sampler = make(&limit_grid(1 << 20));
            keys.iter().for_each(|&key| sampler.touch(key));
            black_box(sampler.take());
        }
    };
    let dense = move || {
        let mut stack = DenseStack::new(PAGES);
        stack.touch_all(pages);
        black_box(stack.into_distances());
    };
    let hashed = move || {
        let mut stack = HashedStack::new();
        stack.touch_all(keys);
        black_box(stack.into_distances());
    };
    vec![
        subject("distances, dense numbers", 1, Box::new(dense)),
        subject("distances, 64-bit keys", 1, Box::new(hashed)),
        subject(
            "distances of References",
            1,
            Box::new(move || drop(black_box(distance::of(references)))),
        ),
        subject("sampled, one in 128", 1, Box::new(sampled(|grid| Sampler::fixed_rate(7, grid)))),
        subject("sampled, 2,048 pages", 1, Box::new(sampled(|grid| Sampler::bounded(2048, grid)))),
        subject("pages numbered", 1, Box::new(move || drop(black_box(built(pages))))),
        simulated("least recently used, 3 limits", PolicyKind::Lru, &[20_000, 180_000, 760_000], 1),
        simulated(
            "first in, first out, 3 limits",
            PolicyKind::Fifo,
            &[20_000, 180_000, 760_000],
            1,
        ),
        simulated("classic, 3 limits", PolicyKind::Classic, &[20_000, 180_000, 760_000], 1),
        simulated("MGLRU, 3 limits", PolicyKind::Mglru, &[20_000, 180_000, 760_000], 1),
        simulated("classic, old sizes, 12 limits, 2 threads", old_sizes, &LIMITS, 2),
        simulated("MGLRU, 12 limits, 2 threads", PolicyKind::Mglru, &LIMITS, 2),
    ]
}

/// CPU time of the process so far, in seconds: user and system time, in ticks of 10 ms.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().skip(11).take(2).map(str::parse::<u32>);
    Ok(f64::from(ticks.sum::<Result<u32, _>>()?) / 100.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map_or(Ok(10_000_000), |count| count.parse())?;
    let pages = zipf(count);
    let keys: Vec<u64> =
        pages.iter().map(|&page| hash(FileIdentity::new(0, 1, 0), page.into())).collect();
    let references = built(&pages);
    let wanted = std::env::args().nth(2).unwrap_or_default();
    let mut subjects = subjects(&pages, &keys, &references);
    subjects.retain(|subject| subject.name.contains(&wanted));
    let mut taken = vec![Vec::new(); subjects.len()];
    for _ in 0..RUNS {
        for (subject, taken) in subjects.iter().zip(&mut taken) {
            let (started, cpu_before) = (Instant::now(), cpu_s()?);
            (subject.run)();
            taken.push((cpu_s()? - cpu_before, started.elapsed().as_secs_f64()));
        }
    }
    println!(
        "{:42} {:>9} {:>9}  by the clock, slowest and fastest",
        "M references/s", "by CPU", "by clock"
    );
    for (subject, taken) in subjects.iter().zip(&taken) {
        let millions = (count * subject.times) as f64 / 1e6;
        let rates = |of: fn(&(f64, f64)) -> f64| {
            let mut rates: Vec<f64> = taken.iter().map(|one| millions / of(one)).collect();
            rates.sort_by(f64::total_cmp);
            rates
        };
        let (cpu, clock) = (rates(|one| one.0), rates(|one| one.1));
        let (slowest, fastest) = (clock[0], clock[RUNS - 1]);
        println!(
            "{:42} {:9.1} {:9.1}  {slowest:.1} to {fastest:.1}",
            subject.name,
            cpu[RUNS / 2],
            clock[RUNS / 2]
        );
    }
    Ok(())
}
