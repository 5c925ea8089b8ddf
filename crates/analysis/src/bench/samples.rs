//! Which run stands for a condition in a round.

use std::collections::BTreeMap;

use hotset_facts::BenchRun;

use super::gates::JudgedRun;

/// The runs of one condition, one a round, by index into the session's runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples {
    /// The last valid run of each round: an invalid one was repeated.
    pub(crate) valid: BTreeMap<u32, usize>,
    /// The first run of each round, valid or not: what would be the figure without gates and repetitions.
    pub(crate) first: BTreeMap<u32, usize>,
}

impl Samples {
    /// Those of each condition, from round `skip_rounds` on.
    pub(crate) fn of_all(
        conditions: usize,
        runs: &[BenchRun],
        judged: &[JudgedRun],
        skip_rounds: u32,
    ) -> Vec<Self> {
        let mut all = vec![Self::default(); conditions];
        for (index, (run, judged)) in runs.iter().zip(judged).enumerate() {
            let Some(samples) = all.get_mut(run.condition) else { continue };
            if run.round < skip_rounds {
                continue;
            }
            samples.first.entry(run.round).or_insert(index);
            if judged.is_valid() {
                samples.valid.insert(run.round, index);
            }
        }
        all
    }
}

/// Pairs of runs of two conditions, by the rounds that both have.
pub(crate) fn pairs<'a>(
    a: &'a BTreeMap<u32, usize>,
    b: &'a BTreeMap<u32, usize>,
    runs: &'a [BenchRun],
) -> impl Iterator<Item = (&'a BenchRun, &'a BenchRun)> {
    a.iter().filter_map(|(round, &a)| Some((runs.get(a)?, runs.get(*b.get(round)?)?)))
}
