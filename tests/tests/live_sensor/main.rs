//! The sensor as a session that lasts: intervals against what the workload and the kernel say, and what is bounded.

mod curves;
mod forks;
mod lookups;
mod references;
mod subvolumes;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hotset_facts::{FileId, LiveFile, LiveIo, LiveProcess};
use hotset_observe::live::{LiveOptions, LiveSample, LiveSession};
use hotset_observe::{DEFAULT_MAX_ROWS, Scope};
use hotset_tests::scratch::text;
use hotset_tests::{
    Group, MIB, Scratch, Shell, evict_verified, has_cachestat, measure, number, once_undisturbed,
    undisturbed, until, until_ok, warm_verified, workload,
};

fn session(scope: Scope, max_rows: u32, compat: bool) -> LiveSession {
    LiveSession::start(LiveOptions { scope, max_rows, compat, ..LiveOptions::default() })
        .expect("the sensor loads (as root)")
}

fn sample(session: &mut LiveSession) -> LiveSample {
    let sample = session.sample().expect("a sample");
    for row in &sample.rows {
        let io = row.io.unpack();
        assert!(io.read_misses + io.readahead_hits <= io.read_pages, "{row:?}");
    }
    sample
}

fn id_of(path: &Path) -> FileId {
    hotset_sys::file_id(&rustix::fs::stat(path).expect("stat"))
}

/// What was done to a file, and by whom.
fn done_to(sample: &LiveSample, id: FileId) -> Vec<(&LiveProcess, LiveIo)> {
    let file = sample.files.iter().position(|file| file.id.same_inode(&id)).map(|at| at as u32);
    let rows = sample.rows.iter().filter(|row| Some(row.file) == file);
    rows.map(|row| (&sample.processes[row.process as usize], row.io.unpack())).collect()
}

fn an_interval_is_exact(compat: bool) {
    let scratch = Scratch::new("live-exact");
    let path = scratch.file("data", 64 * MIB);
    let id = id_of(&path);
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    until("a cold read that nobody disturbs", || {
        once_undisturbed(&[&path], || {
            evict_verified(&path);
            sample(&mut session);
            let truth = measure(&scratch, &["seq", "--file", text(&path), "--block", "1048576"]);
            let seen = sample(&mut session);
            let pid = number(&truth, "/pid");
            let rows = done_to(&seen, id);
            let row = rows.iter().find(|(process, _)| u64::from(process.pid) == pid);
            let (process, io) = row.expect("a row of the process and the file");
            assert_eq!(&*process.comm, "workload");
            assert!(process.ended);
            assert_eq!(process.ppid.as_value(), Some(&std::process::id()));
            assert_eq!(process.uid.as_value(), Some(&0));
            let file = seen.files.iter().find(|file| file.id.same_inode(&id)).expect("the file");
            assert_eq!(file.path.as_value().map(|path| path.as_path()), Some(&*path));
            assert_eq!(io.read_pages, number(&truth, "/pages"));
            assert_eq!(io.read_bytes, number(&truth, "/bytes"));
            let calls = number(&truth, "/requests") + number(&truth, "/eof_calls");
            assert_eq!(io.read_calls, calls);
            assert_eq!(io.device_read_bytes, number(&truth, "/block_read_bytes"));
            let missing = truth["pages_missing_before"].as_u64();
            assert_eq!(missing.is_some(), has_cachestat(), "{truth}");
            assert_eq!(io.read_misses, missing.unwrap_or(io.read_misses));
            assert_eq!(io.split().hits + io.read_misses, io.read_pages);
            let all = number(&truth, "/block_read_bytes") / 4096 == io.read_pages;
            all.then(|| assert_eq!(io.split().from_device, io.read_pages))
        })
        .flatten()
    });
    undisturbed(&[&path], || {
        warm_verified(&path);
        let before = sample(&mut session).losses;
        let truth = measure(&scratch, &["seq", "--file", text(&path), "--block", "4096"]);
        let seen = sample(&mut session);
        let rows = done_to(&seen, id);
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!((rows[0].1.read_pages, rows[0].1.read_misses), (number(&truth, "/pages"), 0));
        assert_eq!(seen.losses.unattributed, 0);
        // Anybody on the host may have made calls that are not measured, or requests that can't be followed, since the session began.
        let mut losses = seen.losses.clone();
        losses.calls -= before.calls;
        losses.requests -= before.requests;
        if compat {
            // Linux AIO of anybody on the host is not followed there.
            losses.requests = 0;
        }
        assert!(!losses.damage_counts(), "{losses:?}");
        assert!(done_to(&sample(&mut session), id).is_empty(), "nothing is shown twice");
    });
}

#[test]
fn an_interval_says_what_the_workload_did() {
    an_interval_is_exact(false);
}

#[test]
fn the_compat_build_says_the_same() {
    an_interval_is_exact(true);
}

fn intervals_add_up(compat: bool) {
    let scratch = Scratch::new("live-sum");
    let path = scratch.file("data", 64 * MIB);
    let id = id_of(&path);
    warm_verified(&path);
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    let truth_path = scratch.path("truth.json");
    let mut child = Command::new(workload())
        .args(["reread", "--file", text(&path), "--block", "4096", "--passes", "40"])
        .args(["--truth", text(&truth_path)])
        .spawn()
        .expect("workload");
    let (mut sum, mut parts, mut ended) = (LiveIo::default(), 0, false);
    while !ended {
        std::thread::sleep(Duration::from_millis(30));
        ended = child.try_wait().expect("wait").is_some();
        let seen = sample(&mut session);
        for (process, io) in done_to(&seen, id) {
            assert_eq!(process.pid, child.id());
            sum.add(&io);
            parts += 1;
        }
    }
    child.wait().expect("wait");
    let truth = hotset_tests::read_json(&truth_path);
    assert!(parts > 2, "the workload was over after {parts} intervals");
    assert_eq!(sum.read_pages, number(&truth, "/pages"));
    assert_eq!(sum.read_bytes, number(&truth, "/bytes"));
    assert_eq!(sum.split().hits + sum.read_misses, sum.read_pages);
}

fn a_number_used_again_is_another_file(compat: bool) {
    let scratch = Scratch::new("live-spill");
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    let mut attempts = 0;
    // Beside others who make files, these may have the numbers that were free.
    let (directory, seen) = until("a number comes again", || {
        sample(&mut session);
        attempts += 1;
        let directory = scratch.path(&attempts.to_string());
        std::fs::create_dir(&directory).expect("mkdir");
        let words = ["spill", "--file", text(&directory), "--count", "16", "--block", "8192"];
        let truth = measure(&scratch, &words);
        let seen = sample(&mut session);
        (number(&truth, "/distinct_inodes") < 16).then_some((directory, seen))
    });
    let ours =
        |file: &LiveFile| file.path.as_value().is_some_and(|path| path.starts_with(&directory));
    let places: Vec<usize> = (0..seen.files.len()).filter(|at| ours(&seen.files[*at])).collect();
    assert_eq!(places.len(), 16, "{:?}", seen.files);
    let mut names: Vec<_> = places.iter().map(|at| seen.files[*at].path.as_value()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 16, "{names:?}");
    for row in seen.rows.iter().filter(|row| places.contains(&(row.file as usize))) {
        let io = row.io.unpack();
        assert_eq!((io.read_pages, io.write_pages, io.read_misses), (2, 2, 0));
    }
}

#[test]
fn a_number_that_is_used_again_is_another_file() {
    a_number_used_again_is_another_file(false);
    a_number_used_again_is_another_file(true);
}

#[test]
fn the_intervals_of_a_process_add_up_to_what_it_did() {
    intervals_add_up(false);
    intervals_add_up(true);
}

/// Far more files than rows, over many intervals: nothing is lost, and the table recovers.
fn rows_come_back(compat: bool) {
    const FILES: u64 = 3_000;
    let scratch = Scratch::new("live-rows");
    let many = scratch.path("many");
    let words = ["make-files", "--file", text(&many), "--count", "3000", "--block", "4096"];
    hotset_tests::prepare(&words);
    // Of the whole host nobody knows how many rows others want.
    let mut shell = Shell::new();
    let scope = Scope::Processes(vec![shell.pid() as u32]);
    let mut session = session(scope, 1024, compat);
    sample(&mut session);
    let path = scratch.path("truth.json");
    let words = ["many-files", "--count", "3000", "--file", text(&many), "--truth", text(&path)];
    let line = format!("{} {}", text(&workload()), words.join(" "));
    let (mut own, mut unattributed) = (0, 0);
    for _ in 0..6 {
        shell.run(&line);
        let pid = number(&hotset_tests::read_json(&path), "/pid") as u32;
        let seen = sample(&mut session);
        let mine = seen.rows.iter().filter(|row| seen.processes[row.process as usize].pid == pid);
        let pages: u64 = mine.map(|row| row.io.unpack().read_pages).sum();
        assert!(pages > 800, "{pages} told apart: the rows of the process before came back");
        own += pages;
        unattributed = seen.losses.unattributed;
        assert!(pages + seen.others.read_pages >= FILES, "{pages} and {:?}", seen.others);
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(30));
            sample(&mut session);
        }
    }
    shell.end();
    assert!(unattributed > 0, "{own} pages of {} had a row", 6 * FILES);
}

#[test]
fn rows_are_used_again() {
    rows_come_back(false);
    rows_come_back(true);
}

#[test]
fn evictions_of_any_file_are_counted() {
    let scratch = Scratch::new("live-evicted");
    let path = scratch.file("data", 16 * MIB);
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, false);
    undisturbed(&[&path], || {
        warm_verified(&path);
        sample(&mut session);
        evict_verified(&path);
        let evicted = sample(&mut session).evicted_pages;
        assert!(evicted.as_value().is_some_and(|pages| *pages >= 4096), "{evicted:?}");
    });
    // A test beside this one may evict as much meanwhile.
    until_ok("what is unlinked is not evicted", || {
        let gone = scratch.file("gone", 64 * MIB);
        warm_verified(&gone);
        sample(&mut session);
        std::fs::remove_file(&gone).expect("unlink");
        let evicted = sample(&mut session).evicted_pages;
        let few = evicted.as_value().is_some_and(|pages| *pages < 16_384);
        if few { Ok(()) } else { Err(format!("{evicted:?}")) }
    });
}

#[test]
fn without_names_the_counts_are_the_same_and_no_name_is_made_up() {
    let scratch = Scratch::new("live-nameless");
    let path = scratch.file("data", 4 * MIB);
    let id = id_of(&path);
    for compat in [false, true] {
        warm_verified(&path);
        let options = LiveOptions { names: false, compat, ..LiveOptions::default() };
        let mut session = LiveSession::start(options).expect("the sensor loads (as root)");
        let truth = measure(&scratch, &["seq", "--file", text(&path), "--block", "4096"]);
        let seen = sample(&mut session);
        // Files are not told apart: a row holds what the process did on the whole file system.
        let rows = done_to(&seen, FileId { ino: 0, ..id });
        let mut own =
            rows.iter().filter(|(process, _)| u64::from(process.pid) == number(&truth, "/pid"));
        assert!(
            own.next().is_some_and(|(_, io)| io.read_pages >= number(&truth, "/pages")),
            "{rows:?}"
        );
        assert!(own.next().is_none(), "{rows:?}");
        assert!(seen.active_rows >= rows.len() as u64);
        let named = |path: &std::path::PathBuf| !path.starts_with("/dev");
        let paths = seen.files.iter().filter_map(|file| file.path.as_value());
        assert_eq!(paths.filter(|path| named(path)).count(), 0);
        assert_eq!(seen.losses.events, 0, "no record was sent");
    }
}

fn a_group_alone(compat: bool) {
    let scratch = Scratch::new("live-group");
    let group = Group::new(&scratch);
    let [inside, outside] = ["inside", "outside"].map(|name| scratch.file(name, 4 * MIB));
    let truth = scratch.path("truth.json");
    let read = |file: &Path| {
        let words = ["seq", "--block", "65536", "--file", text(file), "--truth", text(&truth)];
        format!("{} {}", text(&workload()), words.join(" "))
    };
    let mut shell = Shell::new();
    group.add_below(shell.pid());
    let scope = Scope::Cgroup(group.dir().to_owned());
    let mut session = session(scope, DEFAULT_MAX_ROWS, compat);
    for path in [&inside, &outside] {
        warm_verified(path);
    }
    shell.run(&read(&inside));
    let told = hotset_tests::read_json(&truth);
    measure(&scratch, &["seq", "--file", text(&outside), "--block", "65536"]);
    let seen = sample(&mut session);
    shell.end();
    let rows = done_to(&seen, id_of(&inside));
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!(u64::from(rows[0].0.pid), number(&told, "/pid"));
    assert_eq!(rows[0].1.read_pages, number(&told, "/pages"));
    assert!(done_to(&seen, id_of(&outside)).is_empty(), "read by nobody of the group");
}

#[test]
fn of_a_control_group_its_processes_and_nobody_else() {
    a_group_alone(false);
    a_group_alone(true);
}
