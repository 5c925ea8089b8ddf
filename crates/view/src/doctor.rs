//! What this host lets hotset see, for people and for scripts.

use anstyle::{AnsiColor, Style};
use hotset_facts::{Capability, Observed, Support, Verdict};

use crate::escape::{columns, escape_text};
use crate::report::text::{paint, wrap};
use crate::table::{Align, pad};

/// The answer of `hotset doctor` for a terminal of `width` columns.
pub fn doctor_text(support: &Support, width: usize, color: bool) -> String {
    let width = width.clamp(40, 120);
    let who = if support.euid == 0 { "root".to_owned() } else { format!("user {}", support.euid) };
    let mut out = format!("Kernel {}, running as {who}\n\n", escape_text(&support.kernel));
    let titles = support.capabilities.iter().map(|capability| columns(capability.title));
    let title_width = titles.max().unwrap_or(0).min(width / 2);
    for capability in &support.capabilities {
        push_capability(&mut out, capability, title_width, width, color);
    }
    match support.sensor_start_ms {
        Observed::Value(ms) => out.push_str(&format!("\nThe sensor starts in {ms} ms here.\n")),
        Observed::Missing(reason) => {
            out.push_str(&format!("\nThe sensor was not started ({reason}).\n"));
        }
    }
    out
}

/// One line with the verdict, then what is missing without it and what to do, where there is something to say.
fn push_capability(
    out: &mut String,
    capability: &Capability,
    title_width: usize,
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
    let title = pad(&escape_text(capability.title), title_width, Align::Left);
    let indent = 2 + VERDICT_WIDTH + 2 + title_width + 2;
    let detail = wrap(&escape_text(&capability.detail), width.saturating_sub(indent).max(20));
    let mut detail = detail.iter();
    let first = format!(
        "  {}  {title}  {}",
        paint(&verdict, style, color),
        detail.next().map_or("", |s| s)
    );
    out.push_str(first.trim_end());
    out.push('\n');
    for line in detail {
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
    push_note(out, "effect: ", &capability.consequence, width);
    push_note(out, "what to do: ", &capability.remedy, width);
}

fn push_note(out: &mut String, label: &str, text: &str, width: usize) {
    const INDENT: usize = 10;
    if text.is_empty() {
        return;
    }
    let lines = wrap(&escape_text(text), width.saturating_sub(INDENT + label.len()).max(20));
    for (i, line) in lines.iter().enumerate() {
        let label = if i == 0 { label.to_owned() } else { " ".repeat(label.len()) };
        out.push_str(&format!("{:INDENT$}{label}{line}\n", ""));
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
