use super::{Options, render};
use crate::escape::columns;
use crate::testing::*;
use hotset_facts::Profile;

fn shown(profile: Profile, width: usize) -> String {
    render(&summary(profile), &Options { width, ..Options::default() })
}

#[test]
fn a_common_program_fits_one_screen() {
    let report = shown(three_files(), 80);
    assert!(report.lines().count() <= 40, "{} lines", report.lines().count());
    insta::assert_snapshot!("three_files_80", report);
    insta::assert_snapshot!("three_files_120", shown(three_files(), 120));
    insta::assert_snapshot!("three_files_160", shown(three_files(), 160));
}

#[test]
fn findings_and_a_table_name_the_code_that_asked() {
    insta::assert_snapshot!("call_sites_80", shown(with_sites(), 80));
}

#[test]
fn a_build_with_three_findings_fits_one_screen() {
    let summary = summary(many_files(30_000));
    assert!(summary.findings.len() >= 3 && summary.profile.processes.len() == 8);
    let report = render(&summary, &Options::default());
    // Every kind of I/O that there is; a run with the usual two or three takes 40.
    assert!(report.lines().count() <= 46, "{} lines:\n{report}", report.lines().count());
    let all = render(&summary, &Options { all: true, ..Options::default() });
    for finding in &summary.findings {
        let start = finding.advice.split(' ').next().unwrap_or("");
        let told = finding.title.chars().take(40).collect::<String>();
        assert!(report.contains(&told), "{told}");
        assert!(all.contains(start), "{start}");
    }
    insta::assert_snapshot!("many_files_80_all", all);
}

#[test]
fn thirty_thousand_files() {
    insta::assert_snapshot!("many_files_80", shown(many_files(30_000), 80));
    insta::assert_snapshot!("many_files_160", shown(many_files(30_000), 160));
}

#[test]
fn without_bpf() {
    insta::assert_snapshot!("unprivileged_80", shown(unprivileged(), 80));
    insta::assert_snapshot!("unprivileged_160", shown(unprivileged(), 160));
}

#[test]
fn losses() {
    insta::assert_snapshot!("losses_80", shown(lossy(), 80));
}

#[test]
fn nasty_names_stay_on_their_line() {
    let report = shown(nasty_names(), 80);
    assert!(!report.contains(['\u{1b}', '\u{7}', '\u{202e}', '\t']));
    insta::assert_snapshot!("nasty_names_80", report);
    insta::assert_snapshot!("nasty_names_160", shown(nasty_names(), 160));
}

#[test]
fn nothing_known() {
    insta::assert_snapshot!("everything_missing_80", shown(everything_missing(), 80));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let profiles = [
        three_files(),
        many_files(300),
        lossy(),
        nasty_names(),
        unprivileged(),
        everything_missing(),
    ];
    for profile in profiles {
        let summary = summary(profile);
        for width in [72, 80, 100, 120, 160, 200] {
            let report = render(&summary, &Options { width, ..Options::default() });
            for line in report.lines() {
                assert!(columns(line) <= width, "{} > {width}: {line}", columns(line));
            }
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let summary = summary(three_files());
    let plain = render(&summary, &Options::default());
    let colored = render(&summary, &Options { color: true, ..Options::default() });
    assert!(!plain.contains('\u{1b}') && colored.contains('\u{1b}'));
    insta::assert_snapshot!("three_files_80_color", colored.replace('\u{1b}', "ESC"));
    assert_eq!(without_escapes(&colored), plain);
}

#[test]
fn ascii_is_ascii() {
    for profile in [many_files(300), nasty_names()] {
        let options = Options { ascii: true, ..Options::default() };
        assert!(render(&summary(profile), &options).is_ascii());
    }
    let options = Options { ascii: true, ..Options::default() };
    insta::assert_snapshot!("nasty_names_80_ascii", render(&summary(nasty_names()), &options));
}

#[test]
fn odd_options_do_not_panic() {
    for (width, top) in [(0, 0), (usize::MAX, usize::MAX), (80, 1)] {
        let options = Options { width, top, color: true, ascii: false, all: true };
        assert!(!render(&summary(many_files(300)), &options).is_empty());
    }
}

#[test]
fn absurd_numbers_do_not_panic() {
    use hotset_facts::{Observed, TimeIo};
    let mut profile = three_files();
    profile.command.wall_ns = u64::MAX;
    profile.command.user_ns = Observed::Value(u64::MAX);
    profile.environment.page_size_bytes = u64::MAX;
    profile.totals.time =
        Observed::Value(TimeIo { hit_ns: u64::MAX, sync_ns: u64::MAX, ..TimeIo::default() });
    if let Observed::Value(read) = &mut profile.totals.read {
        read.misses = u64::MAX;
        read.readahead_hits = u64::MAX;
    }
    let report = shown(profile, 80);
    assert!(report.contains("contradict"), "{report}");
}

/// The text without colour sequences, and without the blanks that were painted at the end of lines.
fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    let lines: Vec<&str> = out.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
