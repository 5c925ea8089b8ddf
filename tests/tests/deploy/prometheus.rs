//! Alert rules and the dashboard: expressions that Prometheus takes, of metrics that there are.

use std::collections::BTreeSet;

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, NamedGroup, Scratch, until};
use serde_json::Value;

use crate::{conforms, deploy, read, run, said};

#[test]
fn promtool_accepts_the_rules_and_their_tests_pass() {
    for words in [
        ["check", "rules", "prometheus/hotset.rules.yml"],
        ["test", "rules", "prometheus/hotset.rules.test.yml"],
    ] {
        let output = run("promtool", &words);
        assert!(output.status.success(), "{}", said(&output));
    }
    // Each alert is tested.
    let rules: Value =
        serde_yaml_ng::from_str(&read(&deploy("prometheus/hotset.rules.yml"))).expect("YAML");
    let tests = read(&deploy("prometheus/hotset.rules.test.yml"));
    let alerts: Vec<&str> = (rules["groups"].as_array().expect("groups").iter())
        .flat_map(|group| group["rules"].as_array().expect("rules"))
        .filter_map(|rule| rule["alert"].as_str())
        .collect();
    assert_eq!(alerts.len(), 7);
    for alert in alerts {
        assert!(tests.contains(&format!("alertname: {alert}")), "{alert} is not tested");
    }
}

/// The names of ours in an expression.
fn names(expression: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    (expression.split(|c| !is_part(c)))
        .filter(|word| word.starts_with("hotset_") || word.starts_with("process_"))
        .map(str::to_owned)
        .collect()
}

/// Every expression of the dashboard, with its variables filled in.
fn expressions(dashboard: &Value) -> Vec<String> {
    let panels = dashboard["panels"].as_array().expect("panels");
    let targets = panels.iter().filter_map(|panel| panel["targets"].as_array()).flatten();
    targets
        .map(|target| target["expr"].as_str().expect("an expression"))
        .map(|expr| expr.replace("$__rate_interval", "5m").replace("$instance", ".*"))
        .collect()
}

/// Every metric that there can be, also of a control group that needs some page cache.
fn all_metrics(scratch: &Scratch) -> String {
    let words = ["--mounts", "--watch", "/etc/passwd", "--curves", "--cgroups", "1000"];
    let exporter = Exporter::start(&words);
    let group = NamedGroup::new(&format!("hotset-deploy-{}", std::process::id()));
    group.limit(256 * MIB);
    let file = scratch.file("loop", 16 * MIB);
    group.run(&format!("for i in $(seq 20); do cat {}; done", text(&file)));
    until("the walk", || exporter.value("hotset_watch_files{path=\"/etc/passwd\"}"));
    let need =
        format!("hotset_cgroup_cache_need_bytes{{cgroup=\"{}\",hit_ratio=\"0.99\"}}", group.path());
    until("a need", || exporter.value(&need));
    exporter.metrics()
}

#[test]
fn the_dashboard_and_the_rules_use_metrics_that_there_are() {
    let dashboard: Value =
        serde_json::from_str(&read(&deploy("prometheus/grafana.json"))).expect("JSON");
    conforms(&dashboard, "grafana.schema.json");
    let expressions = expressions(&dashboard);
    assert!(expressions.len() > 30, "{}", expressions.len());
    // promtool parses expressions as rules; JSON is YAML.
    let rules: Vec<Value> = (expressions.iter().enumerate())
        .map(|(n, expr)| serde_json::json!({"record": format!("panel:{n}"), "expr": expr}))
        .collect();
    let rules = serde_json::json!({"groups": [{"name": "dashboard", "rules": rules}]});
    let scratch = Scratch::new("deploy");
    std::fs::write(scratch.path("panels.yml"), rules.to_string()).expect("rules");
    let output = run("promtool", &["check", "rules", text(&scratch.path("panels.yml"))]);
    assert!(output.status.success(), "{}", said(&output));

    let metrics = all_metrics(&scratch);
    let there: BTreeSet<&str> = (metrics.lines())
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        // Only there where something is missing.
        .chain(["hotset_not_measured"])
        .collect();
    let used = expressions
        .iter()
        .chain([&read(&deploy("prometheus/hotset.rules.yml"))])
        .flat_map(|e| names(e))
        .collect::<BTreeSet<_>>();
    assert!(used.len() > 30, "{used:?}");
    for name in used.iter().filter(|name| !name.contains(':')) {
        // Names of groups of rules, which are no metrics.
        if !["hotset_read_hit", "hotset_read_device"].contains(&name.as_str()) {
            assert!(there.contains(name.as_str()), "{name} is not in /metrics");
        }
    }
}
