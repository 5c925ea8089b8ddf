//! What `hotset ls` prints: rows, orders, roll-ups, formats, and the same numbers in each.

use std::path::PathBuf;
use std::process::Command;

use hotset_tests::listing::{hotset_says, listing, only_row, said};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, evict_verified, number, undisturbed, until, warm_verified};
use hotset_validate::violations;
use serde_json::{Value, json};

const KIB: u64 = 1024;
const SCHEMA: &str = include_str!("../../schema/residency-1.schema.json");

/// Three files, all cached: a/big 400 KiB, a/deep/small 40 KiB, b/middle 80 KiB; and b/cold, which is not.
struct Tree {
    scratch: Scratch,
    warm: [PathBuf; 3],
    cold: PathBuf,
}

impl Tree {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        std::fs::create_dir_all(scratch.path("a/deep")).expect("mkdir");
        std::fs::create_dir(scratch.path("b")).expect("mkdir");
        let warm = [("a/big", 400), ("a/deep/small", 40), ("b/middle", 80)]
            .map(|(name, kib)| scratch.file(name, kib * KIB));
        let cold = scratch.file("b/cold", 1000 * KIB);
        Self { scratch, warm, cold }
    }

    fn dir(&self) -> &str {
        text(self.scratch.dir())
    }

    /// Runs `ls` on it, again where something changed the state meanwhile.
    fn listing(&self, words: &[&str]) -> Value {
        until("nothing else changed what is cached", || {
            self.warm.iter().for_each(|path| warm_verified(path));
            evict_verified(&self.cold);
            let (answer, code) = listing(&[words, &[self.dir()]].concat());
            assert_eq!(code, 0, "{answer}");
            (number(&answer, "/totals/cached_pages") == 130).then_some(answer)
        })
    }

    fn names(&self, listing: &Value, key: &str) -> Vec<String> {
        let rows = listing[key].as_array().expect("rows");
        let name = |row: &Value| {
            let path = row["path"].as_str().expect("a path");
            path.strip_prefix(self.dir()).expect("below").trim_start_matches('/').to_owned()
        };
        rows.iter().map(name).collect()
    }
}

#[test]
fn rows_sort_by_what_is_asked_for() {
    let tree = Tree::new("ls-sort");
    for (words, wanted) in [
        (&["--sort", "cached"][..], &["a/big", "b/middle", "a/deep/small", "b/cold"][..]),
        (&["--sort", "size"], &["b/cold", "a/big", "b/middle", "a/deep/small"]),
        (&["--sort", "name"], &["a/big", "a/deep/small", "b/cold", "b/middle"]),
        (&["--sort", "name", "-r"], &["b/middle", "b/cold", "a/deep/small", "a/big"]),
        (&["--sort", "percent"], &["a/big", "a/deep/small", "b/middle", "b/cold"]),
        (&["--top", "2"], &["a/big", "b/middle"]),
        (&["--top", "1", "--sort", "size"], &["b/cold"]),
        (&["--only", "uncached"], &["b/cold"]),
        (&["--only", "cached", "--sort", "name"], &["a/big", "a/deep/small", "b/middle"]),
        (&["--only", "partial"], &[]),
        (&["--min-size", "100K", "--include", "b*", "--sort", "name"], &["a/big"]),
        (&["--exclude", "deep", "--exclude", "cold", "--sort", "name"], &["a/big", "b/middle"]),
        (&["--depth", "1", "--include", "*i*", "--sort", "name"], &["a/big", "b/middle"]),
    ] {
        // Where files are left out by name or size, the total is another.
        let filtered = words.iter().any(|word| ["--exclude", "--include"].contains(word));
        let answer = match filtered {
            true => {
                tree.warm.iter().for_each(|path| warm_verified(path));
                listing(&[words, &[tree.dir()]].concat()).0
            }
            false => tree.listing(words),
        };
        assert_eq!(tree.names(&answer, "files"), wanted, "{words:?}");
    }
}

#[test]
fn directories_sum_up_what_lies_below_them() {
    let tree = Tree::new("ls-dirs");
    let answer = tree.listing(&["--dirs"]);
    assert_eq!(tree.names(&answer, "directories"), ["a/deep", "a", "b", ""]);
    let cached: Vec<u64> =
        (0..4).map(|row| number(&answer, &format!("/directories/{row}/cached_pages"))).collect();
    assert_eq!(cached, [10, 110, 20, 130]);
    assert_eq!(answer["files"], json!([]));
    assert_eq!(answer["directories"][3]["size_bytes"], answer["totals"]["size_bytes"]);
    let shallow = tree.listing(&["--dirs", "--depth", "0"]);
    assert_eq!(tree.names(&shallow, "directories"), [""]);
    assert_eq!(number(&shallow, "/directories/0/files"), 4);
    let top = tree.listing(&["--dirs", "--top", "2"]);
    assert_eq!(tree.names(&top, "directories"), ["", "a"]);
}

#[test]
fn a_total_alone_is_du_s() {
    let tree = Tree::new("ls-summary");
    let answer = tree.listing(&["-s"]);
    assert_eq!((&answer["files"], number(&answer, "/totals/files")), (&json!([]), 4));
    let output = hotset_says(&["ls", "-s", tree.dir()]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 1, "{}", said(&output));
}

#[test]
fn csv_and_json_and_the_table_say_the_same() {
    let tree = Tree::new("ls-same");
    undisturbed(&tree.warm, || {
        let json = tree.listing(&["--sort", "name"]);
        let csv = hotset_says(&["ls", "--csv", "--sort", "name", tree.dir()]);
        let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
        let mut lines = csv.lines();
        let head = lines.next().expect("a head");
        assert!(head.starts_with("Name,Size,Pages,Cached,Percent,"), "{head}");
        for (line, row) in lines.zip(json["files"].as_array().expect("files")) {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields[0], row["path"].as_str().expect("a path"));
            assert_eq!(fields[1], row["size_bytes"].to_string());
            assert_eq!(fields[2], row["pages"].to_string());
            assert_eq!(fields[3], row["cached_pages"].to_string());
        }
        let table = hotset_says(&["ls", tree.dir()]);
        let table = String::from_utf8_lossy(&table.stdout).into_owned();
        assert!(table.contains("4 files, 520 KiB of 1.48 MiB cached (34.2 %)"), "{table}");
    });
}

/// fincore of util-linux asks mincore(2) on its own.
#[test]
fn fincore_says_the_same() {
    let scratch = Scratch::new("ls-fincore");
    let path = scratch.file("file", 1000 * KIB + 1);
    for warm in [true, false] {
        until("nothing else changed what is cached", || {
            if warm {
                warm_verified(&path)
            } else {
                evict_verified(&path)
            }
            let (listing, _) = listing(&[&path]);
            let words = ["-n", "-b", "-o", "PAGES", text(&path)];
            let theirs = Command::new("fincore").args(words).output().expect("fincore");
            let theirs: u64 =
                String::from_utf8_lossy(&theirs.stdout).trim().parse().expect("pages");
            let ours = number(only_row(&listing), "/cached_pages");
            (ours == theirs && (ours == 251) == warm).then_some(())
        });
    }
}

#[test]
fn a_picture_shows_which_half_is_cached() {
    let scratch = Scratch::new("ls-map");
    let path = scratch.file("file", 4096 * 64);
    until("the second half alone is cached", || {
        hotset_tests::state::scatter_verified(&path, |page| page >= 32);
        let output = hotset_says(&["ls", "--map", "--cells", "8", "--ascii", text(&path)]);
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        let (listing, _) = listing(&["--cells", "4", text(&path)]);
        let cells = &only_row(&listing)["cells"];
        (shown.contains("  ....####\n") && *cells == json!([[16, 0], [16, 0], [16, 16], [16, 16]]))
            .then_some(())
    });
}

#[test]
fn what_json_says_is_valid_in_every_form() {
    let tree = Tree::new("ls-schema");
    std::fs::write(tree.scratch.path("empty"), "").expect("write");
    let words: [&[&str]; 6] =
        [&[], &["--dirs"], &["-s"], &["--cells", "8"], &["--top", "1"], &["--only", "cached"]];
    for words in words {
        let (answer, _) = listing(&[words, &[tree.dir(), "/no/such/file"]].concat());
        assert_eq!(violations(SCHEMA, &answer), [""; 0], "{words:?}");
    }
}

/// The schema must be able to refuse.
#[test]
fn a_listing_that_lost_a_key_or_gained_one_is_not_valid() {
    let tree = Tree::new("ls-strict");
    let answer = tree.listing(&[]);
    assert_eq!(violations(SCHEMA, &answer), [""; 0]);
    for (pointer, key) in [("", "partial"), ("/files/0", "missing"), ("/totals", "files")] {
        let mut without = answer.clone();
        let object = without.pointer_mut(pointer).and_then(Value::as_object_mut);
        object.expect("an object").remove(key).expect("the key");
        assert_ne!(violations(SCHEMA, &without), [""; 0], "{pointer}/{key}");
        let mut beyond = answer.clone();
        beyond.pointer_mut(pointer).expect("there")["guessed"] = json!(1);
        assert_ne!(violations(SCHEMA, &beyond), [""; 0], "{pointer}");
    }
    let mut word = answer;
    word["files"][0]["cached_pages"] = json!("12");
    assert_ne!(violations(SCHEMA, &word), [""; 0]);
}

#[test]
fn contradictions_are_bad_usage() {
    for words in [
        &["--json", "--csv"][..],
        &["--pid", "1", "/"],
        &["--pid", "0"],
        &["--sort", "colour"],
        &["--include", "a["],
        &["--min-size", "much"],
        &["--cells", "0"],
        &["-s", "--csv"],
    ] {
        let output = hotset_says(&[&["ls"], words].concat());
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", said(&output));
    }
}
