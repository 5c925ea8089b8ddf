//! A comment says why, in words that hold today.

use std::path::Path;

use crate::source::{at, none_of, rust};

/// What belongs into an issue.
const PROMISES: [&str; 6] = ["TODO", "FIXME", "XXX", "HACK", "for now", "in the future"];

#[test]
fn no_comment_promises() {
    let wrong = rust().into_iter().flat_map(|file| promises(&file.path, &file.text));
    none_of(&wrong.collect::<Vec<_>>());
}

#[test]
fn no_comment_is_a_single_word() {
    // In the arguments' folder, doc comments are what `--help` says.
    let files = rust().into_iter().filter(|file| !file.path.starts_with("crates/cli/src/args"));
    let wrong = files.flat_map(|file| single_words(&file.path, &file.text));
    none_of(&wrong.collect::<Vec<_>>());
}

/// The words of a comment that has its line to itself.
fn comment(line: &str) -> Option<&str> {
    let words = line.trim_start().strip_prefix("//")?;
    Some(words.trim_start_matches(['/', '!']).trim())
}

fn promises(path: &Path, text: &str) -> Vec<String> {
    let promise = |line: &str| {
        // At the end of a line of code, too.
        let words = comment(line).or_else(|| line.split_once(" // ").map(|(_, words)| words))?;
        let has = |promise: &str| {
            words.match_indices(promise).any(|(start, _)| {
                let (before, after) = (&words[..start], &words[start + promise.len()..]);
                !before.ends_with(char::is_alphanumeric)
                    && !after.starts_with(char::is_alphanumeric)
            })
        };
        PROMISES.into_iter().find(|promise| has(promise))
    };
    let lines = text.lines().enumerate();
    lines
        .filter_map(|(index, line)| Some((index, promise(line)?)))
        .map(|(index, word)| {
            format!("{}: \"{word}\": do it, or say what holds today", at(path, index + 1))
        })
        .collect()
}

fn single_words(path: &Path, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let of = |index: Option<usize>| index.and_then(|index| comment(lines.get(index)?));
    let alone = |&index: &usize| {
        let words = of(Some(index)).filter(|words| !words.is_empty());
        // An example, as `14:03:20`, says something. So may the last word of a longer comment.
        let is_word = |words: &str| words.trim_end_matches('.').chars().all(char::is_alphabetic);
        words.is_some_and(is_word)
            && of(index.checked_sub(1)).is_none()
            && of(Some(index + 1)).is_none()
    };
    (0..lines.len())
        .filter(alone)
        .map(|index| {
            let place = at(path, index + 1);
            format!("{place}: \"{}\": say what the name doesn't say", lines[index].trim())
        })
        .collect()
}

#[test]
fn what_is_looked_for_is_found() {
    let path = Path::new("a.rs");
    let text = format!(
        "let a = 1; // a {} of mine\n/// Which.\nlet b = \"{}\";\n// So it is, not for nowhere.\n// Yes.\n",
        PROMISES[0], PROMISES[4]
    );
    assert_eq!(promises(path, &text), ["a.rs:1: \"TODO\": do it, or say what holds today"]);
    let words = single_words(path, &text);
    assert_eq!(words, ["a.rs:2: \"/// Which.\": say what the name doesn't say"]);
}
