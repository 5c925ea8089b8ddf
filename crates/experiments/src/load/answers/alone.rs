//! What reading, and asking whether a file is there, take without loading.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, confidence, unless_shown, words};
use hotset_facts::LabUnit;

/// What is compared with reading the one file as it is.
const READS: [(&str, &str, &str); 4] = [
    ("read_class", "binary", "the same classes in 100 files"),
    ("read_one", "stdio", "the one file by stdio"),
    ("read_one", "text", "the one file as text"),
    ("read_one", "legacy", "the one file converted from Windows-31J"),
];

fn warm<'a>(cells: &Cells<'a>, what: &'static str, how: &'static str) -> Option<MeasuredCell<'a>> {
    cells.first(&[("what", Name(what)), ("how", Name(how)), ("state", Name("warm"))])
}

/// Reading many files, and as text, against reading one as it is.
pub(super) fn reading(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let one = warm(cells, "read_one", "binary")?;
    let (mut told, mut sure, mut evidence) = (Vec::new(), Vec::new(), vec![one.id()]);
    for (what, how, name) in READS {
        let Some(other) = warm(cells, what, how) else { continue };
        let Some(ratio) = one.to(&other) else { continue };
        let (took, times) = (words::time(other.median), words::times(ratio.ratio));
        told.push(format!("{name} {took} ({times} the time{})", unless_shown(&ratio)));
        sure.push(format!("{name}: {}", confidence(&ratio)));
        evidence.push(other.id());
    }
    (!told.is_empty()).then(|| LabAnswer {
        question: format!("{runtime}: how long does reading take, without loading?"),
        answer: format!(
            "Warm: one file with all classes takes {}, {}.",
            words::time(one.median),
            told.join(", ")
        ),
        number: words::time(one.median),
        confidence: sure.join("; "),
        evidence,
    })
}

/// Asking for files that are there.
pub(super) fn asking(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let asked = warm(cells, "exists", "stat")?;
    let operations = asked.cell.samples.first()?.operations.max(1) as f64;
    let each_ns = |ns: f64| match asked.cell.unit {
        LabUnit::Nanoseconds => ns / operations,
        LabUnit::NanosecondsPerOperation => ns,
    };
    let time = |ns: f64| words::time(each_ns(ns));
    let rounds = words::rounds(asked.numbers.rounds);
    Some(LabAnswer {
        question: format!("{runtime}: what does it cost to ask whether a file exists?"),
        answer: format!(
            "{} each time, warm, for a file that is there, mean of {operations} times in a row.",
            time(asked.median)
        ),
        number: time(asked.median),
        confidence: match (asked.numbers.low, asked.numbers.high) {
            (Some(low), Some(high)) => format!("95 % CI {} to {}, {rounds}", time(low), time(high)),
            _ => format!("no 95 % CI, {rounds}"),
        },
        evidence: vec![asked.id()],
    })
}
