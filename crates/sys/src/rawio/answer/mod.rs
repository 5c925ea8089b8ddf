//! What a probe tells of itself: one line of JSON. `docs/probes.md` has the contract. Native probes write what is declared here,
//! and the lab reads the lines of all probes by it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::child::Usage;

/// A timed part, and what the kernel did for it, as far as the probe tells. A native one asks the kernel's counters right
/// before and right after the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repetition {
    /// By the monotonic clock.
    pub wall_ns: u64,
    /// User and system time of the process.
    pub cpu_ns: Option<u64>,
    /// Bytes that it made the block layer read (`ru_inblock`).
    pub device_read_bytes: Option<u64>,
    /// Bytes that reached the block layer for it. Pages that it wrote to the cache go there later, in the kernel's own time.
    pub device_write_bytes: Option<u64>,
    /// Faults that had to read.
    pub major_faults: Option<u64>,
    /// Faults that did not.
    pub minor_faults: Option<u64>,
    /// Involuntary context switches.
    pub preempted: Option<u64>,
    /// Read calls as the kernel counted them (`syscr` of /proc/self/io); io_uring and mappings are in none.
    pub read_calls: Option<u64>,
    /// Write calls as the kernel counted them (`syscw`).
    pub write_calls: Option<u64>,
    /// Pages of its files that were cached right before, where the job asked.
    pub cached_before_pages: Option<u64>,
    /// Pages that these files span, where the job asked.
    pub pages: Option<u64>,
}

/// The answer of a probe. What only native probes tell is missing in others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// Who answers: `native`, `python`.
    pub probe: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
    /// What it did.
    #[serde(default)]
    pub job: String,
    /// Bytes moved in all repetitions together.
    #[serde(default)]
    pub bytes: u64,
    /// Operations in all repetitions together; as many as there are repetitions where it doesn't say.
    #[serde(default)]
    pub operations: Option<u64>,
    /// The calls that it believes it made in its timed parts, by name.
    #[serde(default)]
    pub calls: BTreeMap<String, u64>,
    /// The time of each timed part, in order; a job that times one loop has one.
    pub repetitions_ns: Vec<u64>,
    /// The same with what the kernel did for each.
    #[serde(default)]
    pub repetitions: Vec<Repetition>,
    /// What else it found, by name: the I/O size that a library really used, a time a part.
    #[serde(default)]
    pub notes: BTreeMap<String, u64>,
    /// The totals of its timed parts, where it doesn't tell them one by one.
    #[serde(flatten, skip_serializing)]
    pub totals: Repetition,
}

impl Repetition {
    /// Both together; what either doesn't tell is not told. What was cached before is the first one's.
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Self {
            wall_ns: self.wall_ns.saturating_add(other.wall_ns),
            cpu_ns: sum(self.cpu_ns, other.cpu_ns),
            device_read_bytes: sum(self.device_read_bytes, other.device_read_bytes),
            device_write_bytes: sum(self.device_write_bytes, other.device_write_bytes),
            major_faults: sum(self.major_faults, other.major_faults),
            minor_faults: sum(self.minor_faults, other.minor_faults),
            preempted: sum(self.preempted, other.preempted),
            read_calls: sum(self.read_calls, other.read_calls),
            write_calls: sum(self.write_calls, other.write_calls),
            cached_before_pages: self.cached_before_pages,
            pages: self.pages,
        }
    }
}

impl Answer {
    /// The answer of a job with one timed part.
    pub(super) fn of(repetition: Repetition, operations: u64, bytes: u64) -> Self {
        let mut answer = Self { operations: Some(operations), bytes, ..Self::default() };
        answer.push(repetition);
        answer
    }

    /// Adds a timed part.
    pub(super) fn push(&mut self, repetition: Repetition) {
        self.repetitions_ns.push(repetition.wall_ns);
        self.repetitions.push(repetition);
    }

    /// The same with these calls.
    pub(super) fn with_calls(self, calls: impl IntoIterator<Item = (&'static str, u64)>) -> Self {
        let calls = calls.into_iter().map(|(name, calls)| (name.to_owned(), calls)).collect();
        Self { calls, ..self }
    }

    /// Reads what a probe printed. What stands after the line is an error: a library that prints would disturb.
    ///
    /// # Errors
    /// Says what is wrong with it, and shows its beginning.
    pub fn parse(printed: &[u8]) -> Result<Self, String> {
        let shown = || String::from_utf8_lossy(&printed[..printed.len().min(200)]).into_owned();
        let answer: Self = serde_json::from_slice(printed)
            .map_err(|error| format!("the probe printed no answer ({error}): {}", shown()))?;
        if answer.repetitions_ns.is_empty() {
            return Err(format!("the probe timed nothing: {}", shown()));
        }
        if !answer.repetitions.is_empty() && answer.repetitions.len() != answer.repetitions_ns.len()
        {
            return Err(format!(
                "the probe told of {} repetitions and timed {}",
                answer.repetitions.len(),
                answer.repetitions_ns.len()
            ));
        }
        Ok(answer)
    }

    /// What a probe can't tell of itself, from what its whole process used: what was read from the device and the faults, those
    /// of its start too.
    pub fn completed(mut self, usage: &Usage) -> Self {
        if self.repetitions.is_empty() {
            let totals = &mut self.totals;
            totals.device_read_bytes.get_or_insert(usage.device_read_bytes);
            totals.major_faults.get_or_insert(usage.major_faults);
            totals.minor_faults.get_or_insert(usage.minor_faults);
        }
        self
    }

    /// The timed parts in order. Where the probe tells totals only, a single part has them, and several have times alone.
    pub fn parts(&self) -> Vec<Repetition> {
        match self.repetitions_ns.as_slice() {
            _ if !self.repetitions.is_empty() => self.repetitions.clone(),
            [wall_ns] => vec![Repetition { wall_ns: *wall_ns, ..self.totals }],
            each => {
                let of = |&wall_ns| Repetition { wall_ns, ..Repetition::default() };
                each.iter().map(of).collect()
            }
        }
    }

    /// All of it as one.
    pub fn whole(&self) -> Repetition {
        let summed = self.parts().into_iter().reduce(Repetition::plus).unwrap_or_default();
        let all_ns = summed.wall_ns;
        if self.repetitions.is_empty() {
            Repetition { wall_ns: all_ns, ..self.totals }
        } else {
            summed
        }
    }

    /// Operations in all of it.
    pub fn operations(&self) -> u64 {
        self.operations.unwrap_or(self.repetitions_ns.len() as u64)
    }
}

#[cfg(test)]
mod tests;
