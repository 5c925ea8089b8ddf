//! What recording costs a request: a known one, timed before the sensor is attached and while it records.
//!
//! A duration that is recorded begins when the sensor is done with the beginning of a call, and ends before it works on the end of
//! it. It lacks the way into the kernel and back, and holds the way from and to the sensor; only together with a call whose true
//! cost is known do they tell what a recorded duration is worth.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Instant;

use hotset_facts::trace::RecordingCost;
use hotset_sys::cpu::Cpu;

/// The first batch makes ready what the others find: it is not counted.
const BATCHES: usize = 1 + 15;
/// Their records take 17 KiB of a ring.
const BATCH: usize = 100;
/// In a smaller ring, records of others might find no room for them.
const LEAST_RING_BYTES: u32 = 64 << 10;
/// All of them.
pub(super) const KNOWN_READS: usize = BATCHES * BATCH;

/// Reads of a byte from the cache, of this program's own file: it is cached, for it runs.
#[derive(Debug)]
pub(crate) struct KnownReads {
    file: File,
    /// Both times on this one.
    cpu: Cpu,
    unrecorded_ns: f64,
    recorded_ns: Option<f64>,
}

impl KnownReads {
    /// Times them without the sensor; nothing where rings of this size are too small for their records, or the file can't be read.
    pub(crate) fn time_unrecorded(ring_bytes: u32) -> Option<Self> {
        let file = File::open("/proc/self/exe").ok().filter(|_| ring_bytes >= LEAST_RING_BYTES)?;
        let cpu = Cpu::current();
        let unrecorded_ns = time(&file, cpu, || ())?;
        Some(Self { file, cpu, unrecorded_ns, recorded_ns: None })
    }

    /// Times them while threads that the calling one starts are recorded; their records are taken from their ring by `take`.
    pub(crate) fn time_recorded(&mut self, take: impl FnMut()) {
        self.recorded_ns = time(&self.file, self.cpu, take);
    }

    /// What recording cost, by the durations that came of these reads, in their order; none where they are not all there.
    pub(crate) fn cost(&self, durations_ns: &[u64]) -> Option<RecordingCost> {
        let recorded_ns = self.recorded_ns?;
        if durations_ns.len() != KNOWN_READS {
            return None;
        }
        let batches = durations_ns.chunks(BATCH);
        let duration_ns =
            median(batches.map(|batch| batch.iter().sum::<u64>() as f64)) / BATCH as f64;
        Some(RecordingCost {
            beyond_duration_ns: (self.unrecorded_ns - duration_ns).round() as i64,
            added_ns: (recorded_ns - self.unrecorded_ns).round().max(0.0) as u64,
        })
    }
}

/// Nanoseconds of a read, clock and loop included: a few of hundreds; nothing where the file can't be read, or not on this CPU. The calling
/// thread does `between` before each batch, and another one reads: a command inherits the CPUs that the calling one is confined to, and
/// that this was ever done to it.
fn time(file: &File, cpu: Cpu, mut between: impl FnMut()) -> Option<f64> {
    let (ask, asked) = sync_channel(0);
    let (allow, allowed) = sync_channel(0);
    let reading = move || cpu.hold(|| read(file, &ask, &allowed));
    let timed = thread::scope(|scope| {
        let reader = thread::Builder::new().spawn_scoped(scope, reading)?;
        for () in asked {
            between();
            // A reader that has ended asks for nothing more.
            let _ = allow.send(());
        }
        reader.join().unwrap_or_else(|_| Err(io::Error::other("the reading thread panicked")))
    });
    timed.and_then(|timed| timed).ok()
}

/// Reads in batches, each once it is allowed to.
fn read(file: &File, ask: &SyncSender<()>, allowed: &Receiver<()>) -> io::Result<f64> {
    let mut byte = [0];
    let mut batches = [0.0; BATCHES];
    for batch in &mut batches {
        ask.send(()).map_err(io::Error::other)?;
        allowed.recv().map_err(io::Error::other)?;
        let began = Instant::now();
        for _ in 0..BATCH {
            file.read_exact_at(&mut byte, 0)?;
        }
        *batch = began.elapsed().as_nanos() as f64;
    }
    Ok(median(batches.into_iter()) / BATCH as f64)
}

/// The median of all but the first.
fn median(batches: impl Iterator<Item = f64>) -> f64 {
    let mut batches: Vec<f64> = batches.skip(1).collect();
    batches.sort_by(f64::total_cmp);
    batches.get(batches.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_takes_the_records_of_each_batch_and_another_one_reads() {
        let mut known =
            KnownReads::time_unrecorded(LEAST_RING_BYTES).expect("this program is read");
        let mut taken = Vec::new();
        known.time_recorded(|| taken.push(thread::current().id()));
        assert_eq!(taken, [thread::current().id(); BATCHES]);
        assert!(known.recorded_ns.is_some_and(|ns| ns > 0.0) && known.unrecorded_ns > 0.0);
    }

    #[test]
    fn a_cost_is_the_difference_of_medians_without_the_first_batch() {
        let known = KnownReads {
            file: File::open("/proc/self/exe").expect("this program"),
            cpu: Cpu::current(),
            unrecorded_ns: 200.0,
            recorded_ns: Some(700.4),
        };
        let mut durations = vec![9_000; BATCH];
        durations.resize(BATCHES * BATCH, 260);
        let cost = RecordingCost { beyond_duration_ns: -60, added_ns: 500 };
        assert_eq!(known.cost(&durations), Some(cost));
        assert_eq!(known.cost(&durations[1..]), None, "one is missing");
        assert_eq!(KnownReads { recorded_ns: None, ..known }.cost(&durations), None);
    }
}
