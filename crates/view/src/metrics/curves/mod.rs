//! How much cache each control group needs, from a sample of its page accesses, beside the memory that it has.

use std::time::SystemTime;

use hotset_analysis::live::{CurveSeries, CurveTotals};

use super::io::{OTHER, group_labels};
use super::{Curves, Family, GroupMemoryNumbers, Kind, Labels, Measured, Point, Unit, Value};

/// The shares of the hits of unlimited cache for which the need is told, and their labels.
const SHARES: [(&str, f64); 4] = [("0.5", 0.5), ("0.9", 0.9), ("0.95", 0.95), ("0.99", 0.99)];

/// The caches whose misses are told, in bytes: powers of two from 1 MiB, the least that a sample of one in 16 pages tells, to 64 GiB. The same
/// on every host, so that their counters can be added.
const CACHE_SHIFTS: std::ops::RangeInclusive<u32> = 20..=36;

/// A control group that has a curve.
struct Group<'a> {
    path: &'a str,
    labels: [(&'static str, String); 3],
    curve: &'a CurveSeries,
    memory: Option<GroupMemoryNumbers>,
}

impl Group<'_> {
    /// Its labels, and one more.
    fn labels(&self, more: Option<(&'static str, String)>) -> Labels {
        self.labels.iter().cloned().chain(more).collect()
    }
}

pub(super) fn push(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let Some(curves) = measured.curves else { return };
    let mut groups: Vec<Group<'_>> = (curves.set.groups())
        .map(|(path, curve)| Group {
            path,
            labels: group_labels(measured, path),
            curve,
            memory: (curves.memory)(path),
        })
        .collect();
    groups.sort_by_key(|group| group.path);
    let mut all = Vec::new();
    if !curves.multi_gen_lru {
        all.push(need(measured, &groups));
    }
    all.extend(sample(measured, &groups));
    all.extend(counters(measured, curves, &groups));
    all.extend(memory(&groups));
    let help = "Control groups that used the page cache in the last interval and have no curve, because 256 others have one";
    let beyond = Family::new("hotset_cgroups_without_curve", Kind::Gauge, Unit::Count, help);
    all.push(beyond.single(Value::Whole(curves.set.groups_beyond)));
    families.extend(all.into_iter().filter(|family| !family.points.is_empty()));
}

fn need(measured: &Measured<'_>, groups: &[Group<'_>]) -> Family {
    let help = "Smallest page cache with this share (hit_ratio) of the hits that unlimited cache would have had for the accesses of the last hour, \
                by exact LRU, at most 9 % too large; absent where the sample is too small to tell";
    let name = "hotset_cgroup_cache_need_bytes";
    let mut family = Family::new(name, Kind::Gauge, Unit::Bytes, help);
    for group in groups {
        let recent = group.curve.recent();
        for (label, share) in SHARES {
            if let Some(pages) = recent.need_pages(share) {
                let labels = group.labels(Some(("hit_ratio", label.to_owned())));
                family.push(labels, bytes(measured, pages));
            }
        }
    }
    family
}

fn bytes(measured: &Measured<'_>, pages: u64) -> Value {
    Value::Whole(pages.saturating_mul(measured.page_bytes))
}

/// What a need rests on, and what holds whatever the policy.
fn sample(measured: &Measured<'_>, groups: &[Group<'_>]) -> [Family; 3] {
    let gauge = |name: &str, unit, help: &str, of: &dyn Fn(&CurveSeries) -> Value| {
        let mut family = Family::new(name, Kind::Gauge, unit, help);
        groups.iter().for_each(|group| family.push(group.labels(None), of(group.curve)));
        family
    };
    [
        gauge(
            "hotset_cgroup_cache_need_bound_bytes",
            Unit::Bytes,
            "Upper bound of the need with any policy of the kernel: page cache that holds every page accessed since the group's sample began",
            &|curve| bytes(measured, curve.most_pages()),
        ),
        gauge(
            "hotset_cgroup_cache_need_sampled_accesses",
            Unit::Count,
            "Accesses in the sample of the last hour, first ones to a page left out: what the need rests on",
            &|curve| Value::Whole(curve.recent().sampled_reuses()),
        ),
        gauge(
            "hotset_cgroup_cache_sampling_period_pages",
            Unit::Pages,
            "One in so many pages is in the sample; it grows where accesses are lost or the group's sample is full",
            &|curve| Value::Whole(curve.sampling_period_pages()),
        ),
    ]
}

/// Sums, which can be added up over time, groups and hosts.
fn counters(measured: &Measured<'_>, curves: Curves<'_>, groups: &[Group<'_>]) -> [Family; 2] {
    let help = "Pages that reads, writes and page faults accessed, without what was lost, by control group";
    let name = "hotset_cgroup_cache_accessed_pages";
    let mut accessed = Family::new(name, Kind::Counter, Unit::Pages, help);
    let help = "Accessed pages that page cache of this size (cache_bytes) would have missed, by exact LRU, estimated; +Inf: first accesses";
    let name = "hotset_cgroup_cache_lru_missed_pages";
    let mut missed = Family::new(name, Kind::Counter, Unit::Pages, help);
    let mut push = |totals: &CurveTotals, labels: &[(&'static str, String)], since| {
        let add = |family: &mut Family, more: Option<(&'static str, String)>, value| {
            let labels = labels.iter().cloned().chain(more).collect();
            family.points.push(Point { labels, since, value: Value::Whole(value) });
        };
        add(&mut accessed, None, totals.references());
        for (label, misses) in misses(totals, measured.page_bytes) {
            add(&mut missed, Some(("cache_bytes", label)), misses);
        }
    };
    for group in groups {
        push(&group.curve.totals, &group.labels, Some(group.curve.since));
    }
    push(curves.set.other(), &[("cgroup", OTHER.to_owned())], None::<SystemTime>);
    [accessed, missed]
}

/// Misses by cache, without those that the sample does not tell.
fn misses(totals: &CurveTotals, page_bytes: u64) -> Vec<(String, u64)> {
    let told = CACHE_SHIFTS.filter_map(|shift| {
        let bytes = 1_u64 << shift;
        let misses = totals.misses_at(bytes.checked_div(page_bytes)?)?;
        Some((bytes.to_string(), misses))
    });
    told.chain([("+Inf".to_owned(), totals.first_references())]).collect()
}

/// A gauge of a group's memory; `None` where there is no value.
type MemoryGauge = (&'static str, Kind, Unit, &'static str, fn(&GroupMemoryNumbers) -> Option<u64>);

const MEMORY: [MemoryGauge; 4] = [
    (
        "hotset_cgroup_memory_limit_bytes",
        Kind::Gauge,
        Unit::Bytes,
        "The group's own memory limit (memory.max or memory.high, the smaller); absent where it has none",
        |memory| memory.limit_bytes,
    ),
    (
        "hotset_cgroup_memory_used_bytes",
        Kind::Gauge,
        Unit::Bytes,
        "Memory that is charged to the group, page cache included",
        |memory| Some(memory.used_bytes),
    ),
    (
        "hotset_cgroup_memory_file_bytes",
        Kind::Gauge,
        Unit::Bytes,
        "Page cache of files that is charged to the group and that the kernel can evict",
        |memory| Some(memory.file_bytes),
    ),
    (
        "hotset_cgroup_refaulted_pages",
        Kind::Counter,
        Unit::Pages,
        "Pages of files that were read back after they had been evicted (workingset_refault_file), by control group",
        |memory| memory.refaulted_pages,
    ),
];

fn memory(groups: &[Group<'_>]) -> Vec<Family> {
    let family = |(name, kind, unit, help, of): MemoryGauge| {
        let mut family = Family::new(name, kind, unit, help);
        for group in groups {
            if let Some(value) = group.memory.as_ref().and_then(of) {
                let since = (kind == Kind::Counter).then_some(group.curve.since);
                let (labels, value) = (group.labels(None), Value::Whole(value));
                family.points.push(Point { labels, since, value });
            }
        }
        family
    };
    MEMORY.into_iter().map(family).collect()
}

/// What of the sample was lost: for `hotset_lost`.
pub(super) fn losses(measured: &Measured<'_>) -> Vec<(&'static str, u64)> {
    measured.curves.map_or_else(Vec::new, |curves| {
        vec![
            ("sampled_accesses", curves.set.lost),
            ("sampled_accesses_unattributed", curves.set.unattributed),
        ]
    })
}

/// What is missing, with the reason: for `hotset_not_measured`.
pub(super) fn missing(measured: &Measured<'_>) -> Option<Labels> {
    measured.curves.filter(|curves| curves.multi_gen_lru)?;
    let reason = "the kernel evicts by its multi-gen LRU, which a sample does not predict; cgroup_cache_need_bound is an upper bound";
    Some(Labels::from([("what", "cgroup_cache_need".to_owned()), ("reason", reason.to_owned())]))
}

#[cfg(test)]
mod tests;
