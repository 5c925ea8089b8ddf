//! Pages from saved results, each alone or several on one page: what a document holds is read back, summarised and shown
//! as a live run shows it.

mod doubts;
mod lines;
mod listing;
mod profile;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

use hotset_analysis::bench::{BenchSummary, summarise_bench};
use hotset_analysis::replay::summarise_replay;
use hotset_analysis::{Summary, summarise};
use hotset_facts::LabSession;

pub use crate::wire::{Document, ReadError, documents};
pub use profile::{profile_page, write_profile_html};

use crate::bench::{bench_beside, bench_page};
use crate::diff::difference_page;
use crate::escape::escape_text;
use crate::explain::explained_page;
use crate::fleet::fleet_page;
use crate::lab::{self, LabResult, Named};
use crate::page::Page;
use crate::replay::replay_page;
use crate::size::{size_beside, size_page};
use crate::wire::{self, ProfileDocument, SizeDocument, StatRecord};
use lines::Recording;

/// A file with results.
#[derive(Debug, Clone)]
pub struct ResultFile<'a> {
    /// What a reader calls it, and what an error names.
    pub name: &'a str,
    /// What it holds.
    pub contents: Contents<'a>,
}

/// What a file with results holds.
#[derive(Debug, Clone)]
pub enum Contents<'a> {
    /// Documents that are read here.
    Documents(&'a [u8]),
    /// A page made elsewhere: a trace is too large to be read at once.
    Page(Page),
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultError {
    /// Which file.
    pub file: String,
    /// What about it.
    pub error: ReadError,
}

impl fmt::Display for ResultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.error)
    }
}

impl std::error::Error for ResultError {}

/// Makes numbers, answers and charts of a session; an error says why its experiment can't be shown.
pub type Present<'a> = &'a dyn Fn(LabSession) -> Result<LabResult, String>;

/// What was found in the files, in their order.
#[derive(Default)]
struct Found {
    labs: Vec<(String, LabResult)>,
    benches: Vec<(String, BenchSummary)>,
    profiles: Vec<(String, String, Summary)>,
    stats: Vec<(String, Vec<StatRecord>)>,
    needs: Vec<(String, String, SizeDocument)>,
    others: Vec<(String, Page)>,
}

/// The page of all results: experiments first, in the order in which they come, runs of the same one beside each other; then
/// benchmarks, then profiles.
///
/// # Errors
/// The file, the place in it, and what would be right.
pub fn results_page<'a>(
    files: impl IntoIterator<Item = ResultFile<'a>>,
    present: Present<'_>,
) -> Result<Page, ResultError> {
    let mut found = Found::default();
    for file in files {
        let wrong = |error| ResultError { file: file.name.to_owned(), error };
        let bytes = match file.contents {
            Contents::Documents(bytes) => bytes,
            Contents::Page(page) => {
                found.others.push((file.name.to_owned(), page));
                continue;
            }
        };
        if let Some(page) = recording(bytes) {
            found.others.push((file.name.to_owned(), page.map_err(wrong)?));
            continue;
        }
        let all = documents(bytes).map_err(wrong)?;
        let several = all.len() > 1;
        for (at, document) in all.iter().enumerate() {
            found.take(file.name, document, present).map_err(|error| {
                let error =
                    if several { error.inside(&format!("result {}", at + 1)) } else { error };
                ResultError { file: file.name.to_owned(), error }
            })?;
        }
    }
    let mut parts = found.pages();
    match parts.len() {
        1 => Ok(parts.remove(0)),
        _ => Ok(Page::of_parts("hotset report", parts)),
    }
}

impl Found {
    fn take(
        &mut self,
        name: &str,
        document: &Document<'_>,
        present: Present<'_>,
    ) -> Result<(), ReadError> {
        match document.schema.as_ref() {
            wire::lab::SCHEMA => {
                let session = wire::read_lab(document)?;
                let experiment = session.experiment.clone();
                let result = present(session).map_err(|why| ReadError::at("experiment", why))?;
                let same = self.labs.iter();
                let same = same.filter(|(_, one)| one.summary.session.experiment == experiment);
                let name = unique(name, same.map(|(name, _)| name.as_str()));
                self.labs.push((name, result));
            }
            wire::bench::SCHEMA => {
                let bench = summarise_bench(wire::read_bench(document)?);
                let name = unique(name, self.benches.iter().map(|(name, _)| name.as_str()));
                self.benches.push((name, bench));
            }
            wire::profile::SCHEMA => {
                let ProfileDocument { version, profile, costs, gate } =
                    wire::read_profile(document)?;
                let name = unique(name, self.profiles.iter().map(|(name, ..)| name.as_str()));
                self.profiles.push((name, version, summarise(profile, costs, gate)));
            }
            wire::stat::SCHEMA => {
                let line = wire::read_stat(document)?;
                match self.stats.iter_mut().find(|(file, _)| file == name) {
                    Some((_, lines)) => lines.push(line),
                    None => self.stats.push((name.to_owned(), vec![line])),
                }
            }
            wire::size::SCHEMA => {
                let need = wire::read_size(document)?;
                let name = unique(name, self.needs.iter().map(|(name, ..)| name.as_str()));
                self.needs.push((name, document.hotset.clone().into_owned(), need));
            }
            other => match own_page(document)? {
                Some(page) => self.others.push((name.to_owned(), page)),
                None => {
                    let text = format!("\"{other}\" can't be shown; expected one of {}", known());
                    return Err(ReadError::at("schema", text));
                }
            },
        }
        Ok(())
    }

    fn pages(self) -> Vec<Page> {
        let runs: Vec<Named<'_>> =
            self.labs.iter().map(|(name, result)| Named { name, result }).collect();
        let mut pages = lab::lab_pages(&runs);
        let others = self.stats.len() + self.needs.len() + self.others.len();
        let several = pages.len() + self.benches.len() + self.profiles.len() + others > 1;
        let named = |name: &str, page: Page| match several {
            true => {
                let name = escape_text(name);
                Page { title: format!("{name}: {}", page.title), name, ..page }
            }
            false => page,
        };
        if self.benches.len() > 1 {
            let all: Vec<_> = self.benches.iter().map(|(name, it)| (name.as_str(), it)).collect();
            pages.push(bench_beside(&all));
        }
        pages.extend(self.benches.iter().map(|(name, it)| named(name, bench_page(it))));
        pages.extend(profile::beside(&self.profiles));
        let runs = self.profiles.iter();
        pages.extend(runs.map(|(name, version, it)| named(name, profile_page(version, it))));
        let stats = self.stats.iter();
        pages.extend(stats.map(|(name, lines)| named(name, lines::stat_page(lines))));
        if self.needs.len() > 1 {
            let all = self.needs.iter().map(|(name, _, need)| (name.as_str(), need.trace()));
            pages.push(size_beside(&all.collect::<Vec<_>>()));
        }
        let needs = self.needs.iter();
        pages.extend(
            needs.map(|(name, version, it)| {
                named(name, size_page(version, &it.trace(), &it.caveats))
            }),
        );
        pages.extend(self.others.into_iter().map(|(name, page)| named(&name, page)));
        pages
    }
}

/// The page of a document that is shown by itself, if its format is one of these.
fn own_page(document: &Document<'_>) -> Result<Option<Page>, ReadError> {
    Ok(Some(match document.schema.as_ref() {
        wire::replay::SCHEMA => replay_page(&summarise_replay(wire::read_replay(document)?)),
        wire::explanation::SCHEMA => {
            explained_page(&document.hotset, &wire::read_explanation(document)?.trace())
        }
        wire::diff::SCHEMA => difference_page(&document.hotset, &wire::read_diff(document)?),
        wire::fleet::SCHEMA => fleet_page(&document.hotset, &wire::read_fleet(document)?),
        _ => return text::text_page(document),
    }))
}

/// The page of a recording, if the bytes begin with the header of one. As in a replay, a last line without an end may be half
/// an interval.
fn recording(bytes: &[u8]) -> Option<Result<Page, ReadError>> {
    let mut lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).peekable();
    let header = wire::top::read_header(lines.next()?).ok()?;
    let mut recording = Recording { header, frames: Vec::new(), cut: false };
    let mut number = 2;
    while let Some(line) = lines.next() {
        match wire::top::read_interval(line) {
            Ok(frame) => recording.frames.push(frame),
            Err(_) if lines.peek().is_none() && !bytes.ends_with(b"\n") => recording.cut = true,
            Err(text) => return Some(Err(ReadError::at(format!("line {number}"), text))),
        }
        number += 1;
    }
    Some(Ok(lines::recording_page(&recording)))
}

/// The formats that have a page.
fn known() -> String {
    [
        wire::lab::SCHEMA,
        wire::bench::SCHEMA,
        wire::baseline::SCHEMA,
        wire::lab_baseline::SCHEMA,
        wire::profile::SCHEMA,
        wire::stat::SCHEMA,
        wire::top::SCHEMA,
        wire::control::SCHEMA,
        wire::save::SAVE,
        wire::save::RESTORE,
        wire::doctor::SCHEMA,
        wire::system::SCHEMA,
        wire::residency::SCHEMA,
        wire::replay::SCHEMA,
        wire::explanation::SCHEMA,
        wire::size::SCHEMA,
        wire::diff::SCHEMA,
        wire::fleet::SCHEMA,
    ]
    .join(", ")
}

/// The name, with a number where it is taken.
fn unique<'a>(name: &str, taken: impl Iterator<Item = &'a str>) -> String {
    let taken: Vec<&str> = taken.collect();
    let numbered = (2..).map(|number| format!("{name} ({number})"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !taken.contains(&name.as_str())).unwrap_or_else(|| name.to_owned())
}
