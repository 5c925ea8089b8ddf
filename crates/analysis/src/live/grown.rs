//! Losses that grew, each told once and beside what it damages.

use hotset_facts::LiveLosses;

/// A cause of loss that grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrownLoss {
    /// How many more since it was last told.
    pub more: u64,
    /// What was lost, a whole clause.
    pub what: &'static str,
    /// What that does to the numbers.
    pub damage: &'static str,
    /// Whether counts are too low, and not only less well attributed.
    pub counts: bool,
}

impl GrownLoss {
    /// The losses of several intervals: those of one cause as one.
    pub fn summed<'a>(losses: impl IntoIterator<Item = &'a Self>) -> Vec<Self> {
        let mut sums: Vec<Self> = Vec::new();
        for loss in losses {
            match sums.iter_mut().find(|sum| Self { more: sum.more, ..*loss } == **sum) {
                Some(sum) => sum.more = sum.more.saturating_add(loss.more),
                None => sums.push(*loss),
            }
        }
        sums
    }
}

/// Compares losses with what was told before.
#[derive(Debug, Clone, Default)]
pub struct LossWatch {
    told: LiveLosses,
}

/// What can be lost: its count, a whole clause of what it is, what that does to the numbers, and whether counts are too low.
type Cause = (fn(&LiveLosses) -> u64, &'static str, &'static str, bool);

const CAUSES: [Cause; 7] = [
    (
        |losses| losses.tasks,
        "tasks could not be followed",
        "what they did is not counted: every column is at least what it says",
        true,
    ),
    (
        |losses| losses.requests,
        "requests of io_uring or Linux AIO could not be followed",
        "they are not counted: pages, hits, misses and direct bytes are at least what they say",
        true,
    ),
    (
        |losses| losses.skipped_programs,
        "runs of the sensor's programs were skipped by the kernel",
        "every column is at least what it says",
        true,
    ),
    (
        |losses| losses.calls,
        "system calls were not decoded: of the 32-bit ABIs, or copies that may have shared blocks",
        "they are not counted: every column is at least what it says",
        true,
    ),
    (
        |losses| losses.origins,
        "page ranges that were read ahead could not be remembered",
        "some pages from the device count as from the cache: the device share is at least what it says",
        false,
    ),
    (
        |losses| losses.unattributed,
        "requests found the tables full",
        "totals are right, but these belong to no process and no file",
        false,
    ),
    (
        |losses| losses.events,
        "names or process events were lost",
        "totals are right, but some files or processes lack their name",
        false,
    ),
];

impl LossWatch {
    /// What grew since the last call.
    pub fn grown(&mut self, now: &LiveLosses) -> Vec<GrownLoss> {
        let before = std::mem::replace(&mut self.told, now.clone());
        let grown = CAUSES.iter().filter_map(|&(count, what, damage, counts)| {
            let more = count(now).saturating_sub(count(&before));
            (more > 0).then_some(GrownLoss { more, what, damage, counts })
        });
        grown.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_once_each_time_it_grows() {
        let mut watch = LossWatch::default();
        let losses = LiveLosses { tasks: 2, events: 1, ..LiveLosses::default() };
        assert_eq!(watch.grown(&LiveLosses::default()), []);
        let grown = watch.grown(&losses);
        assert_eq!(
            grown.iter().map(|loss| (loss.more, loss.counts)).collect::<Vec<_>>(),
            [(2, true), (1, false)]
        );
        assert_eq!(watch.grown(&losses), []);
        let more = LiveLosses { tasks: 5, ..losses };
        assert_eq!(watch.grown(&more).iter().map(|loss| loss.more).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn losses_of_one_cause_are_one_sum() {
        let lost = |tasks, events| LiveLosses { tasks, events, ..LiveLosses::default() };
        let mut watch = LossWatch::default();
        let intervals = [lost(2, 0), lost(5, 1), lost(5, 4)].map(|now| watch.grown(&now));
        let sums = GrownLoss::summed(intervals.iter().flatten());
        assert_eq!(
            sums.iter().map(|sum| (sum.more, sum.counts)).collect::<Vec<_>>(),
            [(5, true), (4, false)]
        );
        assert_eq!(sums, LossWatch::default().grown(&lost(5, 4)));
    }
}
