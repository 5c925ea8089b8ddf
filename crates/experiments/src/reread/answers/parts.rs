//! What a read from the cache consists of.

use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, share_confidence, words};

/// What the parts may come to: beyond a quarter more or less than the whole they were not what the whole consists of, be it
/// that another process disturbed one of the cells, or that the host backs one kind of memory with huge pages.
const FITTING: std::ops::RangeInclusive<f64> = 0.75..=1.25;

/// Where the time of the largest read goes, and what the cache gains with each kind of memory.
///
/// The parts were measured alone and not by differences: the copy is the same read into memory that was touched before;
/// the memory's page faults are touching as much fresh memory; zeroing is in these faults, and is what writing zeros to
/// touched memory takes; giving back is munmap(2) of it. Shares are medians over rounds of part / whole, so their sum shows
/// how well the parts explain the whole.
pub(super) fn answer(cells: &Cells<'_>) -> Option<LabAnswer> {
    let later = super::of_files(cells).with(&[("which", Name("later")), ("parser", Name("none"))]);
    let touched = later.with(&[("what", Name("touch")), ("buffer", Name("fresh"))]);
    let bytes = *touched.numbers("size_bytes").last()?;
    let later = later.with(&[("size_bytes", Number(bytes))]);
    let one = |what, buffer| later.one(&[("what", Name(what)), ("buffer", Name(buffer))]);
    let read = |cache, buffer| {
        later.one(&[("what", Name("read")), ("cache", Name(cache)), ("buffer", Name(buffer))])
    };
    let whole = read("warm", "fresh")?;
    let parts = [
        read("warm", "reused")?,
        one("touch", "fresh")?,
        one("zero", "reused")?,
        one("release", "fresh")?,
    ];
    let [copy, faults, zeroing, release] = shares(&whole, &parts)?;
    let memory = whole.to(&parts[1])?;
    let sum = copy + faults + release;
    let fit = FITTING.contains(&sum);
    let mut answer = sentence(&whole, bytes, [copy, faults, zeroing, release]);
    let mut evidence: Vec<String> = vec![whole.id()];
    evidence.extend(parts.iter().map(MeasuredCell::id));
    others(&read, &mut answer, &mut evidence);
    gains(&read, &mut answer, &mut evidence);
    let mut seen = std::collections::HashSet::new();
    evidence.retain(|id| seen.insert(id.clone()));
    Some(LabAnswer {
        question: format!(
            "Where does the time of reading {} from the cache go, and why does the cache not save more?",
            words::bytes(bytes)
        ),
        answer,
        number: if fit {
            format!("{} for page faults", words::percent(faults))
        } else {
            "unknown: the parts do not add up".to_owned()
        },
        confidence: if fit {
            format!("page faults: {}", share_confidence(&memory))
        } else {
            format!("the parts add up to {} of the whole", words::percent(sum))
        },
        evidence,
    })
}

/// What the whole consists of; where the parts don't fit, that it is unknown.
fn sentence(
    whole: &MeasuredCell<'_>,
    bytes: u64,
    [copy, faults, zeroing, release]: [f64; 4],
) -> String {
    let sum = copy + faults + release;
    let (time, bytes) = (words::time(whole.median), words::bytes(bytes));
    if !FITTING.contains(&sum) {
        return format!(
            "Reading {bytes} from the cache into fresh memory takes {time}. Where that time goes is unknown: the copy, the page \
             faults of that memory and freeing it, measured separately, add up to {} of it.",
            words::percent(sum),
        );
    }
    format!(
        "Of the {time} that reading {bytes} from the cache into fresh memory takes, the copy is {}, the page faults of that \
         memory {} (zeroing alone {}), and freeing it {}. Measured separately, these add up to {} of the whole.",
        words::percent(copy),
        words::percent(faults),
        words::percent(zeroing),
        words::percent(release),
        words::percent(sum),
    )
}

/// A read of the size in question, by what was cached and into which memory.
type Read<'a, 'b> = &'a dyn Fn(&'static str, &'static str) -> Option<MeasuredCell<'b>>;

/// The same read from the cache, with other memory.
fn others(read: Read<'_, '_>, answer: &mut String, evidence: &mut Vec<String>) {
    let mut told = Vec::new();
    for (name, buffer) in [
        ("into memory used before", "reused"),
        ("into huge pages", "huge"),
        ("mapped", "mmap"),
        ("mapped and populated", "mmap-populate"),
    ] {
        let Some(picked) = read("warm", buffer) else { continue };
        told.push(format!("{} {name}", words::time(picked.median)));
        evidence.push(picked.id());
    }
    answer.push_str(&format!(" The same read from the cache takes {}.", told.join(", ")));
    if read("warm", "mmap").is_some() {
        answer.push_str(" Mapped reads touch one word per cache line and copy nothing.");
    }
}

/// What the cache gains, with memory that costs and with memory that doesn't.
fn gains(read: Read<'_, '_>, answer: &mut String, evidence: &mut Vec<String>) {
    for (name, buffer) in [("fresh memory", "fresh"), ("memory used before", "reused")] {
        let Some(warm) = read("warm", buffer) else { continue };
        let Some(evicted) = read("evicted", buffer) else { continue };
        let Some(gain) = warm.to(&evicted) else { continue };
        answer.push_str(&format!(
            " Into {name}, the read takes {} without the cache and {} with it: {}",
            words::time(evicted.median),
            words::time(warm.median),
            words::speed(&gain)
        ));
        evidence.push(evicted.id());
        if let Some(direct) = read("direct", buffer) {
            let time = words::time(direct.median);
            answer.push_str(&format!("; with O_DIRECT it takes {time}"));
            evidence.push(direct.id());
        }
        answer.push('.');
    }
}

fn shares<const N: usize>(
    whole: &MeasuredCell<'_>,
    parts: &[MeasuredCell<'_>; N],
) -> Option<[f64; N]> {
    let mut shares = [0.0; N];
    for (share, part) in shares.iter_mut().zip(parts) {
        *share = whole.to(part)?.ratio;
    }
    Some(shares)
}
