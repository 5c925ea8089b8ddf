//! The page of a run: `--html` and `hotset report` of its JSON give the same one.

use std::process::{Command, Output};

use hotset_tests::browser::{DARK, attribute, browse, on_a_phone, picture};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, stderr};

fn hotset_with(words: &[&str]) -> Output {
    Command::new(hotset()).args(words).output().expect("hotset")
}

#[test]
fn a_run_writes_the_page_that_its_json_gives_later() {
    let scratch = Scratch::new("profile-page");
    let file = scratch.file("read-by-cat", 1 << 20);
    let [json, live, later] = ["p.json", "live.html", "later.html"].map(|name| scratch.path(name));
    let (json, live) = (text(&json), text(&live));
    let ran = hotset_with(&["run", "-q", "--json", json, "--html", live, "--", "cat", text(&file)]);
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    let made = hotset_with(&["report", json, "-o", text(&later)]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let page = std::fs::read_to_string(live).expect("the page");
    assert!(page == std::fs::read_to_string(&later).expect("the page"), "two pages of one run");
    let row = page.split("read-by-cat</th>").nth(1).and_then(|rest| rest.split("</tr>").next());
    assert!(row.is_some_and(|row| row.contains(">1.00 MiB<")), "{row:?}");
}

#[test]
fn runs_of_one_command_are_told_apart_by_their_files() {
    let scratch = Scratch::new("profile-pages");
    let file = scratch.file("f", 1 << 20);
    let names = ["before.json", "after.json"].map(|name| scratch.path(name));
    for json in &names {
        let ran = hotset_with(&["run", "-q", "--json", text(json), "--", "cat", text(&file)]);
        assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    }
    let page = scratch.path("both.html");
    let made = hotset_with(&["report", text(&names[0]), text(&names[1]), "-o", text(&page)]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let (dom, console) = browse(&scratch, &page, &["--dump-dom"]);
    assert_eq!((attribute(&dom, "data-errors"), console), (vec!["[]"], Vec::new()));
    assert_eq!(attribute(&dom, "data-drawn-points"), attribute(&dom, "data-points"));
    let links = dom.split("<nav").nth(1).and_then(|nav| nav.split("</nav>").next());
    let links = links.expect("the parts");
    for told in ["Runs side by side", "before.json: cat", "after.json: cat"] {
        assert!(links.contains(told), "{told} in {links}");
    }
    let (phone, _) = browse(&scratch, &on_a_phone(&scratch, &page, 6000), &["--dump-dom"]);
    assert_eq!(attribute(&phone, "data-wider"), ["0"], "only tables scroll sideways");
    picture(&scratch, "profiles", &page, 4000, &[]);
    picture(&scratch, "profiles-dark", &page, 4000, &DARK);
    picture(&scratch, "profiles-phone", &on_a_phone(&scratch, &page, 6000), 6000, &[]);
}

#[test]
fn json_and_page_do_not_share_standard_output() {
    let refused = hotset_with(&["run", "--json", "-", "--html", "-", "--", "true"]);
    assert_eq!(code(&refused), 2, "{}", stderr(&refused));
    assert!(stderr(&refused).contains("both --json and --html"), "{}", stderr(&refused));
    let page = hotset_with(&["run", "-q", "--no-bpf", "--html", "-", "--", "true"]);
    assert!(page.stdout.starts_with(b"<!DOCTYPE html>"), "{}", stderr(&page));
}
