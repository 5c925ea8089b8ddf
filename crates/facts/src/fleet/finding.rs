//! A row a span, control group and finding.

use super::{FleetRow, FleetTable, IntervalKey, Workload};

crate::fleet_columns! {
    /// What a diagnosis rule says of a control group over a span. A group of which no rule says anything has no row. A row of severity
    /// `unknown` says that a rule could not be asked, and why.
    pub struct FindingRow {
        /// The span of time
        key: part IntervalKey;
        /// Whose work it was; with the cgroup "" in a row of severity unknown
        who: part Workload;
        /// The rule's id (docs/rules.md)
        rule: text Key;
        /// How much of the active time would be saved: critical, at least 25 %; warning, 5 % or more; info, less. Or unknown
        severity: text Key;
        /// What the rule says, in a sentence without names of files; of severity unknown why it could not be asked
        title: text Key;
        /// What to change; empty where nothing is known
        advice: text Key;
        /// The lengths of those intervals together in which the group did anything to files: what savings are a share of
        active_ns: number Counter Nanoseconds;
        /// What a change would save at least, in time of threads; null of severity unknown
        saving_low_ns: maybe_number Counter Nanoseconds;
        /// What it would save at most; null of severity unknown
        saving_high_ns: maybe_number Counter Nanoseconds;
        /// The numbers that it rests on, as a JSON object: each name ends in its unit
        evidence: text Key;
        /// The file that it is about, the worst one; null where none is known. Redacted, each component is a hash
        path: maybe_text Key;
        /// Up to four more, the worst first, as a JSON list of texts. Redacted like path
        other_paths: text Key;
    }
}

impl FleetRow for FindingRow {
    const TABLE: FleetTable = FleetTable::Finding;

    fn sort_key(&self) -> (&str, i64) {
        (&self.who.cgroup, self.key.ts)
    }
}
