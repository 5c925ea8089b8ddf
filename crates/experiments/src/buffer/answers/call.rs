//! What one write(2) costs.

use super::{largest, usual_piece};
use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, PairedTime, words};

/// The buffer that is compared with none.
const BUFFER_BYTES: u64 = 4096;

/// The time without a buffer less the time with one of 4096 bytes, divided by the calls that this saves, by rounds. The bytes,
/// the pieces and the pages are the same in both, so that they cancel out. What the buffer itself takes for each piece, a
/// memcpy, does not, and makes the figure too low by some nanoseconds. A call on a file that is there costs more, the larger its
/// folios are: of 16 bytes into 256 KiB, two to four times as much where one write had made the file as where writes of 4 KiB
/// had (ext4, Linux 6.18). So neither figure is that of the call alone.
pub(super) fn answer(written: &Cells<'_>) -> Option<LabAnswer> {
    let cells = written.with(&[("writer", Name("native")), ("sync", Name("none"))]);
    let existing = Cost::of(&cells.with(&[("file", Name("existing"))]));
    let new = Cost::of(&cells.with(&[("file", Name("new"))]));
    let (main, name, other) = match (existing, new) {
        (existing, Some(new)) => (new, "a new file", existing),
        (Some(existing), None) => (existing, "an existing, cached file", None),
        (None, None) => return None,
    };
    let mut answer = format!(
        "{} per call of {} into {name}, from the difference between {} calls and {} for {}",
        words::time(main.time.ns),
        words::bytes(main.piece),
        main.calls.0,
        main.calls.1,
        words::bytes(main.total)
    );
    let mut evidence = main.evidence.clone();
    if let Some(existing) = other {
        answer.push_str(&format!(
            "; {} into an existing, cached file, in folios as large as the single write that created it allowed",
            words::time(existing.time.ns)
        ));
        evidence.extend(existing.evidence);
    }
    answer.push('.');
    Some(LabAnswer {
        question: "What does one write(2) cost?".to_owned(),
        answer,
        number: words::time(main.time.ns),
        confidence: main.time.confidence,
        evidence,
    })
}

struct Cost {
    time: PairedTime,
    total: u64,
    piece: u64,
    /// Without the buffer, and with it.
    calls: (u64, u64),
    evidence: Vec<String>,
}

impl Cost {
    fn of(cells: &Cells<'_>) -> Option<Self> {
        // The largest file that was written without a buffer too.
        let unbuffered = cells.with(&[("buffer_bytes", Number(0))]);
        let (_, usual) = usual_piece(&unbuffered)?;
        let (total, _) = largest(&usual)?;
        let (piece, _) = usual_piece(&usual)?;
        let one = |buffer| {
            cells.one(&[
                ("total_bytes", Number(total)),
                ("piece_bytes", Number(piece)),
                ("buffer_bytes", Number(buffer)),
            ])
        };
        let (none, buffered) = (one(0)?, one(BUFFER_BYTES)?);
        // Samples with other counts don't count.
        let calls = (total.div_ceil(piece), total.div_ceil(piece.max(BUFFER_BYTES)));
        let saved = calls.0.checked_sub(calls.1).filter(|&saved| saved > 0)?;
        let time = none.paired_with(&buffered, |without, with| (without - with) / saved as f64)?;
        Some(Self { time, total, piece, calls, evidence: vec![none.id(), buffered.id()] })
    }
}
