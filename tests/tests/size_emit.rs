//! What `hotset size` writes for other tools, of a real recording, checked by whoever reads it: a YAML parser and a schema, systemd, and a
//! reader of CSV.

use std::path::Path;
use std::process::{Command, Output};

use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{MIB, Scratch, code, evict_verified, hotset, stderr, stdout};
use hotset_validate::violations;
use serde_json::{Value, json};

/// Reads pages of a file again and again, few of them often; keeps some memory.
const PROGRAM: &str = "
import os, random, sys
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
pages = os.fstat(file).st_size // 4096
random.seed(7)
for turn in range(20000):
    os.pread(file, 4096, int(pages * random.random() ** 3) * 7919 % pages * 4096)
";

/// A word of the command that would set something, if it got out of its comment.
const HOSTILE: &str = "x\n[Service]\nMemoryMax=1\nspec: {} # \"\\";

fn size(trace: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(hotset());
    command.arg("size").arg(trace).args(words).output().expect("hotset")
}

fn sized(trace: &Path, words: &[&str]) -> String {
    let output = size(trace, words);
    assert_eq!(code(&output), 0, "{words:?}: {}", stderr(&output));
    stdout(&output)
}

/// What a parser of YAML makes of it, if the schema allows that.
fn yaml(text: &str, schema: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas").join(schema);
    let schema = std::fs::read_to_string(path).expect("a schema");
    let value = serde_yaml_ng::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(violations(&schema, &value), [""; 0], "{text}");
    value
}

/// Bytes of a quantity of Kubernetes.
fn bytes(quantity: &Value) -> u64 {
    let quantity = quantity.as_str().expect("a quantity");
    let mebibytes = quantity.strip_suffix("Mi").unwrap_or_else(|| panic!("{quantity}: no MiB"));
    mebibytes.parse::<u64>().expect("a number") * MIB
}

/// Bytes of a setting of systemd: whole MiB, or else KiB.
fn of_systemd(line: &str, key: &str) -> u64 {
    let value = line.strip_prefix(key).unwrap_or_else(|| panic!("{line}: no {key}"));
    let (number, unit) = value.split_at(value.len() - 1);
    let scale = match unit {
        "K" => 1024,
        "M" => MIB,
        _ => panic!("{line}: no unit"),
    };
    number.parse::<u64>().expect("a number") * scale
}

fn reread(scratch: &Scratch) -> std::path::PathBuf {
    scratch.file("data", 16 * MIB);
    let data = scratch.path("data");
    evict_verified(&data);
    let program = ["/usr/bin/python3", "-S", "-c", PROGRAM, text(&data), HOSTILE];
    record(scratch, &[], &program).path
}

#[test]
fn each_form_is_what_its_reader_takes_and_has_the_numbers_of_the_json() {
    let scratch = Scratch::new("size-emit");
    let trace = reread(&scratch);
    let told: Value = serde_json::from_str(&sized(&trace, &["-q", "--json", "-"])).expect("JSON");
    let (request, limit) = (&told["request"]["bytes"], &told["limit"]["bytes"]);

    // Nothing but the form is on standard output.
    let output = size(&trace, &["--emit", "k8s", "--emit-container", "web"]);
    assert!(stderr(&output).contains("Memory limit"), "{}", stderr(&output));
    let patch = yaml(&stdout(&output), "kubernetes-resources.schema.json");
    let container = &patch["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(container["name"], "web");
    assert_eq!(json!(bytes(&container["resources"]["requests"]["memory"])), *request);
    assert_eq!(json!(bytes(&container["resources"]["limits"]["memory"])), *limit);

    let (unit, vpa) = (scratch.path("memory.conf"), scratch.path("vpa.yaml"));
    let (to_unit, to_vpa) = (format!("systemd={}", text(&unit)), format!("vpa={}", text(&vpa)));
    let table = sized(&trace, &["--emit", &to_unit, "--emit", &to_vpa]);
    assert!(table.contains("Memory limit"), "{table}");
    let vpa = yaml(&read(&vpa), "vertical-pod-autoscaler.schema.json");
    let container = &vpa["status"]["recommendation"]["containerRecommendations"][0];
    let of = |bound: &str| bytes(&container[bound]["memory"]);
    assert_eq!((json!(of("target")), of("uncappedTarget")), (limit.clone(), of("target")));
    assert!(of("lowerBound") >= request.as_u64().expect("bytes"), "{container}");
    assert!(of("lowerBound") <= of("target") && of("target") <= of("upperBound"), "{container}");

    let unit = read(&unit);
    let lines: Vec<&str> = unit.lines().filter(|line| !line.starts_with('#')).collect();
    let [section, high, most] = lines[..] else { panic!("{unit}") };
    assert_eq!(section, "[Service]");
    assert_eq!(json!(of_systemd(high, "MemoryHigh=")), told["enough"]["limit_bytes"], "{unit}");
    assert_eq!(json!(of_systemd(most, "MemoryMax=")), *limit, "{unit}");
    systemd_takes(&scratch, &unit);
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What systemd says of a drop-in beside a service.
fn verify(scratch: &Scratch, drop_in: &str) -> String {
    let service = scratch.path("app.service");
    std::fs::write(&service, "[Service]\nExecStart=/bin/true\n").expect("a service");
    let folder = scratch.path("app.service.d");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("memory.conf"), drop_in).expect("a drop-in");
    let mut command = Command::new("systemd-analyze");
    let output = command.args(["verify", "--man=no", text(&service)]).output();
    let output =
        output.unwrap_or_else(|error| panic!("systemd-analyze: {error}; `make setup` installs it"));
    stdout(&output) + &stderr(&output)
}

fn systemd_takes(scratch: &Scratch, drop_in: &str) {
    let said = verify(scratch, drop_in);
    assert!(!said.contains("app.service"), "{said}");
    // It does read the drop-in.
    for (from, to) in [("MemoryHigh=", "MemoryHigher="), ("MemoryMax=", "MemoryMax=x")] {
        let said = verify(scratch, &drop_in.replace(from, to));
        assert!(said.contains("memory.conf"), "{to}: {said}");
    }
}

#[test]
fn csv_has_a_row_for_each_limit() {
    let scratch = Scratch::new("size-csv");
    let trace = reread(&scratch);
    let json = scratch.path("x.json");
    let csv = sized(&trace, &["--csv", "-", "--json", text(&json), "--limit", "200M"]);
    let told: Value = serde_json::from_str(&read(&json)).expect("JSON");
    let mut limits = told["limits"].as_array().expect("limits").clone();
    for named in ["enough", "thrash"] {
        limits.extend(told[named].is_object().then(|| told[named].clone()));
    }
    limits.sort_by_key(|limit| limit["cache_bytes"].as_u64());
    limits.dedup();
    let mut lines = csv.lines();
    let titles: Vec<&str> = lines.next().expect("titles").split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), limits.len(), "{csv}");
    for (row, limit) in rows.iter().zip(&limits) {
        for (title, field) in titles.iter().zip(row) {
            let wanted = match *title {
                "mark" => continue,
                "hit_ratio_low" => &limit["hit_ratio_range"][0],
                "hit_ratio_high" => &limit["hit_ratio_range"][1],
                title => &limit[title],
            };
            let wanted = wanted.as_f64().unwrap_or_else(|| panic!("{title}: {limit}"));
            assert_eq!(field.parse::<f64>(), Ok(wanted), "{title}: {csv}");
        }
    }
    assert_eq!(rows.iter().filter(|row| row.last() == Some(&"enough")).count(), 1, "{csv}");
}

#[test]
fn what_is_not_known_is_refused_before_anything_is_written() {
    let scratch = Scratch::new("size-refused");
    // Rows of another tool, without the memory of anybody: each of 512 pages, three times.
    let rows: String = (0..1536).map(|row| format!("{row},{},4096\n", row % 512 * 4096)).collect();
    let (csv, trace) = (scratch.path("other.csv"), scratch.path("other.parquet"));
    std::fs::write(&csv, format!("time,pos,len\n{rows}")).expect("rows");
    let words = "trace import --from csv --time time --offset pos --size len -o";
    let mut import = Command::new(hotset());
    import.args(words.split(' ')).args([&trace, &csv]);
    let output = import.output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let kept = scratch.path("kept.conf");
    std::fs::write(&kept, "as it was").expect("a file");
    let (to_kept, new) = (format!("systemd={}", text(&kept)), scratch.path("new.json"));
    for form in ["k8s", "vpa", &to_kept] {
        let output = size(&trace, &["--json", text(&new), "--emit", form]);
        assert_eq!((code(&output), stdout(&output)), (1, String::new()), "{form}");
        let said = stderr(&output);
        assert!(said.contains("other.parquet") && said.contains("--other SIZE"), "{said}");
        assert!(read(&kept) == "as it was" && !new.exists(), "{form}");
    }
    let told = sized(&trace, &["--emit", "k8s", "--other", "100M"]);
    let patch = yaml(&told, "kubernetes-resources.schema.json");
    let container = &patch["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        (&container["name"], told.contains("what --other says")),
        (&"CONTAINER".into(), true)
    );
    assert!(bytes(&container["resources"]["requests"]["memory"]) >= 110 * MIB, "{told}");
    for (words, why) in [
        (&["--emit", "docker"][..], "k8s, systemd or vpa"),
        (&["--emit", "k8s="], "file after ="),
        (&["--emit", "k8s", "--csv", "-"], "two of --json, --csv, --html and --emit"),
        (&["--emit", "k8s", "--emit", "vpa"], "two of --json, --csv, --html and --emit"),
        (&["--emit", "systemd", "--emit-container", "web"], "--emit-container applies to"),
        (&["--emit", "k8s", "--emit-container", "Web"], "a-z, 0-9"),
        (&["--emit", "k8s=same.yaml", "--csv", "same.yaml"], "same.yaml: is named twice"),
        (&["--emit-container", "web"], "--emit"),
    ] {
        let output = size(&trace, words);
        assert_eq!(code(&output), 2, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    let output = size(&trace, &["--other", "1M", "--emit", "vpa=/nowhere/vpa.yaml"]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("/nowhere"), "{}", stderr(&output));
}

#[test]
fn of_one_pass_the_request_is_emitted_alone() {
    let scratch = Scratch::new("size-one-pass");
    scratch.file("data", 32 * MIB);
    // Its memory is looked at while it sleeps.
    let cat = format!("cat {} > /dev/null; sleep 1", text(&scratch.path("data")));
    let trace = record(&scratch, &[], &["/bin/sh", "-c", &cat]).path;
    let patch = yaml(&sized(&trace, &["--emit", "k8s"]), "kubernetes-resources.schema.json");
    let resources = &patch["spec"]["template"]["spec"]["containers"][0]["resources"];
    assert!(resources["limits"].is_null() && resources["requests"].is_object(), "{patch}");
    let vpa = yaml(&sized(&trace, &["--emit", "vpa"]), "vertical-pod-autoscaler.schema.json");
    let policy = &vpa["spec"]["resourcePolicy"]["containerPolicies"][0];
    assert_eq!(policy["controlledValues"], "RequestsOnly");
    let output = size(&trace, &["--emit", "systemd"]);
    assert_eq!((code(&output), stdout(&output)), (1, String::new()));
    assert!(stderr(&output).contains("there is no limit to set"), "{}", stderr(&output));
}
