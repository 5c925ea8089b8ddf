//! Which rules a live sampler can answer.

use hotset_facts::{Feature, Reason};

/// A rule, and whether it can be asked about a control group that goes on running.
#[derive(Debug, Clone, Copy)]
pub struct LiveRule {
    /// The rule's id.
    pub id: &'static str,
    /// What the sensor must be able to count, or why the rule is not asked.
    pub answer: Result<&'static [Feature], Reason>,
}

const fn asked(id: &'static str, needs: &'static [Feature]) -> LiveRule {
    LiveRule { id, answer: Ok(needs) }
}

const fn not_asked(id: &'static str, why: &'static str) -> LiveRule {
    LiveRule { id, answer: Err(Reason::not_measured(why)) }
}

/// All rules, in the order of [`crate::RULES`].
pub const LIVE_RULES: &[LiveRule] = &[
    not_asked(
        "direct-reread",
        "which bytes direct reads had read before is not kept between intervals",
    ),
    asked("small-reads", &[Feature::CallOrder]),
    asked("small-writes", &[Feature::CallOrder]),
    not_asked("reread-file", "opens are not counted by file"),
    not_asked(
        "failed-lookups",
        "lookups are counted, but neither their paths nor their time are measured",
    ),
    not_asked(
        "cold-start",
        "a span is no start: data that is new each hour looks like a cache that was cold",
    ),
    asked("cache-thrash", &[]),
    not_asked("dropped-pages", "pages that leave the cache are not counted by file"),
    asked("readahead-wasted", &[Feature::CallOrder, Feature::MarksAtOnce]),
    not_asked("mapped-random-access", "the time of page faults is not measured"),
    // Of stores to mappings only the pages that turned dirty tell how much was synced.
    asked("fsync-per-write", &[Feature::DirtyTracepoint]),
    asked("misaligned-buffer", &[Feature::CallOrder, Feature::BlockLayer]),
    not_asked(
        "many-small-files",
        "opens are not counted by file, and only the busiest files are told apart",
    ),
    not_asked("cpu-bound", "it says where not to look, which is true of every group that is idle"),
    not_asked("idle-eviction", "pages that leave the cache are not counted by file"),
];
