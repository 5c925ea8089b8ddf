//! What goes into files that can be applied as they are.

use std::path::{Path, PathBuf};

use hotset_analysis::explain::{Explained, Setting, TraceFinding};
use hotset_facts::SaveReport;

use crate::report::text::wrap;
use crate::units::{bytes, plural};

/// Columns of a comment, its mark included.
const WIDTH: usize = 78;

/// A drop-in of systemd that restores a snapshot before a service starts. The service starts also where that fails.
pub fn restore_drop_in(set: &Path) -> String {
    let set =
        set.display().to_string().replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "# Reads the pages that the service needs before it starts.\n\
         # Copy to /etc/systemd/system/NAME.service.d/ and run: systemctl daemon-reload\n\
         [Service]\n\
         ExecStartPre=-hotset restore -q \"{set}\"\n"
    )
}

/// Settings that are worth a file, with their findings: not those of findings that a replay refutes, as there is nothing to spare.
pub fn settings_to_write(explained: &Explained) -> Vec<(&TraceFinding, &Setting)> {
    let findings = explained.findings.iter().filter(|finding| !finding.is_refuted());
    let all = findings.flat_map(|proved| {
        proved.finding.settings.iter().map(|setting| (&proved.finding, setting))
    });
    all.collect()
}

/// A file that makes a setting, with what it is for, what it risks and where it belongs as comments.
pub fn setting_file(finding: &TraceFinding, setting: &Setting) -> String {
    let risks = format!("Risk: {}", setting.risks);
    let about = format!("hotset explain, {}: {}", finding.rule, finding.title);
    let untested = "No replay tested this setting: compare runs with it and without it.";
    let mut lines: Vec<String> = Vec::new();
    for paragraph in [&about, &setting.how, &risks, untested, &setting.place] {
        // A line break in a title would end the comment.
        let paragraph = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        lines.extend(wrap(&paragraph, WIDTH.saturating_sub(setting.comment.len() + 1)));
    }
    // A command stays on its line, so that it can be copied.
    lines.extend(setting.run.iter().map(|command| format!("    {command}")));
    let mut file = String::new();
    for line in lines {
        file.push_str(&format!("{} {line}\n", setting.comment));
    }
    file + &setting.text
}

/// What was written where, a line each.
pub fn emitted(
    findings: &Path,
    set: Option<(&Path, &SaveReport)>,
    settings: &[(PathBuf, &Setting)],
) -> Vec<String> {
    if set.is_none() && settings.is_empty() {
        return vec![format!(
            "{}: written. No finding is about a cold start or has a setting, so there is nothing else to apply",
            findings.display()
        )];
    }
    let set = set.map(|(set, saved)| {
        let size = bytes(saved.pages.saturating_mul(saved.page_bytes));
        format!(
            "{}: {} with {size} to restore; hotset-restore.conf beside it does so before a service starts",
            set.display(),
            plural(saved.files, "file")
        )
    });
    let settings = settings.iter().map(|(path, setting)| {
        let of = &setting.of;
        format!(
            "{}: a setting of {of}; its comments say what it risks and where it belongs",
            path.display()
        )
    });
    std::iter::once(format!("{}: the findings", findings.display()))
        .chain(set)
        .chain(settings)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::tests::{finding, setting, some};
    use hotset_analysis::Severity;
    use hotset_analysis::explain::ProvedFinding;

    #[test]
    fn a_drop_in_quotes_what_systemd_would_read_otherwise() {
        let text = restore_drop_in(Path::new("/srv/a b/100%/\"x\"/start.set"));
        let line = text.lines().last().expect("a line");
        assert_eq!(line, r#"ExecStartPre=-hotset restore -q "/srv/a b/100%%/\"x\"/start.set""#);
    }

    #[test]
    fn a_setting_is_a_file_whose_comments_say_what_it_is_for_and_risks() {
        let finding = finding("One fsync per\n2.9 KiB written", Severity::Warning, 60_000_000);
        insta::assert_snapshot!("setting", setting_file(&finding, &setting()));
        let long = Setting { place: "word ".repeat(99), text: String::new(), ..setting() };
        for line in setting_file(&finding, &long).lines() {
            assert!(line.starts_with("# ") && line.len() <= WIDTH, "{line}");
        }
    }

    #[test]
    fn a_setting_that_would_spare_nothing_is_not_written() {
        let explained = some();
        let refuted = |title: &str| {
            let proved = explained.findings.iter().find(|proved| proved.finding.title == title);
            proved.is_some_and(ProvedFinding::is_refuted)
        };
        let written = settings_to_write(&explained);
        assert_eq!(written.len(), explained.findings.len() - 1);
        assert!(!written.iter().any(|(finding, _)| refuted(&finding.title)));
    }

    #[test]
    fn each_file_that_was_written_is_named() {
        let (findings, path) =
            (Path::new("out/findings.txt"), PathBuf::from("out/hotset.gitconfig"));
        let setting = setting();
        let said = emitted(findings, None, &[(path, &setting)]);
        assert!(said[0].starts_with("out/findings.txt: ") && said.len() == 2, "{said:?}");
        assert!(said[1].starts_with("out/hotset.gitconfig: a setting of git"), "{said:?}");
        assert_eq!(emitted(findings, None, &[]).len(), 1);
    }
}
