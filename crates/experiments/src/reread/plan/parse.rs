//! Cells of documents that are parsed.

use hotset_facts::LabFact;
use hotset_lab::experiment::{Contents, ExperimentPlan, TestFile};
use hotset_lab::probes::Probe;
use hotset_sys::rawio::reread::{BufferKind, CacheUse, What};

use crate::Request;

use super::amounts::Amounts;
use super::cells::{Read, parse_cell, read_cell};
use super::document::document;
use super::languages::Program;

/// The parsers of this binary by the names of the factor's levels, the slow one first.
pub(crate) const NATIVE_PARSERS: [&str; 2] = ["serde_json", "simd-json"];

/// Other parsers warm up with a document of this size.
const PRIME_BYTES: usize = 145 << 10;

/// Adds the documents, and reading, parsing and both for each.
pub(super) fn add(
    plan: &mut ExperimentPlan,
    request: &Request,
    amounts: &Amounts,
    parsers: &[Probe],
) {
    let parsers: Vec<&Probe> = parsers.iter().filter(|probe| probe.can("parse")).collect();
    let prime = request.path("prime.json");
    for (path, bytes) in documents(plan, request, amounts) {
        let count = amounts.parses(bytes);
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
        for probe in &parsers {
            let parse = read(What::Parse, CacheUse::Warm);
            let reads = both.map(|cache| read(What::ReadParse, cache));
            for read in std::iter::once(parse).chain(reads) {
                let program = Program { probe, job: "parse", read, prime: &prime };
                plan.cells.push(program.cell(program.factors(&level(probe))));
            }
        }
    }
    if !parsers.is_empty() {
        let contents = Contents::Bytes(document(PRIME_BYTES));
        plan.prepare.push(TestFile { path: prime, contents });
    }
    let fact = |probe: &&Probe| LabFact::new(level(probe), probe.version.clone());
    plan.facts.extend(parsers.iter().map(fact));
}

/// The user's own document, or those of the size, which are made.
fn documents(
    plan: &mut ExperimentPlan,
    request: &Request,
    amounts: &Amounts,
) -> Vec<(std::path::PathBuf, u64)> {
    if let Some(own) = &amounts.own_document {
        plan.facts.push(LabFact::new("document", own.path.display().to_string()));
        return vec![(own.path.clone(), own.bytes)];
    }
    let made = amounts.documents_bytes.iter().map(|&bytes| {
        let path = request.path(&format!("document-{bytes}.json"));
        let contents = Contents::Bytes(document(bytes as usize));
        plan.prepare.push(TestFile { path: path.clone(), contents });
        (path, bytes)
    });
    made.collect()
}

/// `python-json`: what the language brings.
fn level(probe: &Probe) -> String {
    format!("{}-json", probe.name)
}
