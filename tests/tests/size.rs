//! `hotset size` against the kernel: what it predicts for a limit, and what the device reads under that limit.

use std::process::Command;

use hotset_tests::group::LimitedGroup;
use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{MIB, Scratch, code, evict_verified, hotset, stderr, stdout};
use serde_json::Value;

/// Reads pages of a file, few of them often; prints the bytes that the device read for it. Words are kept in an array, so that its memory
/// stays small.
const PROGRAM: &str = "
import array, os, random, sys
def read_bytes(): return int(next(l for l in open('/proc/self/io') if l.startswith('read_bytes')).split()[1])
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
pages = os.fstat(file).st_size // 4096
random.seed(7)
places = array.array('I', (int(pages * random.random() ** 3) * 7919 % pages for _ in range(60000)))
before = read_bytes()
for page in places: os.pread(file, 4096, page * 4096)
print(read_bytes() - before)
";

fn sized(trace: &str, more: &[&str]) -> Value {
    let words = ["size", "-q", "--json", "-", trace];
    let output = Command::new(hotset()).args(words).args(more).output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn the_device_reads_what_was_predicted_for_a_limit() {
    let scratch = Scratch::new("size-limits");
    scratch.file("data", 48 * MIB);
    let data = scratch.path("data");
    evict_verified(&data);
    let program = ["/usr/bin/python3", "-S", "-c", PROGRAM, text(&data)];
    let recorded = record(&scratch, &[], &program);
    let evicts = recorded.profile["environment"]["evicts_idle_cache"] == true;
    let trace = text(&recorded.path);
    let must = sized(trace, &[])["must"]["anon_bytes"].as_u64().expect("it was looked at");
    for cache_mib in [12, 24] {
        let limit = (must / MIB + cache_mib) * MIB;
        let told = sized(trace, &["--limit", &limit.to_string()]);
        let limits = told["limits"].as_array().expect("limits");
        let near =
            |row: &&Value| row["limit_bytes"].as_u64().is_some_and(|at| at.abs_diff(limit) < 8192);
        let row = limits.iter().find(near).unwrap_or_else(|| panic!("{limit}: {limits:#?}"));
        // The interpreter's own files are read by the recorded run alone: they are charged to it, and few.
        let predicted = row["misses"].as_u64().expect("misses") * 4096;
        let group = LimitedGroup::new(&scratch, limit);
        evict_verified(&data);
        let mut command = Command::new(program[0]);
        let output = group.output(command.args(&program[1..]));
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let read: u64 = stdout(&output).trim().parse().expect("bytes");
        let ratio = predicted as f64 / read as f64;
        // What else evicts pages of the file makes the device read more.
        let least = if evicts { 0.7 } else { 0.9 };
        assert!((least..1.1).contains(&ratio), "{cache_mib} MiB: {predicted} of {read}: {row:#}");
    }
}

#[test]
fn a_recording_of_one_pass_has_no_limit_and_what_is_wrong_is_named() {
    let scratch = Scratch::new("size-pass");
    scratch.file("data", 64 * MIB);
    // Its memory is looked at while it sleeps.
    let cat = format!("cat {} > /dev/null; sleep 1", text(&scratch.path("data")));
    let recorded = record(&scratch, &[], &["/bin/sh", "-c", &cat]);
    let told = sized(text(&recorded.path), &[]);
    assert_eq!(told["too_little"], "the device reads the same at any limit", "{told:#}");
    assert_eq!((&told["limit"], &told["limits"]), (&Value::Null, &Value::Array(Vec::new())));
    assert!(told["request"]["bytes"].as_u64().is_some_and(|bytes| bytes >= MIB), "{told:#}");
    std::fs::write(scratch.path("text"), "no trace").expect("a file");
    let trace = text(&recorded.path);
    for (words, wanted, why) in [
        (&[text(&scratch.path("text"))][..], 1, "text"),
        (&["/nowhere.parquet"], 1, "No such file"),
        (&[], 2, "TRACE"),
        (&[trace, "--limit", "8K"], 2, "--limit 8 KiB: the program holds"),
        (&["x", "--target", "0"], 2, "up to 100"),
        (&["x", "--kernel", "six"], 2, "6.12"),
        (&["x", "--policy", "best"], 2, "mglru"),
        (&["x", "--json", "/nowhere/x.json"], 1, "/nowhere"),
    ] {
        let output = Command::new(hotset()).arg("size").args(words).output().expect("hotset");
        assert_eq!(code(&output), wanted, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}
