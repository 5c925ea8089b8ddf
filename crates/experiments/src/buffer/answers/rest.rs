//! What remains of the gain with syncs, in small files, and with a buffer that a library was told of and did not take.

use super::{largest, native, usual_piece};
use hotset_analysis::lab::ConstLevel::{Name, Number};
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, confidence, words};

/// A buffer that nearly all of the gain has.
const BUFFER_BYTES: u64 = 4096;

/// The gain of a buffer of 4096 bytes over none (or over the smallest that was measured) with each sync, in the largest file
/// that has the cells.
pub(super) fn synced(written: &Cells<'_>) -> Option<LabAnswer> {
    let cells = written.with(&[("writer", Name("native")), ("file", Name("new"))]);
    let (mut told, mut evidence) = (Vec::new(), Vec::new());
    let mut main = None;
    for (sync, words_of) in
        [("fsync", "an fsync at the end"), ("dsync", "O_DSYNC"), ("none", "no sync")]
    {
        let of_sync = cells.with(&[("sync", Name(sync))]);
        let Some((total, small, large)) = ends(&of_sync) else { continue };
        let Some(ratio) = large.to(&small) else { continue };
        let smallest = small.cell.number("buffer_bytes").unwrap_or(0);
        told.push(format!(
            "with {words_of}, {} in a file of {} ({} instead of {} with {})",
            words::speed(&ratio),
            words::bytes(total),
            words::time(large.median),
            words::time(small.median),
            if smallest == 0 { "no buffer".to_owned() } else { format!("{smallest} B") },
        ));
        evidence.extend([small.id(), large.id()]);
        if sync == "fsync" {
            main = Some(ratio);
        }
    }
    let main = main?;
    let question = "How much does a buffer gain if the data must reach the device?";
    let answer = format!("A buffer of {BUFFER_BYTES} B: {}.", told.join("; "));
    Some(LabAnswer::of_ratio(question, answer, &main, evidence))
}

/// The largest total with a cell of [`BUFFER_BYTES`] and one of a smaller buffer: both, the smallest of these.
fn ends<'a>(cells: &Cells<'a>) -> Option<(u64, MeasuredCell<'a>, MeasuredCell<'a>)> {
    let (_, cells) = usual_piece(cells)?;
    cells.numbers("total_bytes").into_iter().rev().find_map(|total| {
        let with_buffer =
            |buffer| cells.one(&[("total_bytes", Number(total)), ("buffer_bytes", Number(buffer))]);
        // In a file that fits into the buffer, nothing is written before its end either way.
        let large = with_buffer(BUFFER_BYTES).filter(|_| total > BUFFER_BYTES)?;
        let sizes = cells.with(&[("total_bytes", Number(total))]).numbers("buffer_bytes");
        let small = with_buffer(*sizes.first().filter(|&&bytes| bytes < BUFFER_BYTES)?)?;
        Some((total, small, large))
    })
}

/// Making a file against writing the smallest.
pub(super) fn small_files(cells: &Cells<'_>) -> Option<LabAnswer> {
    let opened = cells.one(&[("phase", Name("open+close")), ("file", Name("new"))])?;
    let written = native(&cells.with(&[("phase", Name("write"))]));
    let (_, written) = usual_piece(&written)?;
    let buffered = written.with(&[("buffer_bytes", Number(BUFFER_BYTES))]);
    let smallest =
        buffered.one(&[("total_bytes", Number(*buffered.numbers("total_bytes").first()?))])?;
    let total = smallest.cell.number("total_bytes")?;
    let ratio = smallest.to(&opened)?;
    // The last of the smaller ones: times grow with the size, but for noise.
    let less: Vec<MeasuredCell<'_>> =
        buffered.all().iter().copied().filter(|cell| cell.median < opened.median).collect();
    let until = less.iter().filter_map(|cell| cell.cell.number("total_bytes")).max();
    let until = until.map_or_else(String::new, |bytes| {
        format!(
            " Of the sizes measured, creating the file takes longer than writing it up to {}.",
            words::bytes(bytes)
        )
    });
    Some(LabAnswer {
        question: "Up to which size does creating a file take longer than writing it?".to_owned(),
        answer: format!(
            "Creating and closing an empty file takes {}; writing {} through a buffer takes {}.{until}",
            words::time(opened.median),
            words::bytes(total),
            words::time(smallest.median),
        ),
        number: words::time(opened.median),
        confidence: format!("ratio {}, {}", words::times(ratio.ratio), confidence(&ratio)),
        evidence: std::iter::once(opened.id())
            .chain(buffered.all().iter().map(MeasuredCell::id))
            .collect(),
    })
}

/// What setvbuf(3) without memory makes of the size: shown by the calls that the kernel counted.
pub(super) fn setvbuf(written: &Cells<'_>) -> Option<LabAnswer> {
    let (total, cells) = largest(written)?;
    let (_, cells) = usual_piece(&cells)?;
    let null = cells.with(&[("writer", Name("stdio-null"))]);
    let buffer = *null.numbers("buffer_bytes").last()?;
    let by_writer =
        |writer| cells.one(&[("writer", Name(writer)), ("buffer_bytes", Number(buffer))]);
    let (own, null) = (by_writer("stdio")?, by_writer("stdio-null")?);
    let (own_calls, null_calls) = (own.numbers.syscalls?, null.numbers.syscalls?);
    let each = |calls: f64, picked: &MeasuredCell<'_>| {
        let files = picked.numbers.bytes? / total as f64;
        (files > 0.0).then(|| calls / files)
    };
    let (own_each, null_each) = (each(own_calls, &own)?, each(null_calls, &null)?);
    let ratio = own.to(&null)?;
    let verdict =
        if null_each > own_each { "No, the size is ignored" } else { "Yes, the size is used" };
    Some(LabAnswer {
        question: format!(
            "Does setvbuf(file, NULL, _IOFBF, {buffer}) give a buffer of {}?",
            words::bytes(buffer)
        ),
        answer: format!(
            "{verdict}: a file of {} takes {} write(2) calls, and {} with the program's own buffer. The program's own buffer \
             compared with this one: {}.",
            words::bytes(total),
            words::tally(null_each),
            words::tally(own_each),
            words::speed(&ratio)
        ),
        number: format!("{} calls", words::tally(null_each)),
        confidence: format!("calls are exact counts; time: {}", confidence(&ratio)),
        evidence: vec![null.id(), own.id()],
    })
}
