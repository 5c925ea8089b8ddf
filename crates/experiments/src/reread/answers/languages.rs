//! What the cache gains a plain read in other languages.

use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, words};

/// One answer, for the largest file: a read with each language's own function, of the evicted and of the cached file.
pub(super) fn answer(cells: &Cells<'_>) -> Option<LabAnswer> {
    let later = super::of_files(cells).with(&[
        ("what", Name("read")),
        ("which", Name("later")),
        ("buffer", Name("runtime")),
    ]);
    let bytes = *later.numbers("size_bytes").last()?;
    let later = later.with(&[("size_bytes", Number(bytes))]);
    let (mut told, mut sure, mut evidence, mut gains) = (vec![], vec![], vec![], vec![]);
    for reader in later.names("reader") {
        let of_reader = later.named("reader", reader);
        let in_state = |cache| of_reader.one(&[("cache", Name(cache))]);
        let (Some(warm), Some(evicted)) = (in_state("warm"), in_state("evicted")) else { continue };
        let Some(gain) = warm.to(&evicted) else { continue };
        told.push(format!(
            "{reader} {} evicted and {} cached ({})",
            words::time(evicted.median),
            words::time(warm.median),
            words::speed(&gain)
        ));
        sure.push(format!("{reader} {}", hotset_analysis::lab::confidence(&gain)));
        evidence.extend([evicted.id(), warm.id()]);
        gains.push(gain.ratio);
    }
    let (least, most) =
        (gains.iter().copied().reduce(f64::min)?, gains.iter().copied().reduce(f64::max)?);
    let number = match told.len() {
        1 => words::times(least),
        _ => format!("{} to {}", words::times(least), words::times(most)),
    };
    Some(LabAnswer {
        question: format!(
            "How much does the cache gain a plain read of {} in other languages?",
            words::bytes(bytes)
        ),
        answer: format!("Time of a read: {}.", told.join("; ")),
        number,
        confidence: sure.join("; "),
        evidence,
    })
}
