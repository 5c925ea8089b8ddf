//! A row a span, control group and limit.

use super::{FleetRow, FleetTable, IntervalKey, Workload};

crate::fleet_columns! {
    /// References of a control group by the smallest cache that would have had them. All counters add up, over rows of one group, of several,
    /// of hosts and of spans: what the sum says is what caches of so many pages each would have had together. A limit at which nothing more
    /// hits has no row.
    pub struct CurveRow {
        /// The span of time
        key: part IntervalKey;
        /// Whose work it was
        who: part Workload;
        /// The replacement policy that was simulated: lru
        policy: text Key;
        /// The limit in pages, of a grid that all hosts share (each 2^(1/8) times the one before); 0 in the row of all references
        limit_pages: number Key;
        /// One in so many pages was in the sample: limits below 16 times that can't be told apart
        sampling_period_pages: number Key Pages;
        /// Sampled references that hit at this limit and at no smaller one, each as many as it stands for
        sampled_hits: number Counter Count;
        /// In the row of limit 0: all sampled references, each as many as it stands for
        sampled_references: number Counter Count;
        /// In the row of limit 0: first references among these, which no cache has
        sampled_first: number Counter Count;
        /// In the row of limit 0: all references, exact. What they are more than the sampled ones stands for hits at every limit
        references: number Counter Count;
        /// In the row of limit 0: sampled references that were lost
        lost_references: number Counter Count;
    }
}

impl FleetRow for CurveRow {
    const TABLE: FleetTable = FleetTable::Curve;

    fn sort_key(&self) -> (&str, i64) {
        (&self.who.cgroup, self.key.ts)
    }
}
