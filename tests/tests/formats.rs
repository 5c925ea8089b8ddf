//! `hotset formats`.

use std::process::Command;

use hotset_tests::hotset;

#[test]
fn formats_are_listed_and_chosen_by_name() {
    let listed = |words: &[&str]| {
        let output = Command::new(hotset()).arg("formats").args(words).output().expect("hotset");
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(listed(&[]).lines().any(|line| line == "hotset.profile/1"));
    assert_eq!(listed(&["bench"]), "hotset.bench/1\n");
}
