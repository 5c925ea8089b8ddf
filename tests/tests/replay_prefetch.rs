//! `hotset replay --as prefetch` asks for files in the order in which they are on the device, whatever the recorded order was.

use std::path::Path;
use std::process::Command;

use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, stderr, stdout};

/// Where the first block of a file is, as filefrag(8) says.
fn first_block(path: &Path) -> u64 {
    let output = Command::new("filefrag").arg("-v").arg(path).output().expect("filefrag");
    let told = stdout(&output);
    let extent = told.lines().find_map(|line| line.trim_start().strip_prefix("0:"));
    let places = extent.expect("an extent").split(':').nth(1).expect("physical blocks");
    places.trim().split("..").next().and_then(|block| block.parse().ok()).expect("a number")
}

/// The files that a replay asked for ahead, in its order: names behind the descriptors of fadvise64(2).
fn asked_for(strace: &str) -> Vec<String> {
    let calls = strace.lines().filter(|line| line.contains("POSIX_FADV_WILLNEED"));
    let names =
        calls.filter_map(|line| line.split_once('<')?.1.split_once('>')?.0.rsplit('/').next());
    names.map(str::to_owned).collect()
}

#[test]
fn files_are_prefetched_in_the_order_of_the_device() {
    let scratch = Scratch::new("replay-prefetch");
    let mut files = ["a", "b", "c", "d", "e", "f"].map(|name| {
        scratch.file(name, 200_000);
        let path = scratch.path(name);
        std::fs::File::open(&path).and_then(|file| file.sync_all()).expect("it has a place now");
        (first_block(&path), path)
    });
    files.sort();
    let on_device: Vec<&str> = files.iter().map(|(_, path)| text(path)).collect();
    let recorded: Vec<&str> = [5, 2, 4, 0, 3, 1].map(|at| on_device[at]).to_vec();
    let trace = scratch.path("trace.parquet");
    let words = ["record", "-q", "-o", text(&trace), "--", "/bin/cat"];
    let output = Command::new(hotset()).args(words).args(&recorded).output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));

    let (calls, hotset) = (scratch.path("strace"), hotset());
    let words = ["-f", "-y", "-e", "trace=fadvise64", "-o", text(&calls), text(&hotset)];
    let replay = ["replay", text(&trace), "--as", "prefetch", "--rounds", "1", "-q"];
    let output = Command::new("strace").args(words).args(replay).output().expect("strace");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let asked = asked_for(&std::fs::read_to_string(&calls).expect("calls"));
    let names: Vec<&str> = on_device.iter().filter_map(|path| path.rsplit('/').next()).collect();
    let ours: Vec<&String> = asked.iter().filter(|name| names.contains(&name.as_str())).collect();
    assert!(!ours.is_empty() && ours.len().is_multiple_of(names.len()), "{asked:?}");
    for replay in ours.chunks(names.len()) {
        assert_eq!(replay, names, "{asked:?}");
    }
}
