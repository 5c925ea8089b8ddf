//! A VerticalPodAutoscaler (autoscaling.k8s.io/v1) as another recommender than the default one leaves it: KEP-3919.

use hotset_analysis::size::Recommended;

use super::comment::Lines;
use super::{CONTAINER, SizedTrace, kubernetes, reasons, replace};

/// What stands where the name of a Deployment belongs: Kubernetes refuses capital letters.
const WORKLOAD: &str = "WORKLOAD";
/// Columns at which the bounds stand.
const INDENT: usize = 8;

pub(super) fn write(
    lines: &mut Lines,
    trace: &SizedTrace<'_>,
    request: &Recommended,
    container: Option<&str>,
) {
    reasons::head(lines, trace, "a recommendation for a VerticalPodAutoscaler");
    lines.comment(
        0,
        &format!(
            "{}Replace {WORKLOAD} by the name of the Deployment (or by kind and name of another workload). The first command makes the \
             object, whose status only the second one can write:",
            replace(container)
        ),
    );
    lines.command("kubectl apply -f FILE");
    lines.command(&format!(
        "kubectl patch vpa {WORKLOAD} --subresource=status --type=merge --patch-file FILE"
    ));
    reasons::trust(lines, trace);
    let container = container.unwrap_or(CONTAINER);
    spec(lines, trace, container);
    status(lines, trace, request, container);
}

fn spec(lines: &mut Lines, trace: &SizedTrace<'_>, container: &str) {
    for line in [
        "apiVersion: \"autoscaling.k8s.io/v1\"",
        "kind: \"VerticalPodAutoscaler\"",
        "metadata:",
        &format!("  name: \"{WORKLOAD}\""),
        "spec:",
        "  targetRef:",
        "    apiVersion: \"apps/v1\"",
        "    kind: \"Deployment\"",
        &format!("    name: \"{WORKLOAD}\""),
        "  recommenders:",
    ] {
        lines.line(line);
    }
    lines.comment(4, "The default recommender leaves objects of others alone.");
    lines.line("    - name: \"hotset\"");
    lines.line("  updatePolicy:");
    lines.comment(
        4,
        "\"Off\" shows the recommendation and applies nothing; \"Initial\" applies it to new pods, \"Recreate\" also evicts pods for it.",
    );
    lines.line("    updateMode: \"Off\"");
    lines.line("  resourcePolicy:");
    lines.line("    containerPolicies:");
    lines.line(&format!("      - containerName: \"{container}\""));
    lines.line("        controlledResources: [\"memory\"]");
    if trace.summary.limit.is_none() {
        let why = reasons::no_limit(trace.summary);
        lines.comment(
            8,
            &format!("No limit is recommended, and a limit that is there stays: {why}"),
        );
        lines.line("        controlledValues: \"RequestsOnly\"");
    }
}

fn status(lines: &mut Lines, trace: &SizedTrace<'_>, request: &Recommended, container: &str) {
    let summary = trace.summary;
    lines.line("status:");
    lines.line("  recommendation:");
    lines.line("    containerRecommendations:");
    lines.line(&format!("      - containerName: \"{container}\""));
    let target = summary.limit.as_ref().unwrap_or(request);
    let least = summary.least().unwrap_or(*target);
    let bound = |lines: &mut Lines, name: &str, of: &Recommended, why: &[String]| {
        for why in why.iter().filter(|why| !why.is_empty()) {
            lines.comment(INDENT, why);
        }
        lines.line(&format!("{:INDENT$}{name}:", ""));
        lines.line(&format!("{:INDENT$}  memory: \"{}\"", "", kubernetes(of.bytes)));
    };
    let thrash = summary.limit.map_or_else(String::new, |_| reasons::thrash(summary));
    bound(lines, "lowerBound", &least, &[reasons::parts(&least), thrash]);
    let limit = "The autoscaler requests this, and keeps the ratio of limit to request: the limit is at least as much.";
    let keeps = summary.limit.map_or("", |_| limit).to_owned();
    let must = reasons::must(summary, target);
    let why = [reasons::parts(target), must, reasons::worth(summary), keeps];
    bound(lines, "target", target, &why);
    bound(lines, "uncappedTarget", target, &["The same: no policy caps it.".to_owned()]);
    if let Some(most) = summary.most() {
        let why = match summary.limit {
            Some(_) => format!("Room for all {}: more gains nothing.", reasons::all_pages(summary)),
            None => "The same: more memory gains nothing.".to_owned(),
        };
        bound(lines, "upperBound", &most, &[why]);
    }
}
