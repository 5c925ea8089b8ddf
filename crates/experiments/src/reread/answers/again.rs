//! Later reads compared with the first.

use hotset_analysis::bench::Difference;
use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, words};

/// One answer for each size, the largest first: where reading takes time is where it matters.
pub(super) fn answers(cells: &Cells<'_>) -> Vec<LabAnswer> {
    let read = super::of_files(cells).with(&[("what", Name("read"))]);
    let sizes = read.with(&[("cache", Name("kept"))]).numbers("size_bytes");
    sizes.into_iter().rev().filter_map(|bytes| answer(&read, bytes)).collect()
}

fn answer(read: &Cells<'_>, bytes: u64) -> Option<LabAnswer> {
    let read = read.with(&[("size_bytes", Number(bytes))]);
    let kept = |which| read.one(&[("cache", Name("kept")), ("which", Name(which))]);
    let (first, later): (MeasuredCell<'_>, MeasuredCell<'_>) = (kept("first")?, kept("later")?);
    let ratio = later.to(&first)?;
    let takes = format!(
        "the first read takes {}, a later one {}",
        words::time(first.median),
        words::time(later.median)
    );
    let answer = match ratio.difference() {
        // The first one is in the denominator's place: slower means that later ones are faster.
        Difference::Slower => format!("Yes, {}: {takes}.", words::speed(&ratio)),
        Difference::Faster => format!("No, later reads are slower: {takes}."),
        Difference::NoInterval => format!("Too few rounds to tell: {takes}."),
        _ => format!("No difference detected: {takes}."),
    };
    let mut evidence = vec![first.id(), later.id()];
    let cache = cache_alone(&read, &mut evidence).unwrap_or_default();
    let question = format!("Is a file of {} faster to read again?", words::bytes(bytes));
    Some(LabAnswer::of_ratio(question, answer + &cache, &ratio, evidence))
}

/// The first read of a process pays for more than an empty cache: for the program's own first times. So the effect of the
/// cache alone is told from later reads, of which each found the file cached or evicted.
fn cache_alone(read: &Cells<'_>, evidence: &mut Vec<String>) -> Option<String> {
    let later = read.with(&[("which", Name("later")), ("buffer", Name("fresh"))]);
    let in_state = |cache| later.one(&[("cache", Name(cache))]);
    let (warm, evicted) = (in_state("warm")?, in_state("evicted")?);
    let ratio = warm.to(&evicted)?;
    evidence.extend([warm.id(), evicted.id()]);
    Some(format!(
        " The first read of a process also includes the program's own one-time costs. Of the later reads, one of the evicted \
         file takes {} and one of the cached file {}: {}.",
        words::time(evicted.median),
        words::time(warm.median),
        words::speed(&ratio)
    ))
}
