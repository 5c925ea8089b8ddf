//! Cells of documents that are parsed.

use std::path::Path;

use hotset_facts::{LabFact, WantedState};
use hotset_lab::experiment::{
    CellPlan, Contents, Expects, ExperimentPlan, Part, ProbeCommand, Splits, TestFile, name,
};
use hotset_lab::probes::Probe;
use hotset_sys::rawio::reread::{BufferKind, CacheUse, What};

use crate::Request;

use super::amounts::Amounts;
use super::cells::{Read, parse_cell, read_cell};
use super::document::document;

/// The parsers of this binary by the names of the factor's levels, the slow one first.
pub(crate) const NATIVE_PARSERS: [&str; 2] = ["serde_json", "simd-json"];

/// Adds the documents, and reading, parsing and both for each.
pub(super) fn add(
    plan: &mut ExperimentPlan,
    request: &Request,
    amounts: &Amounts,
    parsers: &[Probe],
) {
    for &bytes in &amounts.documents_bytes {
        let path = request.path(&format!("document-{bytes}.json"));
        let contents = Contents::Bytes(document(bytes as usize));
        plan.prepare.push(TestFile { path: path.clone(), contents });
        let count = amounts.count(bytes);
        let read = |what, cache| Read {
            path: &path,
            what,
            contents: "json",
            bytes,
            cache,
            buffer: BufferKind::Reused,
            count,
            pause: amounts.pause,
        };
        let both = [CacheUse::Warm, CacheUse::Evicted];
        plan.cells.extend(both.map(|cache| read_cell(&read(What::Read, cache))));
        for parser in NATIVE_PARSERS {
            plan.cells.push(parse_cell(&read(What::Parse, CacheUse::Warm), parser));
            plan.cells.extend(both.map(|cache| parse_cell(&read(What::ReadParse, cache), parser)));
        }
        for probe in parsers.iter().filter(|probe| probe.can("parse")) {
            for what in [What::Parse, What::ReadParse] {
                plan.cells.push(program_cell(probe, &path, &read(what, CacheUse::Warm)));
            }
        }
    }
    for probe in parsers.iter().filter(|probe| probe.can("parse")) {
        plan.facts.push(LabFact::new(level(probe), probe.version.clone()));
    }
}

/// `python-json`: what the language brings.
fn level(probe: &Probe) -> String {
    format!("{}-json", probe.name)
}

/// A cell of another runtime. Its document was read once before by the probe itself, so only a warm one can be asked for, and
/// its device bytes are those of the whole process, which loads the runtime too: nothing is asked of them.
fn program_cell(probe: &Probe, path: &Path, read: &Read<'_>) -> CellPlan {
    let words = [
        ("file", path.into()),
        ("count", read.count.to_string().into()),
        ("what", read.what.as_str().into()),
    ];
    let argv = probe.argv("parse", &words);
    let mut factors = read.factors(&level(probe));
    for factor in &mut factors {
        if factor.name == "buffer" {
            *factor = name("buffer", "runtime");
        }
    }
    let mut cell = CellPlan::new(factors, read.state(), ProbeCommand::Program { argv });
    cell.count_calls = false;
    if read.state() == WantedState::Warm {
        cell.files = vec![path.to_owned()];
    }
    let parts = [Part::first, Part::later, Part::later_mean];
    cell.splits = Splits::Parts(parts.map(|part| part(Expects::default())).to_vec());
    cell
}
