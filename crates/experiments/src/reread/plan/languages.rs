//! Cells of other languages' runtimes: their plain reads of files, and reading and parsing of documents.

use std::path::Path;

use hotset_facts::{Factor, LabFact};
use hotset_lab::experiment::{
    CellPlan, Contents, Expects, ExperimentPlan, Part, ProbeCommand, Splits, TestFile, name,
};
use hotset_lab::probes::{Language, Probe};
use hotset_sys::rawio::reread::{BufferKind, CacheUse, What};

use super::amounts::Amounts;
use super::cells::Read;
use crate::Request;

/// Whose parsers are shown beside the native ones: those that bring one.
pub(super) const PARSE_LANGUAGES: [Language; 4] =
    [Language::Go, Language::Python, Language::Ruby, Language::Node];

/// The level of `buffer` where the runtime chooses the memory.
const RUNTIME: &str = "runtime";

/// A read warms up with a file of this size.
const PRIME_BYTES: u64 = 64 << 10;

/// What a probe does with a file, again and again.
pub(super) struct Program<'a> {
    pub(super) probe: &'a Probe,
    pub(super) job: &'static str,
    pub(super) read: Read<'a>,
    /// Read, and parsed, in the same way before the first timed part of a process whose file is evicted: its own first times
    /// would be counted for the cache otherwise.
    pub(super) prime: &'a Path,
}

impl Program<'_> {
    /// Its cell. A probe can't evict its file, so that an evicted one is read once by each process. Device bytes are those of
    /// the whole process, which loads the runtime too: nothing is asked of them where the file is cached.
    pub(super) fn cell(&self, factors: Vec<Factor>) -> CellPlan {
        let read = &self.read;
        let evicted = read.cache == CacheUse::Evicted;
        let count = if evicted { 1 } else { read.count };
        let mut words = vec![("file", read.path.into()), ("count", count.to_string().into())];
        if self.job == "parse" {
            words.push(("what", read.what.as_str().into()));
        }
        if evicted {
            words.push(("prime", self.prime.into()));
        }
        let argv = self.probe.argv(self.job, &words);
        let mut cell = CellPlan::new(factors, read.state(), ProbeCommand::Program { argv });
        cell.count_calls = false;
        cell.expects.operations = Some(u64::from(count));
        if read.what.reads() {
            cell.files = vec![read.path.to_owned()];
            cell.expects.bytes = Some(read.bytes * u64::from(count));
        }
        let parts = match evicted {
            true => {
                // System time is the runtime's too, and says nothing of the pages.
                let cold = Expects { inserted_pages: None, ..Expects::cold(read.bytes) };
                vec![Part { from: 0, ..Part::later(cold) }]
            }
            false => [Part::first, Part::later, Part::later_mean]
                .map(|part| part(Expects::default()))
                .to_vec(),
        };
        cell.splits = Splits::Parts(parts);
        cell
    }

    /// The factors, with the memory that the runtime chooses.
    pub(super) fn factors(&self, parser: &str) -> Vec<Factor> {
        let mut factors = self.read.factors(parser);
        for factor in factors.iter_mut().filter(|factor| factor.name == "buffer") {
            *factor = name("buffer", RUNTIME);
        }
        factors
    }
}

/// Adds a plain read of every file in each language that the host has, cached and evicted.
pub(super) fn add_reads(
    plan: &mut ExperimentPlan,
    request: &Request,
    amounts: &Amounts,
    probes: &[Probe],
) {
    let prime = request.path("prime");
    let readers = || probes.iter().filter(|probe| probe.can("read:binary"));
    for (file, probe) in
        amounts.files(request).iter().flat_map(|file| readers().map(move |probe| (file, probe)))
    {
        for cache in [CacheUse::Warm, CacheUse::Evicted] {
            let read = Read {
                path: &file.path,
                what: What::Read,
                contents: file.contents,
                bytes: file.bytes,
                cache,
                buffer: BufferKind::Fresh,
                count: amounts.count_of_program(file.bytes),
                pause: amounts.pause,
            };
            let program = Program { probe, job: "read", read, prime: &prime };
            let mut factors = program.factors("none");
            factors.push(name("reader", probe.name.clone()));
            plan.cells.push(program.cell(factors));
        }
    }
    if readers().next().is_some() {
        let contents = Contents::Pattern { bytes: PRIME_BYTES };
        plan.prepare.push(TestFile { path: prime, contents });
        let counts = amounts.files(request).into_iter().map(|file| {
            (file.bytes, amounts.count_of_program(file.bytes), amounts.count(file.bytes))
        });
        plan.facts.extend(counts.filter(|(_, own, native)| own != native).map(
            |(bytes, own, _)| {
                let what = format!("reads in a process of another language of {bytes} bytes");
                LabFact::new(what, u64::from(own))
            },
        ));
    }
    plan.facts
        .extend(readers().map(|probe| LabFact::new(probe.name.clone(), probe.version.clone())));
}
