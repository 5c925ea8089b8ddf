//! What tests in one go measure of the cache that the one before left.

use hotset_analysis::bench::RatioEstimate;
use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, words};

/// The orders that follow the first one.
const LATER: [&str; 2] = ["reverse", "random"];

/// One answer, for all methods that were run so.
pub(super) fn of(all: &Cells<'_>) -> Option<LabAnswer> {
    let chained = all.with(&[("state", Name("chain"))]);
    let block = *chained.numbers("block_bytes").first()?;
    let cold = all.with(&[("state", Name("cold")), ("block_bytes", Number(block))]);
    let (mut told, mut evidence) = (Vec::new(), Vec::new());
    let mut largest: Option<(String, RatioEstimate)> = None;
    for method in chained.names("method") {
        let of_method = chained.named("method", method);
        let cold = cold.named("method", method);
        let mut orders = Vec::new();
        for order in LATER {
            let Some(after) = of_method.one(&[("order", Name(order))]) else { continue };
            evidence.push(after.id());
            let mut text = format!("{order} {}", words::time(after.median));
            if let Some(alone) = cold.one(&[("order", Name(order))])
                && let Some(ratio) = after.to(&alone)
            {
                text.push_str(&format!(" instead of {}", words::time(alone.median)));
                evidence.push(alone.id());
                if largest.as_ref().is_none_or(|(_, known)| ratio.ratio > known.ratio) {
                    largest = Some((format!("{method}, {order}"), ratio));
                }
            }
            text.push_str(&cached(&after));
            orders.push(text);
        }
        told.push(format!("{method}: {}", orders.join(", ")));
    }
    let question = "Tests in one go (sequential, reverse, random, nothing evicted in between): what do the later ones measure?";
    let answer = format!("What the test before them left in the cache. {}.", told.join("; "));
    Some(match largest {
        Some((which, ratio)) => LabAnswer {
            number: format!("{} ({which})", words::times(ratio.ratio)),
            ..LabAnswer::of_ratio(question, answer, &ratio, evidence)
        },
        None => LabAnswer {
            question: question.to_owned(),
            answer,
            number: "not compared".to_owned(),
            confidence: "the same orders from a cold cache were not measured".to_owned(),
            evidence,
        },
    })
}

/// How much the test found cached.
fn cached(after: &MeasuredCell<'_>) -> String {
    match after.numbers.cached_before {
        Some((least, _)) => format!(" ({} cached at its start)", words::percent(least)),
        None => String::new(),
    }
}
