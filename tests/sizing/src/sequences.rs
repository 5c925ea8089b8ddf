//! The sequences of pages that the real kernels were asked for.

use super::numpy::Generator;

/// Pages of the file.
pub const PAGES: u32 = 30_000;
/// Requests, but for loops.
const REQUESTS: usize = 400_000;
/// Pages of a request of 128 KiB.
pub const CHUNK: u32 = 32;

/// The names of all: of pages first, then the two of chunks.
pub const NAMES: [&str; 11] = [
    "zipf08",
    "zipf10",
    "uniform",
    "loop",
    "hot",
    "zipfscan",
    "burstscan",
    "shift",
    "twoloops",
    "chunks-zipf",
    "chunks-loop",
];

/// A named sequence of pages, or of chunks of them.
pub type Sequence = (&'static str, Vec<u32>);

/// Zipf's distribution over ranks.
pub(crate) struct Zipf(Vec<f64>);

impl Zipf {
    /// With this exponent, over so many ranks.
    pub(crate) fn new(exponent: f64, ranks: u32) -> Self {
        let mut sum = 0.0;
        let mut sums: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += 1.0 / f64::from(rank).powf(exponent);
                sum
            })
            .collect();
        sums.iter_mut().for_each(|one| *one /= sum);
        Self(sums)
    }

    /// A rank from 0 on: the place in the sums of the first that is not below the number drawn.
    pub(crate) fn draw(&self, random: &mut Generator) -> usize {
        let drawn = random.random();
        self.0.partition_point(|&sum| sum < drawn)
    }
}

fn zipf_ranks(len: usize, exponent: f64, pages: u32, random: &mut Generator) -> Vec<usize> {
    let zipf = Zipf::new(exponent, pages);
    (0..len).map(|_| zipf.draw(random)).collect()
}

/// Pages in a random order, which is drawn after the ranks.
fn zipf(len: usize, exponent: f64, pages: u32, random: &mut Generator) -> Vec<u32> {
    let ranks = zipf_ranks(len, exponent, pages, random);
    let order = random.permutation(pages);
    ranks.into_iter().map(|rank| order[rank]).collect()
}

/// Two sequences in turn.
fn in_turn(one: Vec<u32>, other: impl Iterator<Item = u32>) -> Vec<u32> {
    one.into_iter().zip(other).flat_map(|(one, other)| [one, other]).collect()
}

/// All sequences of single pages, from one generator, in the order in which they were drawn.
pub fn of_pages() -> Vec<Sequence> {
    let mut random = Generator::new(11);
    let half = (REQUESTS / 2) as u32;
    let zipf08 = zipf(REQUESTS, 0.8, PAGES, &mut random);
    let zipf10 = zipf(REQUESTS, 1.0, PAGES, &mut random);
    let uniform = (0..REQUESTS).map(|_| random.integer(0, PAGES)).collect();
    let is_hot: Vec<bool> = (0..REQUESTS).map(|_| random.random() < 0.9).collect();
    let hot: Vec<u32> = (0..REQUESTS).map(|_| random.integer(0, 3000)).collect();
    let cold: Vec<u32> = (0..REQUESTS).map(|_| random.integer(3000, PAGES)).collect();
    let either = is_hot.iter().zip(hot.into_iter().zip(cold));
    let hot = either.map(|(&is_hot, (hot, cold))| if is_hot { hot } else { cold }).collect();
    let often = zipf(REQUESTS / 2, 0.9, 15_000, &mut random);
    let zipfscan = in_turn(often, (0..half).map(|at| at % 15_000 + 15_000));
    let often = zipf(REQUESTS - 4 * 18_000, 0.9, 12_000, &mut random);
    let parts = often.chunks_exact(often.len() / 4);
    let burstscan = parts.flat_map(|part| part.iter().copied().chain(12_000..PAGES)).collect();
    let shift = (0..5).flat_map(|_| {
        let order = random.permutation(PAGES);
        let ranks = zipf_ranks(REQUESTS / 5, 1.0, PAGES, &mut random);
        ranks.into_iter().map(move |rank| order[rank])
    });
    let shift = shift.collect();
    let short = (0..half).map(|at| at % 6000).collect();
    let twoloops = in_turn(short, (0..half).map(|at| at % 24_000 + 6000));
    vec![
        ("zipf08", zipf08),
        ("zipf10", zipf10),
        ("uniform", uniform),
        ("loop", (0..240_000).map(|at| at % 18_000).collect()),
        ("hot", hot),
        ("zipfscan", zipfscan),
        ("burstscan", burstscan),
        ("shift", shift),
        ("twoloops", twoloops),
    ]
}

/// The sequences of chunks.
pub fn of_chunks() -> Vec<Sequence> {
    let mut random = Generator::new(3);
    let order = random.permutation(937);
    let ranks = zipf_ranks(15_000, 0.8, 937, &mut random);
    vec![
        ("chunks-zipf", ranks.into_iter().map(|rank| order[rank]).collect()),
        ("chunks-loop", (0..9000).map(|at| at % 600).collect()),
    ]
}

/// FNV-1a of the numbers as little-endian bytes (G. Fowler, L. C. Noll and P. Vo).
pub fn checksum(numbers: &[u32]) -> u64 {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        })
}
