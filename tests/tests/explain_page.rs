//! The page of `hotset explain`: what a browser draws of it, and that a saved explanation has the same.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hotset_tests::browser::{DARK, attribute, browse, driven, on_a_phone, picture};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, read_json, stderr};

fn hotset_with(words: &[&str]) -> Output {
    Command::new(hotset()).args(words).output().expect("hotset")
}

/// A log, with a name that would end a script, whose every record is synced, recorded and explained: the recording, the page and the JSON.
/// So many syncs cost more than a cold start of the interpreter, which others may evict.
fn explained(scratch: &Scratch) -> [PathBuf; 3] {
    let files = ["t.parquet", "live.html", "explanation.json"].map(|name| scratch.path(name));
    let [trace, page, json] = files.each_ref().map(|path| text(path));
    let program = format!(
        "import os\nlog = os.open({:?}, os.O_WRONLY | os.O_CREAT)\n\
         for record in range(1000): os.write(log, b'r' * 20); os.fsync(log)",
        text(&scratch.path("</script><b>log"))
    );
    fs::create_dir(scratch.path("<")).expect("a directory");
    let words = ["explain", "-q", "-o", trace, "--html", page, "--json", json];
    let more = ["--dir", text(scratch.dir()), "--", "/usr/bin/python3", "-S", "-c", &program];
    let output = hotset_with(&[&words[..], &more].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    files
}

/// Opens a page: how many marks were drawn, and its words.
fn drawn(scratch: &Scratch, page: &Path) -> (Vec<String>, String) {
    let (dom, console) = browse(scratch, page, &["--dump-dom"]);
    assert_eq!(console, Vec::<String>::new());
    assert_eq!(attribute(&dom, "data-errors"), ["[]"], "what the script saw");
    let things = attribute(&dom, "data-things").into_iter().map(str::to_owned).collect();
    assert_eq!(attribute(&dom, "data-drawn-things"), attribute(&dom, "data-things"));
    (things, dom)
}

#[test]
fn a_page_of_an_explanation_is_drawn_and_a_saved_one_has_the_same() {
    let scratch = Scratch::new("explain-page");
    let [trace, live, json] = explained(&scratch);
    let html = fs::read_to_string(&live).expect("the page");
    let saved = scratch.path("saved.html");
    let report = hotset_with(&["report", text(&json), "-o", text(&saved)]);
    assert_eq!(code(&report), 0, "{}", stderr(&report));
    assert!(fs::read_to_string(&saved).expect("the page") == html, "the saved page differs");
    let explanation = read_json(&json);
    let variants = explanation["replays"]["variants"].as_array().expect("variants");
    assert!(variants[0]["pattern"].is_null(), "nothing changes as recorded");
    let pattern = &variants[1]["pattern"];
    let marks = |side: &str| pattern[side]["marks"].as_array().map_or(0, Vec::len);
    assert!(marks("before") > marks("after") && marks("after") > 0, "{pattern:#}");
    let (things, dom) = drawn(&scratch, &live);
    assert_eq!(things[0], (marks("before") + marks("after")).to_string());
    for finding in explanation["findings"].as_array().expect("findings") {
        if let Some(why) = finding["not_proved"].as_str() {
            assert!(dom.contains(&format!("Not proved: {why}.")), "{why}");
        }
    }
    assert!(dom.contains(&format!("sudo hotset replay {} --as sync-every=", text(&trace))));
    picture(&scratch, "explain", &live, 2200, &[]);
    picture(&scratch, "explain-dark", &live, 2200, &DARK);
    let phone = on_a_phone(&scratch, &live, 2400);
    let (dom, _) = browse(&scratch, &phone, &["--dump-dom"]);
    assert_eq!(attribute(&dom, "data-wider"), ["0"], "nothing is wider than a phone");
    assert_eq!(attribute(&dom, "data-inner-errors"), ["[]"]);
    picture(&scratch, "explain-phone", &phone, 2400, &[]);

    // The recording, replayed with the change.
    let (live, json) = (scratch.path("replay.html"), scratch.path("replay.json"));
    let words = ["replay", "-q", text(&trace), "--as", "sync-every=20", "--rounds", "2"];
    let files = ["--html", text(&live), "--json", text(&json), "--dir", text(scratch.dir())];
    let output = hotset_with(&[&words[..], &files].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let report = hotset_with(&["report", text(&json), "-o", text(&saved)]);
    assert_eq!(code(&report), 0, "{}", stderr(&report));
    let pages = [&live, &saved].map(|page| fs::read_to_string(page).expect("the page"));
    assert!(pages[0] == pages[1], "the saved page differs");
    let (things, dom) = drawn(&scratch, &live);
    assert_eq!(things.len(), 1);
    assert!(dom.contains("What does sync-every=20 change?"));
    picture(&scratch, "replay", &live, 1900, &[]);
}

#[test]
fn keys_move_along_the_requests_and_to_the_other_row() {
    let scratch = Scratch::new("explain-keys");
    let [_, live, _] = explained(&scratch);
    let script = "const place = document.querySelector('.canvas');\
         const press = (key) => place.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));\
         const said = () => place.parentElement.querySelector('.readout').textContent;\
         const all = [];\
         for (const key of ['End', 'Home', 'ArrowRight', 'ArrowDown', 'Escape']) { press(key); all.push(said()); }\
         document.body.dataset.said = all.join('|');";
    let (dom, console) = browse(&scratch, &driven(&scratch, &live, script), &["--dump-dom"]);
    assert_eq!(console, Vec::<String>::new());
    let said = attribute(&dom, "data-said")[0].split('|').collect::<Vec<_>>();
    for (said, begins) in said.iter().zip([
        "Request 120 as recorded: ",
        "Request 1 as recorded: ",
        "Request 2 as recorded: ",
        "Request 2 with the change: ",
        "Point at a mark",
    ]) {
        assert!(said.starts_with(begins), "{said}, not {begins}");
    }
}

#[test]
fn a_page_that_can_not_be_written_is_refused_before_anything_starts() {
    let scratch = Scratch::new("explain-destination");
    let (ran, page) = (scratch.path("ran"), scratch.path("no/such/page.html"));
    let output = hotset_with(&["explain", "--html", text(&page), "--", "touch", text(&ran)]);
    assert_eq!(code(&output), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains(text(&page)) && !ran.exists(), "{}", stderr(&output));
    let both = ["explain", "--html", "-", "--json", "-", "--", "touch", text(&ran)];
    let output = hotset_with(&both);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("both --json and --html") && !ran.exists());
    let output = hotset_with(&["replay", text(&ran), "--html", text(&page)]);
    assert!(stderr(&output).contains(text(&page)), "{}", stderr(&output));
}
