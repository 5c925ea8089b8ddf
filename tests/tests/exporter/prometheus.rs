//! A real Prometheus scrapes `hotset export` and answers queries.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{
    Evictions, MIB, PAGE, Scratch, evict_verified, loaded_by, number, read_json, until, workload,
};
use serde_json::Value;

use crate::seen::{Seen, Tolerance, pages};

/// A Prometheus with its own port and data, killed at the end.
struct Prometheus {
    child: Child,
    address: String,
    _scratch: Scratch,
}

impl Prometheus {
    fn scraping(target: &str) -> Self {
        let scratch = Scratch::new("prometheus");
        let config = scratch.path("prometheus.yml");
        let job = format!(
            "global: {{scrape_interval: 1s, scrape_timeout: 1s}}\n\
             scrape_configs: [{{job_name: hotset, static_configs: [{{targets: [\"{target}\"]}}]}}]\n"
        );
        std::fs::write(&config, job).expect("its configuration");
        // A port that was free a moment ago: Prometheus doesn't say which one it took.
        let free = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a port");
        let address = free.to_string();
        let log = std::fs::File::create(scratch.path("log")).expect("its log");
        let child = Command::new("prometheus")
            .arg(format!("--config.file={}", text(&config)))
            .arg(format!("--storage.tsdb.path={}", text(&scratch.path("data"))))
            .arg(format!("--web.listen-address={address}"))
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("prometheus; `make setup` installs it (.ci/packages.sh test)");
        Self { child, address, _scratch: scratch }
    }

    /// The API's answer, once there is one.
    fn ask(&self, path: &str, query: &str) -> Option<Value> {
        let output = Command::new("curl")
            .args(["--silent", "--fail", "--get", "--data-urlencode", query])
            .arg(format!("http://{}/api/v1/{path}", self.address))
            .output()
            .expect("curl");
        let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
        (answer["status"] == "success").then(|| answer["data"].clone())
    }

    /// The one value of a query, once there is one.
    fn value(&self, query: &str) -> Option<f64> {
        let data = self.ask("query", &format!("query={query}"))?;
        data["result"][0]["value"][1].as_str()?.parse().ok()
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Has the program read a file, and answers how many pages of it came from the device, as the program saw.
fn read(program: &Path, scratch: &Scratch, file: &Path) -> f64 {
    let truth = scratch.path("truth.json");
    let status = Command::new(program)
        .args(["seq", "--file", text(file), "--block", "65536", "--truth", text(&truth)])
        .status();
    assert!(status.expect("the reader").success());
    pages(number(&read_json(&truth), "/block_read_bytes"))
}

/// What explains a wrong number: whether the exporter lost something, had it counted for others, or told more later.
fn told(exporter: &Exporter, prometheus: &Prometheus, name: &str, requested: &str) -> String {
    let is_told = |line: &&str| {
        ["hotset_lost_total", "command=\"other\"", name].iter().any(|word| line.contains(word))
    };
    let metrics = exporter.metrics();
    let mut lines: Vec<String> = metrics.lines().filter(is_told).map(str::to_owned).collect();
    for series in [requested, "hotset_samples_total"] {
        let values = prometheus.ask("query", &format!("query={series}[2m]"));
        lines.push(format!("{series}: {values:?}"));
    }
    lines.join("\n")
}

#[test]
fn prometheus_answers_with_the_right_number_of_pages() {
    let scratch = Scratch::new("export-prometheus");
    let name = format!("hsexp{:06}", std::process::id() % 1_000_000);
    let program = scratch.program(&name, &workload());
    let (small, large) = (scratch.file("small", PAGE), scratch.file("large", 64 * MIB));
    let exporter = Exporter::start(&["--commands", "1000"]);
    let prometheus = Prometheus::scraping(&exporter.address);
    let watched = [&[small.clone(), large.clone()], &loaded_by(&program)[..]].concat();
    // Counted from before it is warm.
    let evictions = Evictions::of(&watched);
    // What the program reads beside its file is the same each time.
    read(&program, &scratch, &small);
    let requested = format!("hotset_command_read_pages_total{{command=\"{name}\"}}");
    let device = format!(
        "hotset_command_read_missed_pages_total{{command=\"{name}\"}} + hotset_command_read_readahead_hit_pages_total{{command=\"{name}\"}}"
    );
    // A scrape of a sample that was taken after now holds all that was done before.
    let settled = || {
        let now = exporter.value("hotset_samples_total").expect("samples") + 2.0;
        until("a scrape of a later sample", || {
            prometheus.value("hotset_samples_total").filter(|seen| *seen >= now)
        });
        (prometheus.value(&requested).expect("pages"), prometheus.value(&device).expect("device"))
    };
    let first = settled();
    read(&program, &scratch, &small);
    let second = settled();
    evict_verified(&large);
    let cold_device = read(&program, &scratch, &large);
    let cold = settled();
    let warm_device = read(&program, &scratch, &large);
    let warm = settled();
    let told = told(&exporter, &prometheus, &name, &requested);
    let tolerance = Tolerance::of(&evictions, &program, &large);
    let (beside, whole) = (second.0 - first.0 - 1.0, pages(64 * MIB));
    let run = |before: (f64, f64), after: (f64, f64), of_file| Seen {
        requested: after.0 - before.0,
        device: after.1 - before.1,
        of_file,
    };
    let (cold_read, warm_read) = (run(second, cold, cold_device), run(cold, warm, warm_device));
    tolerance.assert_right(&format!("{told}\ncold"), cold_read, beside + whole, whole);
    tolerance.assert_right(&format!("{told}\nwarm"), warm_read, beside + whole, 0.0);
    // It reads OpenMetrics with the types and units that are meant.
    let metadata = prometheus.ask("metadata", "metric=hotset_read_pages").expect("metadata");
    let read_pages = &metadata["hotset_read_pages"][0];
    assert_eq!(
        (&read_pages["type"], &read_pages["unit"]),
        (&"counter".into(), &"pages".into()),
        "{metadata}"
    );
    assert_eq!(prometheus.value("up{job=\"hotset\"}"), Some(1.0));
    assert_eq!(prometheus.value("hotset_up"), Some(1.0));
}
