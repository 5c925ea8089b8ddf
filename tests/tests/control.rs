//! `hotset warm`, `evict` and `pin` as a user meets them, against what the kernel says of each page.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use hotset_tests::held::{Mapped, Mlock};
use hotset_tests::listing::count;
use hotset_tests::pageflags::{page_counts, resident_pages};
use hotset_tests::scratch::text;
use hotset_tests::{
    Scratch, as_nobody, code, evict_verified, hotset, stderr, stdout, undisturbed, until,
    warm_verified, with_default_signals,
};
use serde_json::Value;

const MIB: u64 = 1 << 20;
const PAGE: u64 = 4096;

fn run(words: &[&str]) -> Output {
    Command::new(hotset()).args(words).output().expect("hotset")
}

/// The report and the exit code.
fn json(words: &[&str]) -> (Value, i32) {
    let output = run(&[&words[..1], &["--json"], &words[1..]].concat());
    let report = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{words:?}: {error}: {}", stderr(&output)));
    (report, code(&output))
}

fn resident(path: &Path) -> u64 {
    count(&resident_pages(path))
}

#[test]
fn a_cold_tree_is_warmed_and_evicted_again() {
    let scratch = Scratch::new("tree");
    let sizes = [1, 5000, 300_000, 3 * MIB, 9 * MIB + 1];
    let files = sizes.map(|size| scratch.file(&format!("f{size}"), size));
    let pages: u64 = sizes.iter().map(|size| size.div_ceil(PAGE)).sum();
    // The host may evict what is idle: then it has to be shown once more.
    until("all of the tree is warmed", || {
        files.iter().for_each(|file| evict_verified(file));
        let (report, code) = json(&["warm", text(scratch.dir())]);
        let there: u64 = files.iter().map(|file| resident(file)).sum();
        assert_eq!(report["schema"], "hotset.control/1");
        assert_eq!(report["totals"]["files"], 5);
        assert_eq!(report["totals"]["pages"], pages);
        let all = there == pages && report["totals"]["cached_before"] == 0;
        all.then(|| {
            assert_eq!(code, 0);
            assert_eq!(report["totals"]["cached_after"], pages);
            assert_eq!(report["totals"]["fetched_bytes"], pages * PAGE);
        })
    });
    let output = run(&["evict", text(scratch.dir())]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    assert!(stdout(&output).starts_with("5 files: 0 B of "), "{}", stdout(&output));
    assert_eq!(files.iter().map(|file| resident(file)).sum::<u64>(), 0);
}

#[test]
fn only_what_is_missing_is_read() {
    let scratch = Scratch::new("missing");
    let file = scratch.file("file", 8 * MIB);
    until("half of it is warmed, then the rest", || {
        evict_verified(&file);
        let (first, _) = json(&["warm", "--range", "0-5M", text(&file)]);
        let half = resident_pages(&file);
        let (rest, code) = json(&["warm", text(&file)]);
        let calm = rest["totals"]["cached_before"] == 5 * MIB / PAGE;
        calm.then(|| {
            assert_eq!(first["totals"]["pages"], 5 * MIB / PAGE);
            let wanted: Vec<bool> = (0..2048).map(|page| page < 1280).collect();
            assert_eq!(half, wanted);
            assert_eq!(rest["totals"]["fetched_bytes"], 3 * MIB);
            assert_eq!((code, resident(&file)), (0, 2048));
        })
    });
}

#[test]
fn a_budget_ends_it_and_is_named() {
    let scratch = Scratch::new("budget");
    let file = scratch.file("file", 8 * MIB);
    undisturbed(&[&file], || {
        evict_verified(&file);
        let output = run(&["warm", "--budget", "3M", text(&file)]);
        let there = resident(&file);
        assert_eq!(code(&output), 1);
        assert!(
            stdout(&output).contains("5.00 MiB missing: beyond the budget"),
            "{}",
            stdout(&output)
        );
        assert_eq!(there, 3 * MIB / PAGE);
    });
    let quiet = run(&["warm", "-q", "--budget", "0", text(&file)]);
    assert_eq!((code(&quiet), stdout(&quiet).len(), stderr(&quiet).len()), (1, 0, 0));
}

#[test]
fn dirty_pages_stay_and_are_written_only_if_asked() {
    let scratch = Scratch::new("dirty");
    let path = scratch.file("file", 64 * PAGE);
    until("dirty pages stay dirty", || {
        let file = File::options().write(true).open(&path).expect("open");
        file.write_all_at(&vec![9; 8 * PAGE as usize], 16 * PAGE).expect("write");
        let (report, exit) = json(&["evict", text(&path)]);
        let left = page_counts(&path);
        // The kernel writes out by itself what is old enough.
        (left.dirty > 0).then(|| {
            assert_eq!(exit, 1);
            let stayed = &report["files"][0]["stayed"];
            assert_eq!(
                (&stayed[0]["reason"], stayed.as_array().map(Vec::len)),
                (&"dirty".into(), Some(1))
            );
            assert_eq!(stayed[0]["pages"], left.dirty);
            assert_eq!(report["files"][0]["cached_after"], left.dirty);
        })
    });
    let output = run(&["evict", "--sync", text(&path)]);
    assert_eq!((code(&output), resident(&path)), (0, 0), "{}", stdout(&output));
}

#[test]
fn who_maps_and_who_locks_is_named() {
    let scratch = Scratch::new("held");
    let path = scratch.file("file", 64 * PAGE);
    let me = std::process::id();
    warm_verified(&path);
    let mapped = Mapped::whole(&path);
    let (report, exit) = json(&["evict", text(&path)]);
    let text_said = stdout(&run(&["evict", text(&path)]));
    drop(mapped);
    let stayed = &report["files"][0]["stayed"][0];
    assert_eq!((exit, &stayed["reason"], &stayed["pid"]), (1, &"mapped".into(), &me.into()));
    assert_eq!(stayed["pages"], 64);
    assert!(text_said.contains(&format!("(pid {me})")), "{text_said}");
    let locked = Mlock::whole(&path);
    let (report, exit) = json(&["evict", "--sync", text(&path)]);
    assert_eq!(resident(&path), 64);
    drop(locked);
    let stayed = &report["files"][0]["stayed"][0];
    assert_eq!((exit, &stayed["reason"], &stayed["pid"]), (1, &"locked".into(), &me.into()));
    let (_, exit) = json(&["evict", text(&path)]);
    assert_eq!((exit, resident(&path)), (0, 0));
}

#[test]
fn a_missing_path_is_named_and_the_rest_is_done() {
    let scratch = Scratch::new("absent");
    let file = scratch.file("file", MIB);
    evict_verified(&file);
    let output = run(&["warm", "/no/such/path", text(&file)]);
    assert_eq!(resident(&file), 256);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("/no/such/path: "), "{}", stdout(&output));
}

#[test]
fn without_permission_nobody_claims_that_it_is_warm() {
    let scratch = Scratch::new("other");
    let file = scratch.file("file", MIB);
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).expect("chmod");
    let hotset = |words: &[&str]| as_nobody(scratch.dir()).args(words).output().expect("unshare");
    let warmed = hotset(&["warm", "--json", text(&file)]);
    let everything = hotset(&["evict", "--everything"]);
    let report: Value = serde_json::from_slice(&warmed.stdout).expect("JSON");
    assert_eq!(code(&warmed), 1);
    assert!(report["files"][0]["cached_after"].is_null(), "{report}");
    assert_eq!(report["totals"]["files_unknown"], 1);
    assert_eq!(code(&everything), 1);
    assert!(stderr(&everything).contains("run hotset as root"), "{}", stderr(&everything));
}

/// The kernel lets root of a container whose UID is the host's root drop the host's cache.
#[test]
fn in_a_user_namespace_the_cache_of_the_host_is_left_alone() {
    let in_container = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user"]).arg(hotset()).args(words);
        command.output().expect("unshare, of util-linux")
    };
    for (words, wanted) in [
        (&["evict", "--everything"][..], 1),
        (&["bench", "-r", "1", "--state", "cold-all", "--", "true"], 125),
    ] {
        let output = in_container(words);
        let said = stderr(&output);
        assert_eq!(code(&output), wanted, "{said}");
        assert!(said.contains("outside of this user namespace"), "{said}");
    }
    let doctor = in_container(&["doctor", "--json"]);
    let doctor: Value = serde_json::from_slice(&doctor.stdout).expect("JSON");
    let checks = doctor["capabilities"].as_array().expect("checks");
    for id in ["root", "cap_bpf", "cap_perfmon", "sensor"] {
        let check = checks.iter().find(|check| check["id"] == id).expect(id);
        assert_eq!(check["verdict"], "no", "{check}");
        let remedy = check["remedy"].as_str().expect("a remedy");
        assert!(remedy.contains("as root of the host"), "{check}");
    }
    let stat = in_container(&["stat", "0.1", "1"]);
    assert!(stderr(&stat).contains("as root of the host"), "{}", stderr(&stat));
}

/// All capabilities of a container say nothing about files of users that it doesn't have: mincore(2) then claims 100 %.
#[test]
fn in_a_user_namespace_strangers_files_are_unknown_and_not_warm() {
    let scratch = Scratch::new("userns");
    let file = scratch.file("strangers", 2 * MIB);
    std::os::unix::fs::chown(&file, Some(1000), Some(1000)).expect("chown");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("chmod");
    let output = Command::new("unshare")
        .args(["--map-root-user", text(hotset().as_ref()), "warm", "--json", text(&file)])
        .output()
        .expect("unshare");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["totals"]["files_unknown"], 1, "{report}");
    assert!(report["files"][0]["cached_after"].is_null(), "{report}");
    assert_eq!(code(&output), 1);
}

#[test]
fn bad_usage_is_2() {
    for words in [
        &["warm"][..],
        &["evict"],
        &["pin"],
        &["warm", "--range", "9-5", "/"],
        &["warm", "--budget", "much", "/"],
        &["evict", "--everything", "/"],
        &["pin", "--daemon", "--files-from", "-"],
    ] {
        let output = run(words);
        assert_eq!(code(&output), 2, "{words:?}: {}", stderr(&output));
        assert!(!stderr(&output).is_empty(), "{words:?}");
    }
}

/// A `pin` in the foreground that is ended with this value, and the lines that it says.
struct Pinning(Child, Receiver<String>);

impl Pinning {
    fn start(words: &[&str]) -> Self {
        let mut command = Command::new(hotset());
        command.arg("pin").args(words).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = with_default_signals(&mut command).spawn().expect("hotset");
        let said = BufReader::new(child.stderr.take().expect("a pipe"));
        let (line, lines) = channel();
        std::thread::spawn(move || {
            said.lines().map_while(Result::ok).try_for_each(|said| line.send(said))
        });
        Self(child, lines)
    }

    /// Takes what it says up to a line with these words.
    fn wait_for_line(&mut self, words: &str) {
        until(&format!("it says \"{words}\""), || {
            self.1.try_iter().any(|line| line.contains(words)).then_some(())
        });
    }

    fn end(mut self) -> i32 {
        kill(self.0.id(), libc::SIGTERM);
        self.0.wait().expect("wait").code().expect("an exit code")
    }
}

impl Drop for Pinning {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn kill(pid: u32, signal: i32) {
    // SAFETY: takes two numbers. The process is a child of this one, or one whose PID file is locked.
    let sent = unsafe { libc::kill(pid as libc::pid_t, signal) };
    assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
}

/// Pages that stay although the kernel is asked to forget them.
fn stays(path: &Path) -> u64 {
    File::open(path).and_then(|file| file.sync_all()).expect("fsync");
    run(&["evict", "-q", text(path)]);
    resident(path)
}

#[test]
fn a_pinned_file_stays_grows_and_is_replaced() {
    let scratch = Scratch::new("pin");
    let path = scratch.file("file", 20 * PAGE);
    evict_verified(&path);
    let mut pinning = Pinning::start(&["--budget", "1M", text(&path)]);
    until("it is held", || (stays(&path) == 20).then_some(()));
    let mut file = File::options().append(true).open(&path).expect("open");
    file.write_all(&vec![1; 30 * PAGE as usize]).expect("write");
    until("what it grew by is held", || (stays(&path) == 50).then_some(()));
    let next = scratch.file("next", 70 * PAGE);
    fs::rename(&next, &path).expect("rename");
    until("the new file is held", || (stays(&path) == 70).then_some(()));
    // Beyond the budget: what is held stays held.
    let mut file = File::options().append(true).open(&path).expect("open");
    file.write_all(&vec![1; 2 * MIB as usize]).expect("write");
    pinning.wait_for_line("not followed");
    let held = stays(&path);
    assert!((70..256).contains(&held), "{held}");
    assert_eq!(pinning.end(), 0);
    assert_eq!(stays(&path), 0);
}

#[test]
fn what_may_not_be_locked_is_refused_with_the_numbers() {
    let scratch = Scratch::new("refused");
    let path = scratch.file("file", MIB);
    let budget = run(&["pin", "--budget", "64K", text(&path)]);
    assert_eq!(code(&budget), 1);
    let said = stderr(&budget);
    assert!(said.contains("1 MiB") && said.contains("64 KiB"), "{said}");
    let longer = scratch.file("longer", MIB + PAGE);
    let budget = run(&["pin", "--budget", "1M", text(&longer)]);
    assert_eq!(code(&budget), 1);
    let wanted = "1.00 MiB (1052672 bytes) are needed, and the budget is 1 MiB";
    assert!(stderr(&budget).contains(wanted), "{}", stderr(&budget));
    let limited = "ulimit -l 512; exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \"$0\" pin \"$1\"";
    let output = Command::new("bash")
        .args(["-c", limited, text(&hotset()), text(&path)])
        .output()
        .expect("bash");
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        ["RLIMIT_MEMLOCK", "1 MiB", "512 KiB"].iter().all(|word| said.contains(word)),
        "{said}"
    );
}

#[test]
fn a_daemon_holds_until_it_is_ended_and_its_pid_file_goes_with_it() {
    let scratch = Scratch::new("daemon");
    let path = scratch.file("file", 30 * PAGE);
    let pid_file = scratch.path("pid");
    evict_verified(&path);
    // What a process that was killed leaves behind.
    fs::write(&pid_file, "1\n").expect("write");
    let words = ["pin", "--daemon", "--pid-file", text(&pid_file), text(&path)];
    let output = run(&words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let pid: u32 = fs::read_to_string(&pid_file).expect("PID file").trim().parse().expect("a PID");
    assert_eq!(stays(&path), 30);
    // By which pgrep(1) and ps(1) find it.
    let named = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).expect(name);
    assert_eq!(named("comm").trim(), "hotset");
    assert!(named("cmdline").starts_with("hotset\0pin\0"), "{}", named("cmdline"));
    let again = run(&words);
    assert_eq!(code(&again), 1);
    assert!(stderr(&again).contains(&format!("in use by process {pid}")), "{}", stderr(&again));
    kill(pid, libc::SIGTERM);
    until("the PID file is gone", || (!pid_file.exists()).then_some(()));
    until("nothing is held", || (stays(&path) == 0).then_some(()));
    let missing = run(&["pin", "--daemon", "/no/such/file"]);
    assert_eq!(code(&missing), 1, "{}", stdout(&missing));
}
