//! How much is written.

use hotset_facts::LabSize;
use hotset_lab::experiment::Rounds;

use crate::Request;

/// Sizes and limits of a session.
pub(super) struct Amounts {
    /// Bytes of a file.
    pub(super) totals_bytes: Vec<u64>,
    /// Bytes that are handed to the writer at a time.
    pub(super) pieces_bytes: Vec<u64>,
    /// Buffers; 0 for none.
    pub(super) buffers_bytes: Vec<u64>,
    /// Only what the answers need.
    pub(super) is_quick: bool,
    pub(super) rounds: Rounds,
    /// A file that takes more write(2) calls is left out.
    pub(super) most_calls: u64,
    /// The same where each call waits for the device.
    pub(super) most_synced_calls: u64,
    /// Write calls of a process, at most, unless a single repetition has more.
    process_calls: u64,
}

/// The largest file, piece or buffer.
const MOST_BYTES: u64 = 1 << 30;

/// Timed repetitions of a process, at most.
const MOST_REPETITIONS: u32 = 5;

/// Few buffers, for writers that are shown beside the native one.
pub(super) const LIBRARY_BUFFERS: [u64; 6] = [0, 256, 1024, 4096, 16_384, 65_536];

/// A page, what is beside it and what is beside two of it: does a multiple matter?
const AROUND_PAGES: [u64; 6] = [4095, 4096, 4097, 8191, 8192, 8193];

impl Amounts {
    pub(super) fn of(request: &Request) -> Result<Self, String> {
        let options = &request.options;
        let powers = |from: u32, to: u32, step: usize| -> Vec<u64> {
            (from..=to).step_by(step).map(|power| 1 << power).collect()
        };
        let (totals, pieces, buffers): (Vec<u64>, &[u64], Vec<u64>) = match request.size {
            LabSize::Quick => (vec![64, 16 << 10, 256 << 10], &[16], powers(6, 18, 2)),
            LabSize::Default => (powers(6, 20, 2), &[1, 16, 100], powers(4, 20, 1)),
            LabSize::Full => (powers(6, 20, 1), &[1, 16, 100], powers(4, 20, 1)),
        };
        let (most_calls, most_synced_calls, process_calls, budget_s) = match request.size {
            LabSize::Quick => (70_000, 16, 20_000, None),
            LabSize::Default => (300_000, 64, 100_000, Some(300)),
            LabSize::Full => (u64::MAX, 256, 200_000, Some(1800)),
        };
        let buffers: Vec<u64> = std::iter::once(0).chain(buffers).chain(AROUND_PAGES).collect();
        let is_asked = !(options.pieces_bytes.is_empty()
            && options.buffers_bytes.is_empty()
            && options.writers.is_empty());
        let totals_bytes = asked("--sizes", 1, &options.sizes_bytes, totals)?;
        let pieces_bytes = asked("--pieces", 1, &options.pieces_bytes, pieces.to_vec())?;
        let buffers_bytes = asked("--buffers", 0, &options.buffers_bytes, buffers)?;
        Ok(Self {
            totals_bytes,
            pieces_bytes,
            buffers_bytes,
            is_quick: request.size == LabSize::Quick,
            rounds: request.rounds_of_size(15, budget_s),
            // What was asked for by name is not left out.
            most_calls: if is_asked { u64::MAX } else { most_calls },
            most_synced_calls,
            process_calls,
        })
    }

    /// The largest file: buffers differ most there.
    pub(super) fn largest(&self) -> u64 {
        self.totals_bytes.last().copied().unwrap_or(64)
    }

    /// Timed repetitions in a process.
    pub(super) fn repetitions(&self, calls: u64) -> u32 {
        let fitting = u32::try_from(self.process_calls / calls.max(1)).unwrap_or(u32::MAX);
        fitting.clamp(1, MOST_REPETITIONS)
    }
}

/// The sizes that were asked for, else the usual ones; sorted, each once.
fn asked(option: &str, least: u64, asked: &[u64], usual: Vec<u64>) -> Result<Vec<u64>, String> {
    let mut sizes = if asked.is_empty() { usual } else { asked.to_vec() };
    if let Some(wrong) = sizes.iter().find(|&&bytes| bytes < least || bytes > MOST_BYTES) {
        return Err(format!("{option} {wrong}: expected {least} to {MOST_BYTES} bytes (1 GiB)"));
    }
    sizes.sort_unstable();
    sizes.dedup();
    Ok(sizes)
}
