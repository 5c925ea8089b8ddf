//! `hotset stat` against a load that is known to the page.
//!
//! A workload reads more than its file: its own program, libraries, and whatever a shell needs to start it. What that is,
//! a first run with a file of one page tells; what a second run has more is the difference of the two truths.

use std::path::Path;
use std::slice::from_ref;

use hotset_tests::scratch::text;
use hotset_tests::watching::{Watching, sum};
use hotset_tests::{
    Evictions, Group, MIB, PAGE, Scratch, Shell, evict_verified, loaded_by, measure, number,
    process_row, read_json, until, warm_verified, workload,
};
use serde_json::Value;

/// Keys of a line, and where the truth has the same.
const SAME: [(&str, &str); 2] = [("total", "/pages"), ("misses", "/pages_missing_before")];

/// One run of the workload by a shell: its truth.
fn load(shell: &mut Shell, scratch: &Scratch, words: &[&str], file: &Path) -> Value {
    let truth = scratch.path("truth.json");
    let words = words.join(" ");
    let (program, file) = (workload(), text(file));
    shell.run(&format!("{} {words} --file {file} --truth {}", text(&program), text(&truth)));
    read_json(&truth)
}

/// What `stat` saw of a workload on `file`, beyond what it saw of the same on a file of one page.
struct Compared {
    small: (Value, Vec<Value>),
    large: (Value, Vec<Value>),
}

impl Compared {
    fn seen(&self, key: &str) -> u64 {
        sum(&self.large.1, key) - sum(&self.small.1, key)
    }

    fn truth(&self, pointer: &str) -> u64 {
        number(&self.large.0, pointer) - number(&self.small.0, pointer)
    }

    fn assert_exact(&self) {
        for (key, pointer) in SAME {
            assert_eq!(self.seen(key), self.truth(pointer), "{key}: {}", self.large.0);
        }
        assert_eq!(self.seen("device_pages") * PAGE, self.truth("/block_read_bytes"));
    }
}

/// Runs both, each under its own `stat` with a shell of its own. `watch` starts it for a shell and says how it ends.
fn compare(
    scratch: &Scratch,
    state: fn(&Path),
    words: &[&str],
    watch: impl Fn(&Shell) -> (Watching, bool),
) -> Compared {
    let loaded = [loaded_by(&workload()), loaded_by(Path::new("/bin/sh"))].concat();
    let run = |file: &Path| {
        let mut shell = Shell::new();
        // Whatever the programs themselves need is cached from here on.
        load(&mut shell, scratch, words, file);
        let (watching, ends_with_shell) = watch(&shell);
        let mut watching = watching;
        state(file);
        let truth = load(&mut shell, scratch, words, file);
        let (lines, said) = if ends_with_shell {
            shell.end();
            watching.finish()
        } else {
            watching.until_now();
            shell.end();
            watching.end_by(libc::SIGTERM)
        };
        for line in &lines {
            assert_eq!(number(line, "/hits") + number(line, "/misses"), number(line, "/total"));
        }
        assert!(!said.contains("at least"), "{said}");
        (truth, lines)
    };
    let [small, large] = [("small", PAGE), ("large", 16 * MIB)].map(|(name, bytes)| {
        let file = scratch.file(name, bytes);
        let watched = [from_ref(&file), &loaded[..]].concat();
        until("nobody else evicts what is read", || {
            let evictions = [Evictions::of(&watched), Evictions::of_metadata(&watched)];
            Some(run(&file)).filter(|_| evictions.iter().all(Evictions::none))
        })
    });
    Compared { small, large }
}

fn by_pid(shell: &Shell) -> (Watching, bool) {
    (Watching::start(&["--pid", &shell.pid().to_string(), "0.1"]), true)
}

#[test]
fn of_a_process_and_its_children_every_page_and_none_beside() {
    let scratch = Scratch::new("stat-pid");
    let cold = compare(&scratch, evict_verified, &["seq", "--block", "65536"], by_pid);
    cold.assert_exact();
    assert_eq!(cold.seen("device_pages"), 16 * MIB / PAGE - 1);
    let warm = compare(&scratch, warm_verified, &["seq", "--block", "4096"], by_pid);
    warm.assert_exact();
    assert_eq!((warm.seen("hits"), warm.seen("device_pages")), (16 * MIB / PAGE - 1, 0));
    // A child of the child counts too.
    let children = compare(&scratch, evict_verified, &["children"], by_pid);
    assert_eq!(children.seen("total"), children.truth("/pages"));
}

#[test]
fn direct_reads_are_bytes_and_neither_hits_nor_misses() {
    let scratch = Scratch::new("stat-direct");
    let direct = compare(&scratch, evict_verified, &["direct-read", "--block", "4096"], by_pid);
    let bytes = 16 * MIB - PAGE;
    assert_eq!((direct.seen("direct_read_bytes"), direct.seen("direct_bytes")), (bytes, bytes));
    assert_eq!((direct.seen("total"), direct.seen("misses")), (0, 0));
}

#[test]
fn a_group_has_its_own_pages_and_nobody_elses() {
    let scratch = Scratch::new("stat-cgroup");
    let group = Group::new(&scratch);
    let watch = |shell: &Shell| {
        group.add_below(shell.pid());
        (Watching::start(&["--cgroup", text(group.dir()), "0.1"]), false)
    };
    let cold = compare(&scratch, evict_verified, &["seq", "--block", "65536"], watch);
    cold.assert_exact();
}

/// The sum of a key of the whole host. Calls and requests of others that are not measured make it a lower bound; the workload makes
/// none of these. Nothing else may be lost.
fn least_sum(lines: &[Value], key: &str) -> u64 {
    let of_others = ["requests of io_uring", "system calls were not decoded"];
    for loss in lines.iter().flat_map(|line| line["lost"].as_array().expect("a list")) {
        let what = loss["what"].as_str().expect("words");
        assert!(
            loss["counts"] == false || of_others.iter().any(|of| what.starts_with(of)),
            "{loss}"
        );
    }
    lines.iter().map(|line| number(line, &format!("/{key}"))).sum()
}

/// Nothing outside of hotset can tell what all others read in exactly these moments. So another session of the sensor
/// begins before and ends after, tells processes apart, and bounds what is not the workload's.
#[test]
fn of_the_whole_host_the_load_and_at_most_what_others_did() {
    let scratch = Scratch::new("stat-system");
    let file = scratch.file("f", 64 * MIB);
    evict_verified(&file);
    let mut around = Shell::new();
    let profile = scratch.path("around.json");
    around.begin(&format!(
        "{} attach --system --json {} 2>{} & observer=$!; until grep -q observing {}; do sleep 0.05; done; echo done",
        text(&hotset_tests::hotset()),
        text(&profile),
        text(&scratch.path("said")),
        text(&scratch.path("said")),
    ));
    around.answer();
    let mut watching = Watching::start(&["0.2"]);
    let words = ["seq", "--file", text(&file), "--block", "1048576"];
    let truth = measure(&scratch, &words);
    watching.until_now();
    let (lines, _) = watching.end_by(libc::SIGINT);
    around.run("kill -TERM $observer; wait $observer");
    around.end();
    let profile = read_json(&profile);
    let row = process_row(&profile, number(&truth, "/pid")).expect("the workload's row");
    for (key, pointer) in [("total", "/read/pages"), ("misses", "/read/misses")] {
        let own = number(row, pointer);
        let others = number(&profile["totals"], pointer) - own;
        let seen = least_sum(&lines, key);
        assert!(seen >= own, "{key}: {seen} seen, {own} by the workload alone");
        assert!(seen <= own + others, "{key}: {seen} seen, {own} and {others} by all others");
    }
    assert!(number(row, "/read/pages") >= number(&truth, "/pages"));
    assert!(least_sum(&lines, "device_pages") * PAGE >= number(&truth, "/block_read_bytes"));
}
