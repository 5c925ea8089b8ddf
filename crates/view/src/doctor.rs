//! What this host lets hotset see, for people and for scripts.

use anstyle::{AnsiColor, Style};
use hotset_facts::{Capability, Observed, Support, Verdict};

use crate::escape::{columns, escape_text};
use crate::report::text::{paint, wrap};
use crate::table::{Align, pad};

/// Where titles, and lines below them, begin.
const NOTE_INDENT: usize = 10;
/// What a detail beside its title needs, in columns: a path of /sys.
const LEAST_DETAIL: usize = 40;

/// The answer of `hotset doctor` for a terminal of `width` columns.
pub fn doctor_text(support: &Support, width: usize, color: bool) -> String {
    let width = width.clamp(40, 120);
    let is_no_real_root =
        |capability: &Capability| capability.id == "root" && capability.verdict != Verdict::Yes;
    let who = match support.euid {
        0 if support.capabilities.iter().any(is_no_real_root) => {
            "root of a user namespace".to_owned()
        }
        0 => "root".to_owned(),
        euid => format!("user {euid}"),
    };
    let mut out = format!("Kernel {}, running as {who}\n\n", escape_text(&support.kernel));
    let titles = support.capabilities.iter().map(|capability| columns(capability.title));
    let title_width = titles.max().unwrap_or(0);
    // Beside the titles only where details have room: paths are not to be cut.
    let beside = (width >= NOTE_INDENT + title_width + 2 + LEAST_DETAIL).then_some(title_width);
    for capability in &support.capabilities {
        push_capability(&mut out, capability, beside, width, color);
    }
    match support.sensor_start_ms {
        Observed::Value(ms) => out.push_str(&format!("\nThe sensor starts in {ms} ms here.\n")),
        Observed::Missing(reason) => {
            out.push_str(&format!("\nThe sensor was not started ({reason}).\n"));
        }
    }
    out
}

/// One line with the verdict, then what is missing without it and what to do, where there is something to say. The detail stands
/// `beside` titles of so many columns, or else below.
fn push_capability(
    out: &mut String,
    capability: &Capability,
    beside: Option<usize>,
    width: usize,
    color: bool,
) {
    const VERDICT_WIDTH: usize = 6;
    let style = match capability.verdict {
        Verdict::Yes => Style::new().fg_color(Some(AnsiColor::Green.into())),
        Verdict::Partly => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
        Verdict::No => Style::new().fg_color(Some(AnsiColor::Red.into())).bold(),
    };
    let verdict = pad(capability.verdict.as_str(), VERDICT_WIDTH, Align::Left);
    let verdict = paint(&verdict, style, color);
    let (title, detail) = (escape_text(capability.title), escape_text(&capability.detail));
    match beside {
        None => {
            out.push_str(&format!("  {verdict}  {title}\n"));
            push_note(out, "", &detail, width);
        }
        Some(title_width) => {
            let indent = NOTE_INDENT + title_width + 2;
            let lines = wrap(&detail, width.saturating_sub(indent));
            let mut lines = lines.iter().map(String::as_str);
            let title = pad(&title, title_width, Align::Left);
            let first = format!("  {verdict}  {title}  {}", lines.next().unwrap_or_default());
            out.push_str(first.trim_end());
            out.push('\n');
            for line in lines {
                out.push_str(&format!("{:indent$}{line}\n", ""));
            }
        }
    }
    push_note(out, "effect: ", &capability.consequence, width);
    push_note(out, "what to do: ", &capability.remedy, width);
}

fn push_note(out: &mut String, label: &str, text: &str, width: usize) {
    if text.is_empty() {
        return;
    }
    let lines = wrap(&escape_text(text), width.saturating_sub(NOTE_INDENT + label.len()).max(20));
    for (i, line) in lines.iter().enumerate() {
        let label = if i == 0 { label.to_owned() } else { " ".repeat(label.len()) };
        out.push_str(&format!("{:NOTE_INDENT$}{label}{line}\n", ""));
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::wire::doctor_json;
    use hotset_facts::Reason;

    pub(crate) fn support() -> Support {
        let capability =
            |id, title, verdict, detail: &str, consequence: &str, remedy: &str| Capability {
                id,
                title,
                verdict,
                detail: detail.to_owned(),
                consequence: consequence.to_owned(),
                remedy: remedy.to_owned(),
            };
        Support {
            kernel: "6.18.44".to_owned(),
            euid: 1000,
            capabilities: vec![
                capability(
                    "btf",
                    "kernel type information",
                    Verdict::Yes,
                    "/sys/kernel/btf/vmlinux",
                    "",
                    "",
                ),
                capability(
                    "bpf",
                    "loading BPF programs",
                    Verdict::No,
                    "EPERM",
                    "pages, read-ahead, faults, direct I/O, lookups and time by file and by process",
                    "run as root, or give CAP_BPF and CAP_PERFMON: setcap cap_bpf,cap_perfmon+ep hotset",
                ),
                capability(
                    "idle-cache",
                    "the cache keeps idle pages",
                    Verdict::Partly,
                    "a DAMON scheme with action pageout is running: kdamond evicts what is idle",
                    "warm runs go cold after a while",
                    "",
                ),
            ],
            sensor_start_ms: Observed::Missing(Reason::denied("needs root")),
        }
    }

    #[test]
    fn text() {
        insta::assert_snapshot!("doctor_80", doctor_text(&support(), 80, false));
        assert!(doctor_text(&support(), 80, true).contains("\u{1b}["));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_path_is_cut() {
        let mut long = support();
        long.capabilities[0].title = "may do what older kernels ask administrators for";
        long.capabilities[0].detail = "/sys/kernel/mm/damon/admin/kdamonds/0".to_owned();
        for width in [60, 80, 100] {
            let text = doctor_text(&long, width, false);
            assert!(text.contains("/sys/kernel/mm/damon/admin/kdamonds/0\n"), "{text}");
            let longest = text.lines().map(columns).max();
            assert!(longest <= Some(width), "{text}");
        }
    }

    #[test]
    fn root_of_a_user_namespace_is_not_called_root() {
        let mut inside = support();
        (inside.euid, inside.capabilities[0].id) = (0, "root");
        assert!(doctor_text(&inside, 80, false).contains("running as root\n"));
        inside.capabilities[0].verdict = Verdict::No;
        assert!(doctor_text(&inside, 80, false).contains("running as root of a user namespace\n"));
    }

    #[test]
    fn json() -> Result<(), serde_json::Error> {
        let json: serde_json::Value = serde_json::from_slice(&doctor_json(&support()))?;
        assert_eq!(json["schema"], "hotset.doctor/1");
        assert_eq!(json["capabilities"][1]["verdict"], "no");
        assert!(json["sensor_start_ms"].is_null());
        let bytes = doctor_json(&support());
        let documents = crate::wire::documents(&bytes).map_err(serde::de::Error::custom)?;
        let read = crate::wire::read_doctor(&documents[0]).map_err(serde::de::Error::custom)?;
        assert_eq!(read, support());
        Ok(())
    }
}
