//! What lies in deploy/: each file is checked by whoever will read it, or against the schema of what it uses.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, NOBODY, NamedGroup, Scratch, as_nobody_with, until};
use hotset_validate::violations;
use serde::Deserialize;
use serde_json::Value;

/// What `systemd-analyze security` may say at most of the unit: 10 is a service without any restriction.
const EXPOSURE: f64 = 2.5;

fn deploy(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy").join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn run(program: &str, words: &[&str]) -> Output {
    Command::new(program).args(words).current_dir(deploy("")).output().unwrap_or_else(|error| {
        panic!("{program}: {error}; `make setup` installs it (.ci/packages.sh test)")
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

fn conforms(value: &Value, schema: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(schema);
    assert_eq!(violations(&read(&path), value), [""; 0], "{schema}");
}

#[test]
fn promtool_accepts_the_rules_and_their_tests_pass() {
    for words in
        [["check", "rules", "hotset.rules.yml"], ["test", "rules", "hotset.rules.test.yml"]]
    {
        let output = run("promtool", &words);
        assert!(output.status.success(), "{}", said(&output));
    }
    // Each alert is tested.
    let rules: Value = serde_yaml_ng::from_str(&read(&deploy("hotset.rules.yml"))).expect("YAML");
    let tests = read(&deploy("hotset.rules.test.yml"));
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
    let dashboard: Value = serde_json::from_str(&read(&deploy("grafana.json"))).expect("JSON");
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
        .chain([&read(&deploy("hotset.rules.yml"))])
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

#[test]
fn systemd_accepts_the_unit_and_finds_it_hardened() {
    let scratch = Scratch::new("deploy-unit");
    let unit = scratch.path("hotset-export.service");
    let program = hotset_tests::hotset();
    let words =
        read(&deploy("hotset-export.service")).replace("/usr/local/bin/hotset", text(&program));
    std::fs::write(&unit, words).expect("the unit");
    let output = run("systemd-analyze", &["verify", "--man=no", text(&unit)]);
    let about = said(&output);
    assert!(output.status.success() && !about.contains("hotset-export"), "{about}");
    let output = run("systemd-analyze", &["security", "--offline=true", "--no-pager", text(&unit)]);
    let about = said(&output);
    let level = about
        .lines()
        .find_map(|line| line.split_once("Overall exposure level for")?.1.split_once(": "));
    let level = level.and_then(|(_, rest)| rest.split(' ').next()?.parse::<f64>().ok());
    assert!(level.is_some_and(|level| level <= EXPOSURE), "{level:?}: {about}");
}

/// The capabilities that the unit and the manifest name.
const NEEDED: [&str; 3] = ["BPF", "PERFMON", "DAC_READ_SEARCH"];

#[test]
fn the_capabilities_of_the_unit_are_enough_for_nobody() {
    let unit = read(&deploy("hotset-export.service"));
    for key in ["AmbientCapabilities=", "CapabilityBoundingSet="] {
        let line = unit.lines().find_map(|line| line.strip_prefix(key)).expect(key);
        let named: Vec<&str> =
            line.split(' ').map(|word| word.trim_start_matches("CAP_")).collect();
        assert_eq!(named, NEEDED);
    }
    let scratch = Scratch::new("deploy-nobody");
    let mut command = as_the_unit(scratch.dir());
    command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2", "--commands", "1000"]);
    let exporter = Exporter::start_command(command);
    let name = format!("hsnobody{:06}", std::process::id() % 1_000_000);
    let status = Command::new(scratch.program(&name, Path::new("/bin/cat")))
        .arg(scratch.file("f", 1 << 20))
        .stdout(std::process::Stdio::null())
        .status();
    assert!(status.expect("cat").success());
    let series = format!("hotset_command_read_pages_total{{command=\"{name}\"}}");
    // What root does is seen by nobody.
    until("the pages of another user", || exporter.value(&series).filter(|pages| *pages >= 256.0));
    assert_eq!(exporter.get("/healthz").status, 200);
}

/// Nobody, with the capabilities of the unit.
fn as_the_unit(dir: &Path) -> Command {
    let sets: String = NEEDED.map(|name| format!(",+{}", name.to_lowercase())).concat();
    let options =
        ["inh-caps", "ambient-caps", "bounding-set"].map(|set| format!(" --{set}=-all{sets}"));
    as_nobody_with(dir, &format!("--no-new-privs{}", options.concat()))
}

#[test]
fn the_unit_can_write_the_tables_of_a_fleet() {
    let unit = read(&deploy("hotset-export.service"));
    assert!(unit.contains("\nStateDirectory=hotset\n"), "it may write nowhere else: {unit}");
    let scratch = Scratch::new("deploy-fleet");
    let [state, root] = ["state", "root"].map(|name| {
        let dir = scratch.path(name);
        std::fs::create_dir(&dir).expect("mkdir");
        std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).expect("chown");
        dir
    });
    let mut command = as_the_unit(scratch.dir());
    command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2"]);
    command.args(["--parquet", text(&root)]).env("STATE_DIRECTORY", &state);
    let exporter = Exporter::start_command(command);
    exporter.settle();
    let (status, said) = exporter.stop_with_words();
    assert!(status.success() && !said.contains("not known"), "{said}");
    for table in ["host", "group_interval", "file_interval"] {
        let days = std::fs::read_dir(root.join(table).join("v=1"));
        assert_eq!(days.map(Iterator::count).ok(), Some(1), "{table}: {said}");
    }
    assert!(state.join("fleet/ready").is_dir(), "the spool is where systemd says");
}

/// The objects in a file, each as Kubernetes takes it.
fn documents(name: &str) -> Vec<Value> {
    let text = read(&deploy(name));
    let all = serde_yaml_ng::Deserializer::from_str(&text);
    let all = all.map(|document| Value::deserialize(document).expect("YAML")).inspect(|value| {
        conforms(value, "kubernetes.schema.json");
    });
    all.collect()
}

#[test]
fn the_manifest_is_what_kubernetes_takes() {
    let documents = documents("kubernetes.yaml");
    let [_, account, set] = &documents[..] else { panic!("{documents:?}") };
    assert_eq!((&account["kind"], &set["kind"]), (&"ServiceAccount".into(), &"DaemonSet".into()));
    let pod = &set["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], account["metadata"]["name"]);
    // No token where nothing is asked.
    assert_eq!(pod["automountServiceAccountToken"], false);
    let (spec, container) =
        (&set["spec"]["template"]["spec"], &set["spec"]["template"]["spec"]["containers"][0]);
    assert_eq!(spec["hostPID"], true);
    assert_eq!(
        set["spec"]["selector"]["matchLabels"],
        set["spec"]["template"]["metadata"]["labels"]
    );
    assert_eq!(container["securityContext"]["capabilities"]["add"], serde_json::json!(NEEDED));
    let named = |list: &Value| -> BTreeSet<String> {
        list.as_array().expect("a list").iter().map(|volume| volume["name"].to_string()).collect()
    };
    assert_eq!(named(&spec["volumes"]), named(&container["volumeMounts"]));
    understood(&container["args"]);
}

/// hotset understands these flags.
fn understood(args: &Value) {
    let args: Vec<&str> = args.as_array().expect("args").iter().filter_map(Value::as_str).collect();
    let output =
        Command::new(hotset_tests::hotset()).args(&args).arg("--help").output().expect("hotset");
    assert!(output.status.success(), "{args:?}: {}", said(&output));
}

#[test]
fn the_patch_of_a_fleet_adds_to_the_manifest() {
    let patch = serde_yaml_ng::from_str::<Value>(&read(&deploy("kubernetes-fleet.yaml")));
    let spec = &patch.expect("YAML")["spec"]["template"]["spec"];
    let container = &spec["containers"][0];
    // A container is patched by its name.
    assert_eq!(container["name"], "hotset");
    understood(&container["args"]);
    let names = |list: &Value| -> BTreeSet<String> {
        list.as_array().expect("a list").iter().map(|one| one["name"].to_string()).collect()
    };
    assert_eq!(names(&spec["volumes"]), names(&container["volumeMounts"]));
    // What flags name is there: the spool in its volume, the variable, the token.
    let args = container["args"].to_string();
    assert!(args.contains("--kubernetes-api"), "{args}");
    assert_eq!(spec["automountServiceAccountToken"], true);
    assert!(args.contains("--spool=/var/lib/hotset/") && args.contains("$(NODE_NAME)"), "{args}");
    assert_eq!(container["env"][0]["name"], "NODE_NAME");
    assert!(container["volumeMounts"].to_string().contains(r#""mountPath":"/var/lib/hotset""#));
}

#[test]
fn the_rights_of_a_fleet_are_those_that_it_uses() {
    let documents = documents("kubernetes-fleet-rbac.yaml");
    let [role, binding] = &documents[..] else { panic!("{documents:?}") };
    let rights = serde_json::json!([
        {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]},
        {"apiGroups": ["apps"], "resources": ["replicasets"], "verbs": ["get"]},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    ]);
    assert_eq!(role["rules"], rights);
    assert_eq!(binding["roleRef"]["name"], role["metadata"]["name"]);
    let account = self::documents("kubernetes.yaml").swap_remove(1);
    for key in ["name", "namespace"] {
        assert_eq!(binding["subjects"][0][key], account["metadata"][key]);
    }
}
