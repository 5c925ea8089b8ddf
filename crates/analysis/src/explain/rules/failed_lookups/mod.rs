//! Paths that are looked up in vain before one is found: a search path in the wrong order, or too long.
//!
//! What it does: sums the time of failed lookups in directories that are part of a search: the same names are asked for in other
//! directories too.
//! Why: a failed open takes 0.8 µs here and a round trip on a network file system; a search makes dozens of them.
//! Advice: leave out directories that never hold anything, move the one with most of it to the front, or keep what was found.
//! False positives: files that a program probes for in each directory (.gitignore), which no order of a path changes.

mod directories;

use std::borrow::Cow;
use std::path::PathBuf;

use hotset_facts::trace::OperationClass;
use hotset_facts::units;

use super::{Answer, ExplainRule, Watch};
use crate::Evidence;
use crate::explain::blame::Blame;
use crate::explain::end::{Draft, End, Proof};
use crate::explain::how::Way;
use crate::explain::seen::Seen;
use crate::trace::RequestKind;
use directories::Directories;

/// Own time between two tries of a search that is taken for its work: paths are put together in microseconds.
const MAX_OWN_NS: u64 = 20_000;

/// The rule as it is registered.
pub(super) const RULE: ExplainRule = ExplainRule {
    id: "failed-lookups",
    classes: &[OperationClass::Open, OperationClass::Lookup],
    watch: || Box::new(FailedLookups::default()),
};

#[derive(Default)]
struct FailedLookups {
    directories: Directories,
    blame: Blame,
    found: u64,
}

impl Watch for FailedLookups {
    fn see(&mut self, seen: &Seen<'_>) {
        let Some(path) = seen.record.path.and_then(|path| seen.batch.path(path)) else { return };
        if seen.kind == RequestKind::FailedLookup {
            self.blame.count(seen.record, seen.ns);
            let tried = seen.before.is_some_and(|before| before.path.is_some());
            let own_ns = if tried && seen.own_ns <= MAX_OWN_NS { seen.own_ns } else { 0 };
            self.directories.failed(path, seen.ns, own_ns);
        } else if seen.record.result.is_some_and(|result| result >= 0) {
            self.found += 1;
            self.directories.found(path);
        }
    }

    fn finish(&self, end: &End<'_>) -> Answer<'_> {
        end.times()?;
        let searched = self.directories.searched();
        if searched.failed == 0 {
            return Ok(None);
        }
        let tries = searched.failed as f64 / searched.found.max(1) as f64;
        let mut title = match searched.found {
            0 => format!("{} lookups in a search path find nothing", units::count(searched.failed)),
            _ => format!("{} lookups fail for each that finds a file", units::real(tries)),
        };
        if searched.silent > 0 {
            let silent = units::count(searched.silent);
            let directories = if searched.silent == 1 { "directory" } else { "directories" };
            title.push_str(&format!("; {silent} {directories} never hold anything"));
        }
        let evidence = vec![
            Evidence::count("failed_calls", self.blame.records),
            Evidence::count("search_failed_calls", searched.failed),
            Evidence::count("search_found_calls", searched.found),
            Evidence::real("failed_per_found_calls", tries),
            Evidence::count("searched_directories", searched.directories),
            Evidence::count("silent_directories", searched.silent),
            Evidence::count("search_failed_ns", searched.failed_ns),
        ];
        Ok(Some(Draft {
            title,
            low_ns: searched.failed_ns,
            high_ns: searched.failed_ns.saturating_add(searched.own_ns),
            evidence,
            blame: &self.blame,
            files: Some(searched.worst),
            proof: Proof::Replay(&["known-paths"]),
            way: Way::KnowPaths,
            advice: advice(searched.best),
            risks: Some(
                "A file that appears later in a directory that is not searched any more is not found.",
            ),
        }))
    }
}

/// What to do, and which directory has most of the results.
fn advice(best: Option<(PathBuf, f64)>) -> Cow<'static, str> {
    let general = "Remove directories in which nothing is found from the search path (PATH, PYTHONPATH, LD_LIBRARY_PATH, -I), move \
                   the one with most results to the front, or cache resolved paths.";
    let Some((path, share)) = best else { return general.into() };
    // It comes from a recording, and is shown on terminals.
    let path: String = path.to_string_lossy().chars().filter(|c| !c.is_control()).collect();
    format!("{general} Most results, {}, are in {path}.", units::percent(share)).into()
}

#[cfg(test)]
mod tests {
    use crate::explain::testing::{Script, US};
    use hotset_facts::trace::Operation;

    const ENOENT: i64 = -2;

    fn search(modules: u32, ns: u64) -> Script {
        let mut script = Script::new();
        for module in 0..modules {
            for directory in ["/opt/a", "/opt/b", "/usr/lib/python"] {
                let result = if directory.ends_with("python") { 3 } else { ENOENT };
                script.path(Operation::Openat, &format!("{directory}/m{module}.py"), result, ns);
                script.own(US);
            }
            script.own(50 * US);
        }
        script
    }

    #[test]
    fn a_search_path_names_its_silent_directories_and_tries() {
        let finding = search(500, 2 * US).finding("failed-lookups");
        let title =
            "2.00 lookups fail for each that finds a file; 2 directories never hold anything";
        assert_eq!(finding.title, title);
        assert_eq!(finding.changes, ["known-paths"]);
        let most = "Most results, 100 %, are in /usr/lib/python.";
        assert!(finding.advice.ends_with(most), "{}", finding.advice);
        let directories: Vec<_> =
            finding.files.iter().filter_map(|file| file.path.clone()).collect();
        assert_eq!(directories, [std::path::Path::new("/opt/a"), "/opt/b".as_ref()]);
        // 1,000 failures of 2 µs, and 1 µs between the first and the second of each.
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (2_000_000, 2_500_000));
    }

    #[test]
    fn files_that_are_probed_for_in_each_directory_are_no_search() {
        let mut script = Script::new();
        for directory in 0..2_000 {
            for name in [".git", ".gitignore", ".gitattributes"] {
                script.path(Operation::Openat, &format!("/src/{directory}/{name}"), ENOENT, 5 * US);
            }
            script.path(Operation::Openat, &format!("/src/{directory}/main.c"), 3, 5 * US);
        }
        script.clear("failed-lookups");
    }

    #[test]
    fn a_pause_between_tries_is_not_their_work() {
        let mut script = search(500, 20 * US);
        let mut shift = 0;
        for record in script.records() {
            shift += 30 * US;
            record.start_ns += shift;
        }
        let saving = script.finding("failed-lookups").saving;
        assert_eq!(saving.low_ns, saving.high_ns);
    }
}
