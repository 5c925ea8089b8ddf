//! The plan of `lab reread`: a file read again, through the cache, without it and beside it, into several kinds of memory;
//! and documents that are parsed, read, and both.

mod amounts;
mod cells;
mod document;
mod languages;
mod own;
mod parse;
#[cfg(test)]
mod tests;

use hotset_facts::LabFact;
use hotset_lab::experiment::{CellPlan, Contents, ExperimentPlan, TestFile};
use hotset_lab::probes::Probe;
use hotset_sys::rawio::reread::{BufferKind, CacheUse, What};

use crate::Request;

use self::amounts::{Amounts, ReadFile};
use self::cells::{OWN, Read, memory_cell, read_cell};
#[cfg(test)]
pub(super) use self::document::document;
pub(super) use self::parse::NATIVE_PARSERS;

/// What a read of a file must be large for to be taken apart: smaller ones are over before memory matters.
const PARTS_FROM_BYTES: u64 = 1 << 20;

/// What a huge page spans with base pages of 4 KiB.
const HUGE_BYTES: u64 = 2 << 20;

/// Makes the plan. The parsers of other languages are those that the host has.
///
/// # Errors
/// Where what was asked for can't be measured.
pub(super) fn plan(request: &Request) -> Result<ExperimentPlan, String> {
    let amounts = Amounts::of(request)?;
    let languages = request.languages()?;
    let (probes, missing) =
        request.probes_beside_native(&languages, "reads and parsers of other languages")?;
    let mut plan = native(request, &amounts);
    plan.skipped.extend(missing);
    languages::add_reads(&mut plan, request, &amounts, &probes);
    let parses = |probe: &Probe| languages::PARSE_LANGUAGES.contains(&probe.language);
    let parsers: Vec<Probe> = probes.into_iter().filter(parses).collect();
    parse::add(&mut plan, request, &amounts, &parsers);
    plan.facts.push(LabFact::new("transparent huge pages", huge_pages()));
    Ok(plan)
}

/// Files and memory.
fn native(request: &Request, amounts: &Amounts) -> ExperimentPlan {
    let mut plan = ExperimentPlan::new(super::NAME, request.size, amounts.rounds);
    for bytes in amounts.sizes_bytes.iter().filter(|&&bytes| amounts.too_large(bytes)) {
        let why = "too large: twice the size must fit into half of this host's memory";
        plan.skip(format!("{bytes} bytes"), why);
    }
    for file in amounts.files(request) {
        add_file(&mut plan, request, amounts, &file);
    }
    plan.add_twin(|_| true);
    plan
}

fn add_file(plan: &mut ExperimentPlan, request: &Request, amounts: &Amounts, file: &ReadFile) {
    let ReadFile { ref path, bytes, contents } = *file;
    let count = amounts.count(bytes);
    plan.facts.push(LabFact::new(format!("reads in a process of {bytes} bytes"), u64::from(count)));
    let mut place = request.place.clone();
    if contents == OWN {
        plan.facts.push(LabFact::new("file", path.display().to_string()));
        place = place.reading(path);
    } else {
        let contents = Contents::Pattern { bytes };
        plan.prepare.push(TestFile { path: path.clone(), contents });
    }
    for (cache, buffer) in reads(amounts, bytes, place.direct.is_ok()) {
        let (what, pause) = (What::Read, amounts.pause);
        let read = Read { path, what, contents, bytes, cache, buffer, count, pause };
        plan.cells.push(read_cell(&read));
    }
    plan.cells.extend(memory(file, count));
    if let Err(why) = &place.direct
        && !plan.skipped.iter().any(|left| left.what == "O_DIRECT")
    {
        let what = if contents == OWN { path } else { &place.directory };
        plan.skip("O_DIRECT", format!("unsupported in {}: {why}", what.display()));
    }
}

/// How a file of this size is read.
fn reads(amounts: &Amounts, bytes: u64, direct: bool) -> Vec<(CacheUse, BufferKind)> {
    use BufferKind::{Fresh, Huge, Mmap, MmapPopulate, Reused};
    use CacheUse::{Direct, Evicted, Kept, Warm};
    if amounts.is_quick {
        let mut reads = vec![(Warm, Fresh), (Kept, Fresh), (Evicted, Fresh)];
        if bytes >= PARTS_FROM_BYTES {
            reads.extend([(Warm, Reused), (Warm, Mmap), (Evicted, Reused)]);
            reads.extend((bytes >= HUGE_BYTES).then_some((Warm, Huge)));
            reads.extend(direct.then_some((Direct, Fresh)));
        }
        return reads;
    }
    let mut reads = vec![
        (Warm, Fresh),
        (Warm, Reused),
        (Warm, Mmap),
        (Warm, MmapPopulate),
        (Kept, Fresh),
        (Evicted, Fresh),
        (Evicted, Reused),
    ];
    if bytes >= HUGE_BYTES {
        reads.push((Warm, Huge));
    }
    if direct {
        reads.extend([(Direct, Fresh), (Direct, Reused)]);
    }
    reads
}

/// What a read into fresh memory holds beside the copy, each alone.
fn memory(file: &ReadFile, count: u32) -> Vec<CellPlan> {
    use BufferKind::{Fresh, Huge, Reused};
    if file.bytes < PARTS_FROM_BYTES {
        return Vec::new();
    }
    let mut parts = vec![(What::Touch, Fresh), (What::Release, Fresh), (What::Zero, Reused)];
    if file.bytes >= HUGE_BYTES {
        parts.push((What::Touch, Huge));
    }
    parts.into_iter().map(|(what, buffer)| memory_cell(file, what, buffer, count)).collect()
}

/// The system's setting, which decides whether fresh memory comes in huge pages unasked.
fn huge_pages() -> String {
    let said = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
    let chosen = said.ok().and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        rest.split_once(']').map(|(word, _)| word.to_owned())
    });
    chosen.unwrap_or_else(|| "not in this kernel".to_owned())
}
