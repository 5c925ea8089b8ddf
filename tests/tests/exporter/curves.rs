//! `hotset export --curves`: what control groups need, against programs whose need is known.

use hotset_tests::exporter::{Exporter, value};
use hotset_tests::scratch::text;
use hotset_tests::{MIB, NamedGroup, PAGE, Scratch, evict_verified, until, until_ok};

/// Not a size of the grid: the next is 9 % larger at most.
const FILE_BYTES: u64 = 56 * MIB;
const TIMES: u64 = 10;

const ACCESSED: &str = "hotset_cgroup_cache_accessed_pages_total";
const SAMPLED: &str = "hotset_cgroup_cache_need_sampled_accesses";
const LOST: &str = "hotset_lost_total{cause=\"sampled_accesses\"}";

/// Metrics of an attempt that lost no sampled access. All of the host is sampled: beside busy neighbours some may find no room, and fewer pages
/// are sampled from then on.
fn without_losses<T>(attempt: impl Fn() -> (String, T)) -> (String, T) {
    until("no sampled access is lost", || {
        let told = attempt();
        (value(&told.0, LOST) == Some(0.0)).then_some(told)
    })
}

/// Metrics with at least so much of this, or with losses: what was lost is missing from it.
fn once_counted(exporter: &Exporter, least: f64, number: impl Fn(&str) -> Option<f64>) -> String {
    until_ok("all of it is counted", || {
        let metrics = exporter.metrics();
        let counted = number(&metrics);
        let ends = counted.is_some_and(|counted| counted >= least)
            || value(&metrics, LOST).is_some_and(|lost| lost > 0.0);
        if ends { Ok(metrics) } else { Err(format!("{counted:?} of {least}")) }
    })
}

/// A value of a group.
fn of(metrics: &str, group: &NamedGroup, name: &str, label: &str) -> Option<f64> {
    value(metrics, &format!("{name}{{cgroup=\"{}\"{label}}}", group.path()))
}

/// Has the file read so many times in the group, and waits until that is counted.
fn read_again_and_again(exporter: &Exporter, group: &NamedGroup, file: &std::path::Path) -> String {
    let file = text(file);
    group.run(&format!("for i in $(seq {TIMES}); do cat {file}; done"));
    let least = (TIMES * FILE_BYTES / PAGE) as f64;
    once_counted(exporter, least, |metrics| of(metrics, group, ACCESSED, ""))
}

#[test]
fn a_program_that_reads_a_file_again_and_again_needs_the_file() {
    let scratch = Scratch::new("export-curves");
    let file = scratch.file("loop", FILE_BYTES);
    let pages = (FILE_BYTES / PAGE) as f64;
    let expected = pages * (TIMES - 1) as f64 / 16.0;
    let (metrics, group) = without_losses(|| {
        let group = NamedGroup::new(&format!("hotset-curves-{}", std::process::id()));
        let exporter = Exporter::start(&["--curves", "--cgroups", "1000"]);
        read_again_and_again(&exporter, &group, &file);
        // An interval's counts are read after its sample: what is counted between belongs to the next one's sample.
        let metrics = once_counted(&exporter, expected, |metrics| of(metrics, &group, SAMPLED, ""));
        (metrics, group)
    });
    let of = |name: &str, label: &str| of(&metrics, &group, name, label);
    for share in ["0.5", "0.9", "0.95", "0.99"] {
        let label = format!(",hit_ratio=\"{share}\"");
        let need = of("hotset_cgroup_cache_need_bytes", &label).expect("a need");
        // The error that docs/metrics.md states: 9 % of the grid, and a few pages of the sample.
        let ratio = need / FILE_BYTES as f64;
        assert!((0.99..=1.1).contains(&ratio), "{share}: {need}");
    }
    let bound = of("hotset_cgroup_cache_need_bound_bytes", "").expect("a bound");
    assert!((FILE_BYTES as f64..1.3 * FILE_BYTES as f64).contains(&bound), "{bound}");
    assert_eq!(of("hotset_cgroup_cache_sampling_period_pages", ""), Some(16.0));
    let sampled = of(SAMPLED, "").expect("accesses");
    assert!((expected..1.1 * expected).contains(&sampled), "{sampled}, {expected} of the file");
    // A cache of half the size misses all, one of more than it the first time only.
    let missed = |bytes: &str| {
        let label = format!(",cache_bytes=\"{bytes}\"");
        of("hotset_cgroup_cache_lru_missed_pages_total", &label).expect("misses") / pages
    };
    for (bytes, times) in [("33554432", TIMES as f64), ("67108864", 1.0), ("+Inf", 1.0)] {
        let missed = missed(bytes);
        assert!((0.98 * times..1.05 * times).contains(&missed), "{bytes}: {missed} times");
    }
    assert_eq!(value(&metrics, "hotset_cgroups_without_curve"), Some(0.0));
}

#[test]
fn a_limit_below_the_need_shows_as_refaults_beside_it() {
    let scratch = Scratch::new("export-thrash");
    let file = scratch.file("loop", FILE_BYTES);
    let limit = FILE_BYTES / 2;
    let (metrics, group) = without_losses(|| {
        // What is cached when it is read was charged to somebody else.
        evict_verified(&file);
        let group = NamedGroup::new(&format!("hotset-thrash-{}", std::process::id()));
        group.limit(limit);
        let exporter = Exporter::start(&["--curves", "--cgroups", "1000"]);
        // The kernel's counters are looked at from the first access on.
        group.run("cat /etc/passwd");
        until("the group's memory", || {
            of(&exporter.metrics(), &group, "hotset_cgroup_refaulted_pages_total", "")
        });
        (read_again_and_again(&exporter, &group, &file), group)
    });
    let of = |name: &str, label: &str| of(&metrics, &group, name, label);
    assert_eq!(of("hotset_cgroup_memory_limit_bytes", ""), Some(limit as f64));
    let used = of("hotset_cgroup_memory_used_bytes", "").expect("memory");
    let cached = of("hotset_cgroup_memory_file_bytes", "").expect("page cache");
    assert!(cached <= used && used <= limit as f64, "{cached} of {used}");
    let need = of("hotset_cgroup_cache_need_bytes", ",hit_ratio=\"0.99\"").expect("a need");
    assert!(need > limit as f64 - (used - cached), "{need}");
    let refaulted = of("hotset_cgroup_refaulted_pages_total", "").expect("refaults");
    assert!(refaulted >= (FILE_BYTES / PAGE) as f64, "{refaulted}");
}

#[test]
fn too_little_to_tell_has_a_bound_and_no_need() {
    let scratch = Scratch::new("export-few");
    let file = scratch.file("few", 2 * MIB);
    let (metrics, group) = without_losses(|| {
        let group = NamedGroup::new(&format!("hotset-few-{}", std::process::id()));
        let exporter = Exporter::start(&["--curves", "--curves-period", "64", "--cgroups", "1000"]);
        group.run(&format!("for i in $(seq 100); do cat {}; done", text(&file)));
        let least = (100 * 2 * MIB / PAGE) as f64;
        let metrics = once_counted(&exporter, least, |metrics| of(metrics, &group, ACCESSED, ""));
        (metrics, group)
    });
    let series = format!("hotset_cgroup_cache_need_bytes{{cgroup=\"{}\"", group.path());
    assert!(!metrics.contains(&series), "{metrics}");
    assert_eq!(of(&metrics, &group, "hotset_cgroup_cache_sampling_period_pages", ""), Some(64.0));
    let bound = of(&metrics, &group, "hotset_cgroup_cache_need_bound_bytes", "");
    assert!(bound.is_some_and(|bound| (2.0 * MIB as f64..16.0 * MIB as f64).contains(&bound)));
    // 16 pages in the sample are 4 MiB.
    let missed = |bytes: u64| {
        let label = format!(",cache_bytes=\"{bytes}\"");
        of(&metrics, &group, "hotset_cgroup_cache_lru_missed_pages_total", &label)
    };
    assert!(missed(2 * MIB).is_none() && missed(4 * MIB).is_some());
}

#[test]
fn without_a_series_there_are_sums_and_without_the_option_nothing() {
    let scratch = Scratch::new("export-none");
    let file = scratch.file("loop", FILE_BYTES);
    let group = NamedGroup::new(&format!("hotset-none-{}", std::process::id()));
    let (metrics, without) = without_losses(|| {
        let none = Exporter::start(&["--curves", "--cgroups", "0"]);
        let without = Exporter::start(&[]);
        group.run(&format!("cat {}", text(&file)));
        let metrics = once_counted(&none, (FILE_BYTES / PAGE) as f64, |metrics| {
            value(metrics, &format!("{ACCESSED}{{cgroup=\"other\"}}"))
        });
        (metrics, without)
    });
    for name in ["hotset_cgroup_cache_need", "hotset_cgroup_memory", "hotset_cgroup_refaulted"] {
        assert!(!metrics.contains(name), "{name}: {metrics}");
    }
    without.settle();
    let metrics = without.metrics();
    for name in ["hotset_cgroup_cache", "hotset_cgroup_memory", "without_curve", "sampled_accesses"]
    {
        assert!(!metrics.contains(name), "{name}: {metrics}");
    }
}
