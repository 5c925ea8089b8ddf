//! Path lookups of an interval, by control group.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_facts::LiveLookups;

use super::processes::Processes;
use crate::record::Globals;

/// Those of nobody: how many, and how many of them failed, up to the last look.
#[derive(Debug, Default)]
pub(crate) struct OtherLookups([u64; 2]);

impl OtherLookups {
    /// All that was looked up since the last look, the groups in no order.
    pub(crate) fn join(
        &mut self,
        processes: &mut Processes,
        globals: &Globals,
    ) -> Vec<LiveLookups> {
        let counted = [globals.other_lookups, globals.other_lookups_failed];
        let before = std::mem::replace(&mut self.0, counted);
        let nobody = [0, 1].map(|at| counted[at].wrapping_sub(before[at]));
        let mut sums: HashMap<Option<Arc<str>>, [u64; 2]> = HashMap::new();
        let nobody = (nobody != [0; 2]).then_some((None, nobody));
        for (cgroup, grown) in processes.take_lookups().into_iter().chain(nobody) {
            let sum = sums.entry(cgroup).or_default();
            sum.iter_mut().zip(grown).for_each(|(sum, grown)| *sum += grown);
        }
        let by_group =
            |(cgroup, [calls, failed]): (_, [u64; 2])| LiveLookups { cgroup, calls, failed };
        sums.into_iter().map(by_group).collect()
    }
}
