//! `hotset run` as a user meets it: mistakes, exit codes, signals, and where the report goes.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use hotset_tests::scratch::text;
use hotset_tests::{
    Attached, Evictions, Scratch, as_nobody, assert_invariants, code, hotset, lost_counts, number,
    prepare, profile_of, read_json, row_at, stderr, until, warm_verified, with_default_signals,
};
use serde_json::Value;

fn run(words: &[&str]) -> Output {
    Command::new(hotset()).arg("run").args(words).output().expect("hotset")
}

/// Ends with this code, and a message that holds this.
fn assert_refused(words: &[&str], wanted: i32, message: &str) {
    let output = run(words);
    assert_eq!(code(&output), wanted, "{words:?}: {}", stderr(&output));
    assert!(stderr(&output).contains(message), "{words:?}: {}", stderr(&output));
    assert!(output.stdout.is_empty(), "{words:?}");
}

#[test]
fn a_command_that_is_not_there_is_127() {
    assert_refused(&["--", "no-such-command-at-all"], 127, "no-such-command-at-all");
    assert_refused(&["--", "/no/such/program"], 127, "/no/such/program");
}

#[test]
fn a_command_that_can_not_be_executed_is_126() {
    let scratch = Scratch::new("126");
    let plain = scratch.file("plain", 100);
    assert_refused(&["--", text(&plain)], 126, text(&plain));
    assert_refused(&["--", text(scratch.dir())], 126, text(scratch.dir()));
}

#[test]
fn a_script_without_a_first_line_is_the_shells() {
    let scratch = Scratch::new("bare-script");
    let script = scratch.script("script", "echo \"$1 of $0\"\nexit 5\n");
    let output = run(&["-q", "--", text(&script), "word"]);
    assert_eq!(code(&output), 5, "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("word of {}\n", text(&script)));
}

#[test]
fn a_script_whose_interpreter_is_missing_says_so() {
    let scratch = Scratch::new("interpreter");
    let script = scratch.script("script", "#!/no/such/interpreter\n");
    assert_refused(&["--", text(&script)], 127, "interpreter");
}

#[test]
fn bad_usage_is_2() {
    for words in [
        &[][..],
        &["--no-such-flag", "--", "true"],
        &["--max-rows", "x", "--", "true"],
        &["--max-rows", "1", "--", "true"],
        &["--top", "-1", "--", "true"],
    ] {
        assert_eq!(code(&run(words)), 2, "{words:?}");
    }
}

#[test]
fn the_commands_exit_code_is_passed_on_and_reported() {
    let scratch = Scratch::new("code");
    let path = scratch.path("p.json");
    for wanted in [0, 1, 7, 125, 255] {
        let script = format!("exit {wanted}");
        let output = run(&["--json", text(&path), "-q", "--", "sh", "-c", &script]);
        assert_eq!(code(&output), wanted);
        let profile = read_json(&path);
        assert_eq!(profile["command"]["exit_code"], wanted);
        assert!(profile["command"]["signal"].is_null());
    }
}

#[test]
fn a_command_that_is_killed_is_128_and_the_signal_and_still_reported() {
    let scratch = Scratch::new("killed");
    let path = scratch.path("p.json");
    for signal in [9, 11, 15] {
        let script = format!("kill -{signal} $$");
        let output = run(&["--json", text(&path), "-q", "--", "sh", "-c", &script]);
        assert_eq!(code(&output), 128 + signal);
        let profile = read_json(&path);
        assert_eq!(profile["command"]["signal"], signal);
        assert!(profile["command"]["exit_code"].is_null());
        assert_invariants(&profile);
    }
}

/// What a shell does about signals by itself hides what it was given.
#[test]
fn the_command_has_the_signals_that_it_would_have_without_hotset() {
    const STATES: [&[&str]; 4] = [
        &[],
        &["--block-signal=WINCH,USR1,TERM"],
        &["--ignore-signal=PIPE"],
        &["--ignore-signal=HUP,INT,PIPE", "--block-signal=PIPE"],
    ];
    let hotset = hotset();
    for state in STATES {
        let said = |before: &[&str]| {
            let mut command = Command::new("env");
            command.args(state).args(before).args(["grep", "-E", "^Sig(Blk|Ign)"]);
            let output = command.arg("/proc/self/status").output().expect("env, of coreutils");
            String::from_utf8(output.stdout).expect("text")
        };
        let without = said(&[]);
        assert_eq!(without.lines().count(), 2, "{state:?}: {without}");
        for options in [&["-q", "--"][..], &["--no-bpf", "-q", "--"]] {
            assert_eq!(said(&[&[text(&hotset), "run"], options].concat()), without, "{state:?}");
        }
    }
}

#[test]
fn a_signal_that_the_command_does_not_catch_ends_it_and_the_report_still_comes() {
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let scratch = Scratch::new("uncaught");
        let path = scratch.path("p.json");
        // Where the signal is lost it ends by itself, with another code.
        let words = ["sh", "-c", "echo ready; exec sleep 20"];
        let mut child = start(&[&["--json", text(&path), "-q", "--"][..], &words].concat());
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("text"), "ready");
        send(&child, signal);
        assert_eq!(child.wait().expect("wait").code(), Some(128 + signal));
        assert_eq!(read_json(&path)["command"]["signal"], signal);
    }
}

#[test]
fn a_signal_to_hotset_reaches_the_command_and_the_report_still_comes() {
    for (name, signal) in [("TERM", libc::SIGTERM), ("INT", libc::SIGINT), ("HUP", libc::SIGHUP)] {
        let scratch = Scratch::new("signal");
        let path = scratch.path("p.json");
        let script =
            format!("trap 'echo got; exit 3' {name}; echo ready; while :; do sleep 0.02; done");
        let mut child = start(&["--json", text(&path), "-q", "--", "sh", "-c", &script]);
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        assert_eq!(lines.next().expect("a line").expect("text"), "ready");
        send(&child, signal);
        assert_eq!(lines.next().expect("a line").expect("text"), "got", "{name}");
        assert_eq!(child.wait().expect("wait").code(), Some(3), "{name}");
        assert_eq!(read_json(&path)["command"]["exit_code"], 3, "{name}");
    }
}

fn start(words: &[&str]) -> Child {
    let mut command = Command::new(hotset());
    command.arg("run").args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    with_default_signals(&mut command).stderr(Stdio::piped()).spawn().expect("hotset")
}

fn send(child: &Child, signal: i32) {
    // SAFETY: has no preconditions; the child was not waited for, so the number is still its own.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

#[test]
fn the_commands_output_stays_its_own() {
    let scratch = Scratch::new("stdout");
    let path = scratch.path("p.json");
    let script = "printf 'a\\0b\\n'; printf 'err' >&2";
    let output = run(&["--json", text(&path), "--", "sh", "-c", script]);
    assert_eq!(output.stdout, b"a\0b\n");
    let said = stderr(&output);
    assert!(said.starts_with("err") && said.len() > 100, "{said}");
    let quiet = run(&["--json", text(&path), "-q", "--", "sh", "-c", script]);
    assert_eq!((quiet.stdout, quiet.stderr), (b"a\0b\n".to_vec(), b"err".to_vec()));
}

#[test]
fn standard_input_is_the_commands() {
    let scratch = Scratch::new("stdin");
    let file = scratch.file("f", 100_000);
    let mut command = Command::new(hotset());
    command.args(["run", "-q", "--", "sha256sum"]).stdin(std::fs::File::open(&file).expect("open"));
    let here = command.output().expect("hotset");
    let there = Command::new("sha256sum")
        .stdin(std::fs::File::open(&file).expect("open"))
        .output()
        .expect("sha256sum");
    assert_eq!(here.stdout, there.stdout);
}

fn many(scratch: &Scratch, count: u64) -> Vec<PathBuf> {
    let dir = scratch.path("many");
    let words = ["--count", &count.to_string(), "--block", "6000"];
    prepare(&[&["make-files", "--file", text(&dir)][..], &words].concat());
    (0..count).map(|index| dir.join(format!("small-{index:06}"))).collect()
}

/// The files that a run read.
fn read_in(profile: &Value) -> Vec<PathBuf> {
    let rows = profile["files"].as_array().expect("files").iter();
    let read = rows.filter(|row| row["kind"] == "regular" && number(row, "/read/bytes") > 0);
    read.filter_map(|row| row["path"].as_str().map(PathBuf::from)).collect()
}

#[test]
fn beyond_the_bound_the_rest_is_one_row_and_the_totals_stay_exact() {
    let scratch = Scratch::new("overflow");
    let paths = many(&scratch, 100);
    // For another locale, the C library reads a file that every program reads, and that tests of cold runs evict all the time.
    let mut words = vec!["sh", "-c", "LC_ALL=C exec cat \"$@\"", "cat"];
    words.extend(paths.iter().map(|path| text(path)));
    // The program's libraries are read, too.
    let all = read_in(&profile_of(&scratch, &words));
    assert!(paths.iter().all(|path| all.contains(path)), "{all:?}");
    let path = scratch.path("small.json");
    let options = ["--json", text(&path), "--max-rows", "16", "--"];
    let (ample, small, output) = until("nothing is evicted during both runs", || {
        // Counted from before each is warm: what leaves before the first run would be a miss of that one alone.
        let evictions = Evictions::of(&all);
        all.iter().for_each(|path| warm_verified(path));
        let ample = profile_of(&scratch, &words);
        let output = run(&[&options[..], &words].concat());
        evictions.none().then(|| (ample, read_json(&path), output))
    });
    assert_invariants(&small);
    for key in ["/read/calls", "/read/bytes", "/read/pages", "/read/hits"] {
        let key = format!("/totals{key}");
        assert_eq!(number(&small, &key), number(&ample, &key), "{key}");
    }
    let files = small["files"].as_array().expect("files");
    assert!(files.len() <= 17, "{} rows", files.len());
    let others = files.iter().find(|row| row["kind"] == "others").expect("a row of others");
    assert!(others["path"].is_null(), "{others}");
    assert!(number(others, "/read/bytes") >= 84 * 6000, "{others}");
    // Each file is read from its beginning; after the end of another one, which is no order of either.
    for row in [others, &small["totals"]] {
        assert!(row["read"]["sequential_calls"].is_null(), "{row}");
        assert!(row["read"]["random_calls"].is_null(), "{row}");
    }
    let named = files.iter().filter(|row| row["kind"] == "regular");
    assert!(named.clone().all(|row| row["read"]["sequential_calls"].is_u64()), "{files:?}");
    let gaps = small["sensor"]["not_measured"].to_string();
    assert!(gaps.contains("read.sequential_calls"), "{gaps}");
    // Files beyond the bound have no name, and nothing is lost: what the process did to them is in its sums, which
    // `assert_invariants` compares with the totals.
    assert_eq!(lost_counts(&small), 0);
    assert!(!stderr(&output).contains("lost"), "{}", stderr(&output));
    // All have a row here, and ten keep it.
    let options = ["--json", text(&path), "--files", "10", "--"];
    run(&[&options[..], &words].concat());
    let few = read_json(&path);
    assert_invariants(&few);
    let files = few["files"].as_array().expect("files");
    assert_eq!(files.len(), 11);
    assert_eq!((files[10]["kind"].as_str(), number(&files[10], "/processes")), (Some("others"), 1));
    assert_eq!(number(&few, "/totals/read/bytes"), number(&ample, "/totals/read/bytes"));
}

#[test]
fn without_the_sensor_what_is_not_known_is_null() {
    let scratch = Scratch::new("no-bpf");
    let path = scratch.path("p.json");
    let words = ["--json", text(&path), "--no-bpf", "--", "sh", "-c", "cat /etc/passwd; exit 7"];
    let output = run(&words);
    assert_eq!(code(&output), 7);
    assert_unprivileged(&read_json(&path), "--no-bpf");
    assert!(stderr(&output).contains("--no-bpf"), "{}", stderr(&output));
}

#[test]
fn without_the_sensor_a_file_that_grows_has_the_size_of_what_is_cached() {
    let scratch = Scratch::new("no-bpf-grows");
    let (path, grown) = (scratch.path("profile.json"), scratch.path("grown"));
    // Seen when it has a page, and again when it has fifty.
    let script = "exec 3>\"$0\"; printf x >&3; sleep 0.5; head -c 204799 /dev/zero >&3; sleep 0.1";
    let words = ["-q", "--json", text(&path), "--no-bpf", "--", "bash", "-c", script, text(&grown)];
    assert_eq!(run(&words).status.code(), Some(0));
    let profile = read_json(&path);
    let rows = profile["files"].as_array().expect("files");
    let row = rows.iter().find(|row| row["path"] == text(&grown)).expect("its row");
    let (size, cached) = (&row["size_bytes"], &row["cached_after"]);
    assert_eq!((size.as_u64(), cached.as_u64()), (Some(204_800), Some(50)), "{row}");
}

/// Nothing that was not measured is a number, and the reason holds this.
fn assert_unprivileged(profile: &Value, reason: &str) {
    assert_eq!(profile["sensor"]["level"], "unprivileged");
    let files = profile["files"].as_array().expect("files");
    let processes = profile["processes"].as_array().expect("processes");
    for row in files.iter().chain(processes).chain([&profile["totals"]]) {
        for group in ["read", "write", "direct", "readahead", "sync", "time"] {
            assert!(row[group].is_null(), "{group} is {}", row[group]);
        }
        assert!(row["mmap"]["faults"].is_null() && row["mmap"]["pages_read"].is_null(), "{row}");
    }
    for (object, key) in [(profile, "totals.read"), (&files[0], "read"), (&processes[0], "read")] {
        let missing = object["missing"].as_array().expect("a list of reasons");
        let why = missing.iter().find(|entry| entry["key"] == key);
        assert!(why.is_some_and(|entry| entry["detail"].is_string()), "{key}: {missing:?}");
    }
    assert!(profile["lookups"]["calls"].is_null() && profile["lookups"]["failed_paths"].is_null());
    let reasons = profile["sensor"]["not_measured"].to_string();
    assert!(reasons.contains(reason), "{reasons}");
    assert_eq!(profile["command"]["exit_code"], 7);
}

#[test]
fn another_user_gets_less_and_is_told_what_would_help() {
    let scratch = Scratch::new("nobody");
    let mut command = as_nobody(scratch.dir());
    std::fs::set_permissions(scratch.dir(), PermissionsExt::from_mode(0o777)).expect("chmod");
    let path = scratch.path("p.json");
    let file = scratch.file("f", 1 << 16);
    let direct = format!("dd if={} iflag=direct of=/dev/null bs=64k status=none", text(&file));
    let script = format!("{direct}; touch {}; exit 7", text(&file));
    command.args(["run", "--json", text(&path), "--", "sh", "-c", &script]);
    let output = command.env("HOME", "/nonexistent").output().expect("unshare");
    assert_eq!(code(&output), 7, "{}", stderr(&output));
    let profile = read_json(&path);
    assert_unprivileged(&profile, "CAP_BPF");
    assert!(number(&profile, "/totals/device/read_bytes") >= 1 << 16, "{}", profile["totals"]);
    let said = stderr(&output);
    // It was touch(1) that was refused: the command ran as that user.
    assert!(said.contains("CAP_BPF") && said.contains("touch"), "{said}");
}

#[test]
fn doctor_says_what_this_host_offers() {
    let output = Command::new(hotset()).args(["doctor", "--json"]).output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(answer["schema"], "hotset.doctor/1");
    let text = Command::new(hotset()).arg("doctor").output().expect("hotset");
    assert!(code(&text) == 0 && text.stdout.len() > 200);
}

/// A kernel can refuse the build that it offers the parts of: `run -q` would count by an older one, and not say so.
#[test]
fn the_sensor_is_the_build_that_the_kernel_can_have() {
    let scratch = Scratch::new("build");
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    let mut numbers = kernel.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
    let mut next = || numbers.next().and_then(Result::ok);
    let full = (next(), next()) >= (Some(6), Some(2));
    let pid = std::process::id().to_string();
    let attached = Attached::start(&scratch, "attached.json", &["--pid", &pid]).interrupt();
    for profile in [profile_of(&scratch, &["true"]), attached] {
        let name = profile["sensor"]["name"].as_str().expect("a name");
        assert!(name == "bpf" || !full && name == "bpf-compat", "{kernel}: {}", profile["sensor"]);
    }
}

#[test]
fn a_run_inside_a_run_is_counted_by_both() {
    let scratch = Scratch::new("nested");
    let file = scratch.file("f", 1 << 20);
    let inner = scratch.path("inner.json");
    let program = hotset();
    let words = [text(&program), "run", "--json", text(&inner), "-q", "--", "cat", text(&file)];
    let outer = profile_of(&scratch, &words);
    for profile in [&outer, &read_json(&inner)] {
        let row = row_at(profile, &file);
        assert_eq!(
            (number(row, "/read/bytes"), number(row, "/read/pages")),
            (1 << 20, 256),
            "{row}"
        );
    }
}
