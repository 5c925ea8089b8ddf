//! The page of a need of memory: of a recording, of its JSON, and of several beside each other.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_tests::browser::{DARK, attribute, browse, driven, on_a_phone, picture};
use hotset_tests::scratch::text;
use hotset_tests::traced::record;
use hotset_tests::{MIB, Scratch, code, evict_verified, hotset, read_json, stderr};

fn hotset_with(words: &[&str]) -> Output {
    let output = Command::new(hotset()).args(words).output().expect("hotset");
    assert_eq!(code(&output), 0, "{words:?}: {}", stderr(&output));
    output
}

/// Reads a third of a file three times, page by page, then all of it.
const PROGRAM: &str = "
import os, sys
file = os.open(sys.argv[1], os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
size = os.fstat(file).st_size
for end in [size // 3] * 3 + [size]:
    for at in range(0, end, 4096): os.pread(file, 4096, at)
";

/// What is sized: a recording of a program, with its JSON and its page.
fn sized(scratch: &Scratch) -> [PathBuf; 3] {
    scratch.file("data", 24 * MIB);
    let data = scratch.path("data");
    evict_verified(&data);
    let recorded = record(scratch, &[], &["/usr/bin/python3", "-S", "-c", PROGRAM, text(&data)]);
    let files = ["need.json", "live.html"].map(|name| scratch.path(name));
    let words = ["size", "-q", text(&recorded.path), "--json", text(&files[0])];
    hotset_with(&[&words[..], &["--html", text(&files[1])]].concat());
    let [json, live] = files;
    [recorded.path, json, live]
}

/// Opens a page: the points of each chart that were drawn, and its words.
fn drawn(scratch: &Scratch, page: &Path) -> (Vec<String>, String) {
    let (dom, console) = browse(scratch, page, &["--dump-dom"]);
    assert_eq!((attribute(&dom, "data-errors"), console), (vec!["[]"], Vec::new()));
    let points = attribute(&dom, "data-drawn-points").into_iter().map(str::to_owned).collect();
    assert_eq!(attribute(&dom, "data-drawn-points"), attribute(&dom, "data-points"));
    (points, dom)
}

#[test]
fn a_recording_has_the_page_that_its_json_gives_later() {
    let scratch = Scratch::new("size-page");
    let [trace, json, live] = sized(&scratch);
    let later = scratch.path("later.html");
    hotset_with(&["report", text(&json), "-o", text(&later)]);
    let page = fs::read_to_string(&live).expect("the page");
    assert!(page == fs::read_to_string(&later).expect("the page"), "two pages of one need");
    let need = read_json(&json);
    assert_eq!(need["path"], text(&trace));
    let limits = need["limits"].as_array().expect("limits").len();
    let (points, dom) = drawn(&scratch, &live);
    assert_eq!(points.len(), 3, "hit ratios, device reads, waits");
    let each: usize = points[0].parse().expect("a number");
    assert!((limits..=limits + 2).contains(&each), "{each} of {limits}");
    for told in ["What to limit it to?", "What to request?", "Where does it thrash?"] {
        assert!(dom.contains(told), "{told}");
    }
    for caveat in need["caveats"].as_array().expect("caveats") {
        let caveat = caveat.as_str().expect("a sentence");
        assert!(dom.replace('\u{a0}', " ").contains(caveat), "{caveat}");
    }
    let phone = on_a_phone(&scratch, &live, 6000);
    let (narrow, _) = browse(&scratch, &phone, &["--dump-dom"]);
    assert_eq!(attribute(&narrow, "data-wider"), ["0"], "only tables scroll sideways");
    assert_eq!(attribute(&narrow, "data-inner-errors"), ["[]"]);
    assert_eq!(attribute(&narrow, "data-inner-drawn"), [points.join(" ")]);
    picture(&scratch, "size", &live, 4400, &[]);
    picture(&scratch, "size-dark", &live, 4400, &DARK);
    picture(&scratch, "size-phone", &phone, 6000, &[]);
}

#[test]
fn keys_tell_each_limit_and_the_legend_what_is_marked() {
    let scratch = Scratch::new("size-keys");
    let [_, json, live] = sized(&scratch);
    let script = "const plot = document.querySelector('.plot'), figure = plot.parentElement;\
         plot.dispatchEvent(new KeyboardEvent('keydown', { key: 'End' }));\
         document.body.dataset.last = figure.querySelector('.readout').textContent;\
         document.body.dataset.marks =\
           [...figure.querySelectorAll('.legend span')].map((span) => span.textContent).join('|');";
    let (dom, console) = browse(&scratch, &driven(&scratch, &live, script), &["--dump-dom"]);
    assert_eq!(console, Vec::<String>::new());
    let last = attribute(&dom, "data-last")[0];
    assert!(last.contains(": hit ratio ") && last.contains("0 B read again"), "{last}");
    let marks: Vec<&str> = attribute(&dom, "data-marks")[0].split('|').collect();
    let thrashes = !read_json(&json)["thrash"].is_null();
    assert_eq!(marks.len(), 2 + usize::from(thrashes), "{marks:?}");
    assert!(marks[marks.len() - 2].starts_with("request "), "{marks:?}");
    assert!(marks[marks.len() - 1].starts_with("limit "), "{marks:?}");
}

#[test]
fn needs_stand_beside_each_other_and_beside_the_recording() {
    let scratch = Scratch::new("size-pages");
    let [trace, json, _] = sized(&scratch);
    let (old, page) = (scratch.path("6.1.json"), scratch.path("all.html"));
    hotset_with(&["size", "-q", text(&trace), "--kernel", "6.1", "--json", text(&old)]);
    hotset_with(&["report", text(&json), text(&old), text(&trace), "-o", text(&page)]);
    let (_, dom) = drawn(&scratch, &page);
    let links = dom.split("<nav").nth(1).and_then(|nav| nav.split("</nav>").next());
    let links = links.expect("the parts");
    for told in [
        "Memory needs side by side",
        "need.json: Memory that",
        "6.1.json: Memory that",
        ": Trace of",
    ] {
        assert!(links.contains(told), "{told} in {links}");
    }
    assert!(dom.contains("of Linux 6.1<"), "the other kernel is not named");
    picture(&scratch, "sizes", &page, 3000, &[]);
}

#[test]
fn a_page_that_can_not_be_written_is_refused_before_the_trace_is_read() {
    for (words, wanted, why) in [
        (&["--html", "/nowhere/page.html"][..], 1, "/nowhere"),
        (&["--html", "-", "--json", "-"], 2, "two of --json, --csv, --html and --emit"),
    ] {
        let output = Command::new(hotset()).args(["size", "/nowhere.parquet"]).args(words).output();
        let output = output.expect("hotset");
        assert_eq!(code(&output), wanted, "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
}
