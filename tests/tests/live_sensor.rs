//! The sensor as a session that lasts: intervals against what the workload and the kernel say, and what is bounded.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use hotset_facts::{FileId, LiveIo, LiveProcess};
use hotset_observe::live::{LiveOptions, LiveSample, LiveSession};
use hotset_observe::{DEFAULT_MAX_ROWS, Scope};
use hotset_tests::scratch::text;
use hotset_tests::{MIB, Scratch, evict_verified, measure, number, until, warm_verified, workload};

fn session(scope: Scope, max_rows: u32, compat: bool) -> LiveSession {
    LiveSession::start(LiveOptions { scope, max_rows, names: true, compat })
        .expect("the sensor loads (as root)")
}

fn sample(session: &mut LiveSession) -> LiveSample {
    let sample = session.sample().expect("a sample");
    for row in &sample.rows {
        assert!(row.io.read_misses + row.io.readahead_hits <= row.io.read_pages, "{row:?}");
    }
    sample
}

fn id_of(path: &Path) -> FileId {
    hotset_sys::file_id(&rustix::fs::stat(path).expect("stat"))
}

/// What was done to a file, and by whom.
fn done_to(sample: &LiveSample, id: FileId) -> Vec<(&LiveProcess, LiveIo)> {
    let file = sample.files.iter().position(|file| file.id == id).map(|at| at as u32);
    let rows = sample.rows.iter().filter(|row| Some(row.file) == file);
    rows.map(|row| (&sample.processes[row.process as usize], row.io)).collect()
}

/// A child of this process that runs `work` and ends; its number.
fn forked(work: impl FnOnce()) -> i32 {
    // SAFETY: what is run between fork and _exit makes system calls and touches no lock and no heap.
    match unsafe { libc::fork() } {
        0 => {
            work();
            // SAFETY: ends this process and nothing else.
            unsafe { libc::_exit(0) }
        }
        pid => pid,
    }
}

fn wait_for(pid: i32) {
    let mut status = 0;
    // SAFETY: the status is a valid place.
    unsafe { libc::waitpid(pid, &raw mut status, 0) };
}

fn pread_a_page(fd: i32) {
    let mut page = [0_u8; 4096];
    // SAFETY: the buffer is as long as the call is told.
    unsafe { libc::pread(fd, page.as_mut_ptr().cast(), page.len(), 0) };
}

/// A process that reads a page and ends; its number.
fn read_a_page(file: &File) -> u32 {
    let fd = file.as_raw_fd();
    let pid = forked(|| pread_a_page(fd));
    assert!(pid > 0, "fork: {}", std::io::Error::last_os_error());
    wait_for(pid);
    pid as u32
}

fn an_interval_is_exact(compat: bool) {
    let scratch = Scratch::new("live-exact");
    let path = scratch.file("data", 64 * MIB);
    let id = id_of(&path);
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    until("a cold read that nobody disturbs", || {
        evict_verified(&path);
        sample(&mut session);
        let truth = measure(&scratch, &["seq", "--file", text(&path), "--block", "1048576"]);
        let seen = sample(&mut session);
        let pid = number(&truth, "/pid");
        let rows = done_to(&seen, id);
        let (process, io) = rows.iter().find(|(process, _)| u64::from(process.pid) == pid)?;
        assert_eq!(&*process.comm, "workload");
        assert!(process.ended);
        assert_eq!(process.ppid.as_value(), Some(&std::process::id()));
        assert_eq!(process.uid.as_value(), Some(&0));
        let file = seen.files.iter().find(|file| file.id == id)?;
        assert_eq!(file.path.as_value().map(|path| path.as_path()), Some(&*path));
        assert_eq!(io.read_pages, number(&truth, "/pages"));
        assert_eq!(io.read_bytes, number(&truth, "/bytes"));
        let calls = number(&truth, "/requests") + number(&truth, "/eof_calls");
        assert_eq!(io.read_calls, calls);
        assert_eq!(io.device_read_bytes, number(&truth, "/block_read_bytes"));
        if !truth["pages_missing_before"].is_null() {
            assert_eq!(io.read_misses, number(&truth, "/pages_missing_before"));
        }
        assert_eq!(io.hits() + io.read_misses, io.read_pages);
        let all = number(&truth, "/block_read_bytes") / 4096 == io.read_pages;
        all.then(|| assert_eq!(io.from_device(), io.read_pages))
    });
    warm_verified(&path);
    sample(&mut session);
    let truth = measure(&scratch, &["seq", "--file", text(&path), "--block", "4096"]);
    let seen = sample(&mut session);
    let rows = done_to(&seen, id);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].1.read_pages, rows[0].1.read_misses), (number(&truth, "/pages"), 0));
    assert_eq!(seen.losses.unattributed, 0);
    assert!(!seen.losses.damage_counts(), "{:?}", seen.losses);
    assert!(done_to(&sample(&mut session), id).is_empty(), "nothing is shown twice");
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
    let truth = hotset_tests::read_json(&truth_path);
    assert!(parts > 2, "the workload was over after {parts} intervals");
    assert_eq!(sum.read_pages, number(&truth, "/pages"));
    assert_eq!(sum.read_bytes, number(&truth, "/bytes"));
    assert_eq!(sum.hits() + sum.read_misses, sum.read_pages);
}

#[test]
fn the_intervals_of_a_process_add_up_to_what_it_did() {
    intervals_add_up(false);
    intervals_add_up(true);
}

/// Asks the kernel to go on numbering after `pid - 1`.
fn next_pid_is(pid: u32) {
    std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string())
        .expect("kernel.ns_last_pid (as root)");
}

fn reuse_never_mixes(compat: bool) {
    let scratch = Scratch::new("live-reuse");
    let path = scratch.file("data", MIB);
    let id = id_of(&path);
    warm_verified(&path);
    let file = File::open(&path).expect("open");
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, compat);
    // Within one interval, and across two.
    for pause in [false, true] {
        until("the same number twice", || {
            sample(&mut session);
            let first = read_a_page(&file);
            let between = pause.then(|| sample(&mut session));
            next_pid_is(first);
            let second = read_a_page(&file);
            let last = sample(&mut session);
            if first != second {
                return None;
            }
            let samples = between.iter().chain(Some(&last));
            let mine = samples.flat_map(|sample| done_to(sample, id));
            let ids: Vec<(u32, u64)> = mine
                .filter(|(process, _)| process.pid == first)
                .map(|(process, io)| (process.id, io.read_pages))
                .collect();
            assert_eq!(ids.len(), 2, "{ids:?}");
            assert_ne!(ids[0].0, ids[1].0, "two processes");
            assert_eq!((ids[0].1, ids[1].1), (1, 1));
            Some(())
        });
    }
}

#[test]
fn a_number_that_is_used_again_is_another_process() {
    reuse_never_mixes(false);
    reuse_never_mixes(true);
}

/// More processes than the table holds, without a sample in between; then the table is free again.
#[test]
fn a_flood_of_processes_is_counted_with_others() {
    const FLOOD: u64 = 36_000;
    let scratch = Scratch::new("live-flood");
    let path = scratch.file("data", MIB);
    let id = id_of(&path);
    warm_verified(&path);
    let file = File::open(&path).expect("open");
    let fd = file.as_raw_fd();
    let (mut begin, mut go) = ([0; 2], [0; 2]);
    // SAFETY: places for two descriptors each.
    assert_eq!(unsafe { libc::pipe(begin.as_mut_ptr()) + libc::pipe(go.as_mut_ptr()) }, 0);
    let flooder = forked(|| {
        for round in [FLOOD, 1] {
            let mut byte = 0_u8;
            // SAFETY: one byte from our own pipe, and one to it.
            unsafe { libc::read(begin[0], (&raw mut byte).cast(), 1) };
            (0..round).for_each(|_| wait_for(forked(|| pread_a_page(fd))));
            // SAFETY: as above.
            unsafe { libc::write(go[1], (&raw const byte).cast(), 1) };
        }
    });
    let turn = || {
        let mut byte = 0_u8;
        // SAFETY: one byte to our own pipe, and one from it.
        unsafe {
            assert_eq!(libc::write(begin[1], (&raw const byte).cast(), 1), 1);
            assert_eq!(libc::read(go[0], (&raw mut byte).cast(), 1), 1);
        }
    };
    let mut session = session(Scope::Processes(vec![flooder as u32]), DEFAULT_MAX_ROWS, false);
    sample(&mut session);
    turn();
    let seen = sample(&mut session);
    let own: u64 = done_to(&seen, id).iter().map(|(_, io)| io.read_pages).sum();
    assert!(own < 32_768 && own > 30_000, "{own} told apart");
    assert_eq!(own + seen.others.read_pages, FLOOD, "{:?}", seen.others);
    assert!(seen.losses.unattributed >= FLOOD - own);
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(30));
        sample(&mut session);
    }
    let before = seen.losses.unattributed;
    turn();
    wait_for(flooder);
    let seen = sample(&mut session);
    let rows = done_to(&seen, id);
    assert_eq!(rows.len(), 1, "{rows:?}");
    assert_eq!((rows[0].1.read_pages, seen.losses.unattributed), (1, before), "there is room");
}

/// Far more files than rows, over many intervals: nothing is lost, and the table recovers.
fn rows_come_back(compat: bool) {
    const FILES: u64 = 3_000;
    let scratch = Scratch::new("live-rows");
    let many = scratch.path("many");
    let words = ["make-files", "--file", text(&many), "--count", "3000", "--block", "4096"];
    hotset_tests::prepare(&words);
    let mut session = session(Scope::System, 1024, compat);
    sample(&mut session);
    let mut pids = Vec::new();
    let (mut own, mut unattributed) = (0, 0);
    for _ in 0..6 {
        let truth = measure(&scratch, &["many-files", "--file", text(&many), "--count", "3000"]);
        let pid = number(&truth, "/pid") as u32;
        pids.push(pid);
        let seen = sample(&mut session);
        let mine = seen.rows.iter().filter(|row| seen.processes[row.process as usize].pid == pid);
        let pages: u64 = mine.map(|row| row.io.read_pages).sum();
        assert!(pages > 100, "{pages} told apart: the rows of the process before came back");
        own += pages;
        unattributed = seen.losses.unattributed;
        assert!(pages + seen.others.read_pages >= FILES, "{pages} and {:?}", seen.others);
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(30));
            sample(&mut session);
        }
    }
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
    warm_verified(&path);
    let mut session = session(Scope::System, DEFAULT_MAX_ROWS, false);
    sample(&mut session);
    evict_verified(&path);
    let evicted = sample(&mut session).evicted_pages;
    assert!(evicted.as_value().is_some_and(|pages| *pages >= 4096), "{evicted:?}");
    let gone = scratch.file("gone", 64 * MIB);
    warm_verified(&gone);
    sample(&mut session);
    std::fs::remove_file(&gone).expect("unlink");
    let evicted = sample(&mut session).evicted_pages;
    assert!(evicted.as_value().is_some_and(|pages| *pages < 16_384), "unlinked: {evicted:?}");
}
