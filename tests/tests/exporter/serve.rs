//! `hotset export` and who scrapes it: what it counts, what it answers, and to whom it stays open.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use hotset_tests::exporter::{Exporter, answer, fed, value};
use hotset_tests::scratch::text;
use hotset_tests::{
    Evictions, MIB, NamedGroup, PAGE, Scratch, evict_verified, hotset, loaded_by, number,
    read_json, until, workload,
};

use crate::seen::{Seen, Tolerance, pages};

/// Reads a file with the workload program under another name, so that its counters are its own.
struct Reader {
    scratch: Scratch,
    name: String,
}

impl Reader {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new("export-reader");
        // At most 15 bytes, or the kernel cuts it.
        let name = format!("{name}{:06}", std::process::id() % 1_000_000);
        scratch.program(&name, &workload());
        Self { scratch, name }
    }

    /// Reads it, and answers how many pages of it came from the device, as the program saw.
    fn read(&self, file: &std::path::Path) -> f64 {
        let truth = self.scratch.path("truth.json");
        let status = Command::new(self.scratch.path(&self.name))
            .args(["seq", "--file", text(file), "--block", "65536", "--truth", text(&truth)])
            .status()
            .expect("the reader");
        assert!(status.success());
        pages(number(&read_json(&truth), "/block_read_bytes"))
    }

    fn series(&self, metric: &str) -> String {
        format!("hotset_command_{metric}{{command=\"{}\"}}", self.name)
    }
}

/// Requested pages, and those among them that came from the device.
fn counted(exporter: &Exporter, reader: &Reader) -> (f64, f64) {
    let metrics = exporter.metrics();
    let pages = |metric| value(&metrics, &reader.series(metric)).unwrap_or(0.0);
    let from_device = pages("read_missed_pages_total") + pages("read_readahead_hit_pages_total");
    (pages("read_pages_total"), from_device)
}

#[test]
fn a_program_that_reads_cold_and_then_warm_is_counted_to_the_page() {
    let reader = Reader::new("hsexa");
    let (small, large) =
        (reader.scratch.file("small", PAGE), reader.scratch.file("large", 64 * MIB));
    let exporter = Exporter::start(&["--commands", "1000"]);
    // What the program reads beside its file is the same each time: the difference is the file's.
    let spent = |file: &std::path::Path| {
        let before = counted(&exporter, &reader);
        let of_file = reader.read(file);
        exporter.settle();
        let after = counted(&exporter, &reader);
        Seen { requested: after.0 - before.0, device: after.1 - before.1, of_file }
    };
    let program = reader.scratch.path(&reader.name);
    let watched = [&[small.clone(), large.clone()], &loaded_by(&program)[..]].concat();
    // Counted from before it is warm.
    let evictions = Evictions::of(&watched);
    // The program itself is in the cache after this.
    reader.read(&small);
    exporter.settle();
    let one = spent(&small);
    evict_verified(&large);
    let cold = spent(&large);
    let warm = spent(&large);
    let tolerance = Tolerance::of(&evictions, &program, &large);
    let (beside, whole) = (one.requested - 1.0, pages(64 * MIB));
    tolerance.assert_right("one page", one, beside + 1.0, 0.0);
    tolerance.assert_right("cold", cold, beside + whole, whole);
    tolerance.assert_right("warm", warm, beside + whole, 0.0);
}

#[test]
fn promtool_accepts_the_metrics() {
    // A path that is given twice is one series.
    let words = ["--mounts", "--curves", "--watch", "/etc/passwd", "--watch", "/etc/passwd"];
    let exporter = Exporter::start(&words);
    until("the walk", || exporter.value("hotset_watch_files{path=\"/etc/passwd\"}"));
    exporter.settle();
    let metrics = exporter.metrics();
    let checked = fed(Command::new("promtool").args(["check", "metrics"]), metrics.as_bytes());
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && said.is_empty(), "{said}\n{metrics}");
    for series in ["hotset_up", "hotset_watch_complete{path=\"/etc/passwd\"}"] {
        assert_eq!(value(&metrics, series), Some(1.0), "{series}");
    }
    assert_eq!(metrics.matches("hotset_watch_files{path=\"/etc/passwd\"}").count(), 1);
    assert!(value(&metrics, "hotset_memory_cached_bytes").is_some_and(|bytes| bytes > 0.0));
}

#[test]
fn both_formats_have_the_same_values_and_two_readers_agree() {
    let exporter = Exporter::start(&[]);
    exporter.settle();
    let scrape = |accept: &str| {
        let answer = exporter.ask("GET", "/metrics", &format!("Accept: {accept}\r\n"));
        assert_eq!(answer.status, 200);
        answer
    };
    let samples = |body: &str| value(body, "hotset_samples_total");
    // All of one sample; a new one may come up between two requests.
    let (old, again, open) = until("three answers of one sample", || {
        let (old, again) = (scrape("*/*"), scrape("*/*"));
        let open = scrape("application/openmetrics-text; version=1.0.0");
        let same = samples(&old.body) == samples(&open.body);
        same.then_some((old, again, open))
    });
    assert_eq!(old.body, again.body);
    assert_eq!(old.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert_eq!(
        open.header("content-type"),
        Some("application/openmetrics-text; version=1.0.0; charset=utf-8")
    );
    assert!(open.body.ends_with("# EOF\n"));
    let series = |body: &str| -> Vec<String> {
        body.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    };
    assert_eq!(series(&old.body), series(&open.body));
}

#[test]
fn only_get_and_head_are_answered() {
    let exporter = Exporter::start(&[]);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let refused = exporter.ask(method, "/metrics", "Content-Length: 0\r\n");
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let head = exporter.ask("HEAD", "/metrics", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(exporter.get("/metric").status, 404);
    let health = exporter.get("/healthz");
    assert_eq!((health.status, health.body.as_str()), (200, "ok\n"));
    let page = exporter.get("/");
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.body.contains("/metrics") && !page.body.contains("<script"), "{}", page.body);
    let long = format!("X-Long: {}\r\n", "x".repeat(64 * 1024));
    assert_eq!(exporter.ask("GET", "/metrics", &long).status, 431);
    // The sampler went on all the while.
    exporter.settle();
}

#[test]
fn connections_that_say_nothing_shut_nobody_out() {
    let exporter = Exporter::start(&[]);
    // More than there is room for; some have begun a request, none ends it.
    let mut silent = Vec::new();
    for n in 0..200 {
        let mut stream = exporter.connect();
        if n % 2 == 0 {
            stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ").expect("a beginning");
        }
        silent.push(stream);
    }
    exporter.settle();
    assert_eq!(exporter.get("/healthz").status, 200);
    let refused = exporter.value("hotset_http_refused_connections_total");
    assert!(refused.is_some_and(|count| count >= 72.0), "{refused:?}");
    // The oldest had to go for those that came later.
    silent[0].set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let mut byte = [0];
    assert!(matches!(silent[0].read(&mut byte), Ok(0) | Err(_)), "it is closed");
}

#[test]
fn a_connection_serves_many_requests() {
    let exporter = Exporter::start(&[]);
    let mut stream = exporter.connect();
    let request = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    stream.write_all(request.repeat(3).as_bytes()).expect("three at once");
    stream
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .expect("the last");
    let all = answer(stream);
    let ok = format!("{}\r\n\r\n{}", all.head, all.body);
    assert_eq!(ok.matches("HTTP/1.1 200").count(), 4, "{ok}");
}

fn refused(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(hotset()).arg("export").args(words).output().expect("hotset");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_port_in_use_is_named_and_a_wrong_address_is_bad_usage() {
    let holder = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = holder.local_addr().expect("its address").port();
    let (code, said) = refused(&["--listen", &format!("127.0.0.1:{port}")]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains(&format!("port {port} is in use")), "{said}");
    for (words, word) in [
        (&["--listen", "9467"][..], "HOST:PORT"),
        (&["--listen", "::1:9467"], "[::1]:9467"),
        (&["--listen", "127.0.0.1:99999"], "0 to 65535"),
        (&["--interval", "0"], "from 0.1 to 86400"),
        (&["--interval", "-1"], "from 0.1 to 86400"),
        (&["--cgroups", "1001"], "1000"),
        (&["--curves-period", "16"], "--curves"),
        (&["--curves", "--curves-period", "24"], "power of two from 1 to 4096"),
        (&["--otlp", "localhost:4318"], "http://localhost:4318"),
        (&["--otlp-header", "a=b"], "--otlp"),
    ] {
        let (code, said) = refused(words);
        assert_eq!(code, Some(2), "{words:?}: {said}");
        assert!(said.contains(word), "{words:?}: {said}");
    }
}

#[test]
fn several_addresses_and_a_warning_where_others_can_reach_one() {
    let exporter = Exporter::start(&["--listen", "[::1]:0", "--listen", ":0"]);
    let said = until("three addresses", || {
        let said = exporter.said();
        // The warning is a line of its own, after that of its address.
        let all = said.matches("metrics at http://").count() == 3 && said.contains("other hosts");
        all.then_some(said)
    });
    assert!(said.contains("http://[::1]:"), "{said}");
    assert_eq!(said.matches("can be reached from other hosts").count(), 1, "{said}");
}

#[test]
fn the_service_manager_is_told_and_sigterm_ends_it_well() {
    let scratch = Scratch::new("export-notify");
    let manager = UnixDatagram::bind(scratch.path("notify")).expect("a socket");
    manager.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let mut command = Command::new(hotset());
    command
        .args(["export", "--listen", "127.0.0.1:0"])
        .env("NOTIFY_SOCKET", scratch.path("notify"));
    let exporter = Exporter::start_command(command);
    let told = || {
        let mut state = [0; 64];
        let len = manager.recv(&mut state).expect("a state");
        String::from_utf8_lossy(&state[..len]).into_owned()
    };
    assert_eq!(told(), "READY=1");
    assert!(exporter.stop().success());
    assert_eq!(told(), "STOPPING=1");
}

/// A file is read in the group, until its series says so; the series.
fn read_within(exporter: &Exporter, group: &NamedGroup) -> String {
    group.run("cat /etc/passwd");
    let series = format!("hotset_cgroup_read_pages_total{{cgroup=\"{}\"}}", group.path());
    until("the group's series", || exporter.value(&series).filter(|pages| *pages >= 1.0));
    series
}

#[test]
fn groups_have_the_hosts_names_in_a_container_that_sees_them() {
    let group = NamedGroup::new(&format!("hotset-inside-{}", std::process::id()));
    // As in a DaemonSet: a namespace of control groups of its own, and the host's tree.
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{} exec unshare --cgroup \"$0\" \"$@\"", group.joins()))
        .arg(hotset())
        .args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2", "--cgroups", "1000"]);
    let exporter = Exporter::start_command(command);
    let series = read_within(&exporter, &group);
    // A process that goes on: by now, /proc was asked where it is, which within the namespace says /.
    let scratch = Scratch::new("export-inside");
    let file = scratch.file("data", 4 * MIB);
    let program = "import sys\nfor _ in sys.stdin: open(sys.argv[1], 'rb').read()";
    let mut reader = Command::new("sh");
    reader.arg("-c").arg(format!("{} exec python3 -c \"$0\" \"$1\"", group.joins()));
    let mut reader = reader.arg(program).arg(&file).stdin(Stdio::piped()).spawn().expect("python3");
    let mut told = reader.stdin.take().expect("a pipe");
    let mut read_all = || {
        let before = exporter.value(&series).expect("pages");
        told.write_all(b"once more\n").expect("a line");
        until("its pages", || exporter.value(&series).filter(|n| *n >= before + pages(4 * MIB)));
    };
    read_all();
    (0..8).for_each(|_| exporter.settle());
    read_all();
    let metrics = exporter.metrics();
    assert!(!metrics.contains("cgroup=\"/.."), "{metrics}");
    drop(told);
    assert!(reader.wait().expect("its end").success());
    assert!(exporter.stop().success());
    group.remove();
}

#[test]
fn a_group_that_was_removed_ends_its_series() {
    let group = NamedGroup::new(&format!("hotset-export-{}", std::process::id()));
    let exporter = Exporter::start(&["--cgroups", "1000"]);
    let series = read_within(&exporter, &group);
    group.remove();
    until("the end of the series", || exporter.value(&series).is_none().then_some(()));
}
