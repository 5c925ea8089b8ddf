//! What was lost, and which numbers that damages.

use hotset_facts::{Io, Observed, Profile, SensorLosses};

/// Losses of a run. Zero everywhere means that every number is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// What the sensor lost, by cause.
    pub sensor: SensorLosses,
    /// Failed lookups whose path is not known.
    pub failed_unnamed: u64,
    /// Rows whose counters contradict each other (more pages from the device than were requested).
    pub contradictory_rows: u64,
    /// Set where pages from the device are a lower bound: the origin of some pages was not kept.
    pub from_device_at_least: bool,
    /// Set where counts of failed lookups by path or directory are lower bounds.
    pub failed_paths_at_least: bool,
}

impl Losses {
    pub(crate) fn of(profile: &Profile) -> Self {
        let sensor = profile.sensor.losses;
        let failed_unnamed = profile.lookups.as_value().map_or(0, |lookups| lookups.failed_unnamed);
        let files = profile.files.iter().map(|file| file.io());
        let processes = profile.processes.iter().map(|process| process.io);
        let contradictory =
            files.chain(processes).chain([profile.totals]).filter(contradicts).count();
        Self {
            sensor,
            failed_unnamed,
            contradictory_rows: contradictory as u64,
            from_device_at_least: sensor.of_counts() > 0,
            failed_paths_at_least: sensor.events > 0 || failed_unnamed > 0,
        }
    }

    /// True if nothing was lost and nothing contradicts itself.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

fn contradicts(io: &Io) -> bool {
    matches!(io.read, Observed::Value(read)
        if read.misses.saturating_add(read.readahead_hits) > read.pages
            || read.sequential_calls.value().is_some_and(|calls| calls > read.calls))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{profile, read_file};
    use hotset_facts::ReadIo;

    #[test]
    fn a_clean_run_lost_nothing() {
        assert!(Losses::of(&profile()).is_none());
    }

    #[test]
    fn losses_mark_what_they_damage() {
        let mut profile = profile();
        profile.sensor.losses.events = 37;
        let losses = Losses::of(&profile);
        assert!(losses.failed_paths_at_least && !losses.from_device_at_least);
        profile.sensor.losses.origins = 1;
        assert!(Losses::of(&profile).from_device_at_least);
    }

    #[test]
    fn a_contradiction_is_counted_not_hidden() {
        let mut profile = profile();
        profile.files =
            vec![read_file("/a", 0, ReadIo { misses: 2, pages: 1, ..ReadIo::default() })];
        assert_eq!(Losses::of(&profile).contradictory_rows, 1);
    }
}
