use crate::metrics::testing::Host;
use crate::metrics::{Exposition, exposition, families};

fn text(host: &Host) -> String {
    host.measured(|measured| exposition(&families(measured), Exposition::Prometheus))
}

/// The series of a metric, without what is the same in all of the group's labels.
fn series(text: &str, name: &str) -> Vec<String> {
    let same = "cgroup=\"/system.slice/0.service\",container=\"in /system.slice/0.service\"";
    text.lines()
        .filter(|line| {
            line.starts_with(&format!("{name}{{")) || line.starts_with(&format!("{name} "))
        })
        .map(|line| line[name.len()..].replace(same, "A"))
        .collect()
}

#[test]
fn a_group_has_its_need_and_what_it_rests_on() {
    let text = text(&Host::with_curves(false));
    let of = |name: &str| series(&text, name);
    assert_eq!(
        of("hotset_cgroup_cache_need_bytes"),
        ["0.5", "0.9", "0.95", "0.99"].map(|share| format!("{{A,hit_ratio=\"{share}\"}} 16777216"))
    );
    // 500 and three times the root of 500, of 16 pages each.
    assert_eq!(of("hotset_cgroup_cache_need_bound_bytes"), [format!("{{A}} {}", 568 * 16 * 4_096)]);
    assert_eq!(of("hotset_cgroup_cache_need_sampled_accesses"), ["{A} 2000"]);
    assert_eq!(of("hotset_cgroup_cache_sampling_period_pages"), ["{A} 16"]);
    assert_eq!(of("hotset_cgroup_memory_limit_bytes"), ["{A} 1073741824"]);
    assert_eq!(of("hotset_cgroup_memory_used_bytes"), ["{A} 100663296"]);
    assert_eq!(of("hotset_cgroup_memory_file_bytes"), ["{A} 67108864"]);
    assert_eq!(of("hotset_cgroup_refaulted_pages_total"), ["{A} 77"]);
    assert_eq!(of("hotset_cgroups_without_curve"), [" 3"]);
    let lost = of("hotset_lost_total");
    for line in ["{cause=\"sampled_accesses\"} 1", "{cause=\"sampled_accesses_unattributed\"} 2"] {
        assert!(lost.iter().any(|one| one == line), "{lost:?}");
    }
}

#[test]
fn misses_are_told_by_cache_for_those_without_a_series_too() {
    let text = text(&Host::with_curves(false));
    assert_eq!(
        series(&text, "hotset_cgroup_cache_accessed_pages_total"),
        ["{A} 40000", "{cgroup=\"other\"} 40000"]
    );
    let missed = series(&text, "hotset_cgroup_cache_lru_missed_pages_total");
    // From 1 MiB to 64 GiB, and all there can be; of two.
    assert_eq!(missed.len(), 2 * 18, "{missed:?}");
    assert_eq!(missed[0], "{A,cache_bytes=\"1048576\"} 40000");
    assert_eq!(
        missed[3..5],
        ["{A,cache_bytes=\"8388608\"} 40000", "{A,cache_bytes=\"16777216\"} 8000"]
    );
    assert_eq!(
        missed[17..19],
        ["{A,cache_bytes=\"+Inf\"} 8000", "{cgroup=\"other\",cache_bytes=\"1048576\"} 40000",]
    );
}

#[test]
fn with_the_multi_gen_lru_there_is_a_bound_and_the_reason() {
    let text = text(&Host::with_curves(true));
    assert_eq!(series(&text, "hotset_cgroup_cache_need_bytes"), [""; 0]);
    assert_eq!(series(&text, "hotset_cgroup_cache_need_bound_bytes").len(), 1);
    let missing = series(&text, "hotset_not_measured");
    assert!(missing.iter().any(|line| line.contains("cgroup_cache_need")), "{missing:?}");
}

#[test]
fn without_curves_there_is_none_of_it() {
    let (with, without) = (text(&Host::with_curves(false)), text(&Host::new()));
    let more: Vec<&str> = (with.lines())
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .filter(|name| !without.contains(name))
        .collect();
    assert_eq!(more.len(), 11, "{more:?}");
    assert!(!without.contains("sampled_accesses") && !without.contains("curve"), "{without}");
}
