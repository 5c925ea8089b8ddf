//! The page of a difference.

use std::path::Path;
use std::process::Command;

use hotset_tests::browser::{DARK, attribute, browse, on_a_phone, picture};
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, code, hotset, profile_of, stderr};

fn profile(scratch: &Scratch, name: &str, words: &[&str]) -> String {
    profile_of(scratch, words);
    let path = scratch.path(name);
    std::fs::rename(scratch.path("profile.json"), &path).expect("the profile");
    text(&path).to_owned()
}

fn page(scratch: &Scratch, page: &Path, words: &[&str]) {
    let mut command = Command::new(hotset());
    let output = command.arg("diff").args(words).args(["--html", text(page)]).output();
    let output = output.expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let (dom, console) = browse(scratch, page, &["--dump-dom"]);
    assert_eq!((attribute(&dom, "data-errors"), console), (vec!["[]"], Vec::new()));
    for told in ["Do they differ?", "Which counters differ?", "Which files differ?", "data.csv"] {
        assert!(dom.contains(told), "{told}");
    }
}

#[test]
fn two_profiles_have_a_page_that_fits_a_phone() {
    let scratch = Scratch::new("diff-pages");
    std::fs::write(scratch.path("data.csv"), vec![7; 300_000]).expect("a file");
    let data = scratch.path("data.csv");
    let before = profile(&scratch, "before.json", &["sh", "-c", "ls /etc; cat /nowhere; true"]);
    let read = format!("ls /usr; cat {} > /dev/null", text(&data));
    let after = profile(&scratch, "after.json", &["sh", "-c", &read]);
    let html = scratch.path("difference.html");
    page(&scratch, &html, &[&before, &after]);
    let phone = on_a_phone(&scratch, &html, 6000);
    let (narrow, _) = browse(&scratch, &phone, &["--dump-dom"]);
    assert_eq!(attribute(&narrow, "data-wider"), ["0"], "only tables scroll sideways");
    assert_eq!(attribute(&narrow, "data-inner-errors"), ["[]"]);
    picture(&scratch, "diff", &html, 3200, &[]);
    picture(&scratch, "diff-dark", &html, 3200, &DARK);
    picture(&scratch, "diff-phone", &phone, 6000, &[]);
}
