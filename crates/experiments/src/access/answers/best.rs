//! The best method for each order, and by how much over the next.

use hotset_analysis::bench::Difference;
use hotset_analysis::lab::ConstLevel::{self, Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, confidence, words};

const COLD: (&str, ConstLevel) = ("state", Name("cold"));
const WARM: (&str, ConstLevel) = ("state", Name("warm"));
const LARGE: (&str, ConstLevel) = ("folios", Name("large"));

/// More than so many times what was read is read-ahead, or whole pages for small blocks.
const MUCH_MORE: f64 = 2.0;

/// An answer for each size of block and state.
pub(super) fn of(all: &Cells<'_>) -> Vec<LabAnswer> {
    let mut answers = Vec::new();
    for (state, wanted) in [("warm", &[WARM, LARGE][..]), ("cold", &[COLD][..])] {
        let cells = all.with(wanted);
        for block in cells.numbers("block_bytes") {
            let own = cells.with(&[("block_bytes", Number(block))]);
            answers.extend(one(&own, block, state));
        }
    }
    answers
}

/// The fastest of an order by its median, and the others, the fastest first. All are compared in the rounds that chose the
/// first: its lead over the next one is a little flattered by that, and who is first holds only against those whose
/// intervals say so.
struct Won<'a> {
    order: &'a str,
    first: MeasuredCell<'a>,
    next: MeasuredCell<'a>,
    others: Vec<MeasuredCell<'a>>,
}

fn one(cells: &Cells<'_>, block: u64, state: &str) -> Option<LabAnswer> {
    let won: Vec<Won<'_>> = cells
        .names("order")
        .into_iter()
        .filter_map(|order| {
            let mut own = cells.named("order", order).all().to_vec();
            own.sort_by(|a, b| a.median.total_cmp(&b.median));
            let (first, others) = own.split_first()?;
            Some(Won { order, first: *first, next: *others.first()?, others: others.to_vec() })
        })
        .collect();
    let number = words::time(won.last()?.first.median);
    let last = won.last()?.order;
    let sentences: Vec<String> = won.iter().map(sentence).collect();
    let intervals: Vec<String> = won
        .iter()
        .map(|won| match won.first.to(&won.next) {
            Some(ratio) => {
                let (best, next) = (method(&won.first), method(&won.next));
                format!("{}, time of {next} / {best}: {}", won.order, confidence(&ratio))
            }
            None => format!("{}: no round has valid samples of both", won.order),
        })
        .collect();
    Some(LabAnswer {
        question: format!(
            "Which method reads {} at a time fastest from a {state} cache?",
            words::bytes(block)
        ),
        answer: sentences.join(" "),
        number: format!("{number} per read, {last}"),
        confidence: intervals.join("; "),
        evidence: won
            .iter()
            .flat_map(|won| std::iter::once(&won.first).chain(&won.others).map(MeasuredCell::id))
            .collect(),
    })
}

fn sentence(won: &Won<'_>) -> String {
    let Won { order, first, next, others } = won;
    let (best, other) = (method(first), method(next));
    let time = words::time(first.median);
    let name = capitalised(order);
    let ratio = first.to(next);
    let Some(ratio) = ratio.filter(|ratio| ratio.interval.is_some()) else {
        return format!(
            "{name}: {best} takes the least, {time} per read, then {other}; too few rounds to tell them apart."
        );
    };
    let is_apart = |one: &&MeasuredCell<'_>| {
        first.to(one).is_some_and(|ratio| ratio.difference() == Difference::Slower)
    };
    let close: Vec<String> = others.iter().filter(|other| !is_apart(other)).map(method).collect();
    match close.as_slice() {
        [] => format!(
            "{name}: {best} takes {time} per read, {} than {other}, the next{}.",
            words::speed(&ratio),
            read_more(first)
        ),
        close => format!(
            "{name}: {best} takes {time} per read, but no difference from {} was detected{}.",
            close.join(" or "),
            read_more(first)
        ),
    }
}

/// That read-ahead brought in much more than was read: what is fast where it soon has the whole file is not fast in a larger one.
fn read_more(first: &MeasuredCell<'_>) -> String {
    match (first.numbers.bytes, first.numbers.device_read_bytes) {
        (Some(bytes), Some(device)) if device > MUCH_MORE * bytes => format!(
            "; the kernel read {} from the device for the {} requested, so in a larger file, or with fewer reads, this may differ",
            words::bytes(device as u64),
            words::bytes(bytes as u64)
        ),
        _ => String::new(),
    }
}

fn method(one: &MeasuredCell<'_>) -> String {
    one.cell.name("method").unwrap_or("unnamed").to_owned()
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// What small folios cost where every page is cached.
pub(super) fn folios(all: &Cells<'_>) -> Option<LabAnswer> {
    let (small, large) = (all.with(&[("folios", Name("small"))]), all.with(&[LARGE]));
    let mut found = Vec::new();
    for slow in small.all() {
        let factors = ["method", "order", "block_bytes"].iter();
        let is_like = |one: &&MeasuredCell<'_>| {
            factors.clone().all(|factor| one.cell.level(factor) == slow.cell.level(factor))
        };
        let fast = large.all().iter().find(is_like);
        found.extend(fast.and_then(|fast| Some((*slow, *fast, fast.to(slow)?))));
    }
    found.sort_by(|a, b| b.2.ratio.total_cmp(&a.2.ratio));
    let (slow, fast, ratio) = found.first()?;
    let each: Vec<String> = found
        .iter()
        .map(|(slow, fast, ratio)| {
            let order = slow.cell.name("order").unwrap_or("unnamed");
            format!(
                "{} {order} {} ({} and {})",
                method(slow),
                words::times(ratio.ratio),
                words::time(slow.median),
                words::time(fast.median)
            )
        })
        .collect();
    let answer = format!(
        "Time of one read from single-page folios relative to the same read from large folios: {}.",
        each.join(", ")
    );
    let question = "Does it matter how a fully cached file was read into the cache?";
    Some(LabAnswer::of_ratio(question, answer, ratio, vec![slow.id(), fast.id()]))
}
