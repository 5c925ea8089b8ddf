//! A strategic merge patch for Kubernetes: what a container requests, and its limit.

use hotset_analysis::size::Recommended;

use super::comment::Lines;
use super::{CONTAINER, SizedTrace, kubernetes, reasons, replace};

/// Columns at which `requests` and `limits` stand, and what is below them.
const INDENT: usize = 12;
const BELOW: usize = INDENT + 2;

pub(super) fn write(
    lines: &mut Lines,
    trace: &SizedTrace<'_>,
    request: &Recommended,
    container: Option<&str>,
) {
    reasons::head(lines, trace, "what a container requests, and its limit");
    lines.comment(
        0,
        &format!(
            "{}To apply it to a Deployment (or a StatefulSet, a DaemonSet):",
            replace(container)
        ),
    );
    lines.command("kubectl patch deployment NAME --patch-file FILE");
    reasons::trust(lines, trace);
    for line in ["spec:", "  template:", "    spec:", "      containers:"] {
        lines.line(line);
    }
    lines.line(&format!("        - name: \"{}\"", container.unwrap_or(CONTAINER)));
    lines.line("          resources:");
    requests(lines, trace, request);
    limits(lines, trace);
}

fn requests(lines: &mut Lines, trace: &SizedTrace<'_>, request: &Recommended) {
    lines.line("            requests:");
    lines.comment(BELOW, &reasons::parts(request));
    lines.comment(BELOW, &reasons::must(trace.summary, request));
    if trace.summary.limit.is_some() {
        lines.comment(
            BELOW,
            "A node reserves this. Where it runs short of memory, it first evicts pods that use more than they request, and cached \
             pages in frequent use count: request the limit if that must not happen.",
        );
    }
    lines.line(&format!("{:BELOW$}memory: \"{}\"", "", kubernetes(request.bytes)));
}

fn limits(lines: &mut Lines, trace: &SizedTrace<'_>) {
    let summary = trace.summary;
    let Some(limit) = summary.limit else {
        let why = reasons::no_limit(summary);
        lines.comment(INDENT, &format!("No limit: {why} A limit that is there already stays."));
        return;
    };
    lines.line("            limits:");
    lines.comment(BELOW, &reasons::parts(&limit));
    lines.comment(BELOW, &reasons::worth(summary));
    lines.comment(BELOW, &reasons::thrash(summary));
    lines.line(&format!("{:BELOW$}memory: \"{}\"", "", kubernetes(limit.bytes)));
}
