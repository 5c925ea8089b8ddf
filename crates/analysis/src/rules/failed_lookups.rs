//! Paths asked for in vain: a search path that mostly misses, or files that programs probe for.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::input::ratio;
use super::{Answer, RuleInput};
use crate::{DirectoryLookups, Evidence, Finding};
use hotset_facts::{FileKind, LookupCounters, Observed, Profile, Reason};

pub(super) const ID: &str = "failed-lookups";

/// A finding names at most this many directories.
const NAMED_DIRECTORIES: usize = 5;
/// A directory of a search path is asked for many names that are asked for in other directories too. One that a program
/// probes (.gitignore in each directory, git.mo in each locale) is asked for up to three of them: git asks each directory of
/// a work tree for .git, .gitignore and .gitattributes.
const MIN_SEARCHED_NAMES: usize = 4;

/// The time of failed lookups was measured, so the gate alone decides; a share alone would fire on every program that
/// probes for optional files.
pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    let lookups = input.lookups()?;
    let counters = lookups.counters;
    if counters.failed == 0 {
        return Ok(None);
    }
    let measured_ns = match counters.failed_time_ns {
        Observed::Value(ns) => ns,
        Observed::Missing(reason) => return Err(reason),
    };
    let failed_ns = measured_ns as f64;
    if !input.worth(&input.saving(failed_ns, failed_ns)) {
        return Ok(None);
    }
    let named = lookups.failed_paths.iter().map(|path| path.calls).fold(0, u64::saturating_add);
    if named == 0 {
        return Err(Reason::lost("the paths of the failed lookups"));
    }
    let searched = searched_directories(input.profile);
    let (found, others): (Vec<&DirectoryLookups>, Vec<_>) =
        input.by_directory.iter().partition(|row| searched.contains(row.directory.as_path()));
    let in_search = found.iter().map(|row| row.failed).fold(0, u64::saturating_add);
    let search_ns = failed_ns * ratio(in_search as f64, named as f64);
    let saving = input.saving(search_ns, search_ns);
    let finding = if input.worth(&saving) {
        let (silent, answered): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|row| row.never_answered());
        let mut title = format!("{:.0} % of path lookups fail", percent(&counters));
        if !silent.is_empty() {
            title.push_str(&format!("; no successful open in {}", directories(silent.len())));
        }
        let mut evidence = evidence(&counters, measured_ns);
        evidence.push(Evidence::count("silent_directories", silent.len() as u64));
        let worst = worst(silent.into_iter().chain(answered));
        Finding::with_saving(ID, title, SEARCH_ADVICE, saving, evidence).about(worst)
    } else {
        let title = format!("{:.0} % of path lookups fail, for optional files", percent(&counters));
        // At most: a program that works as it does goes on asking.
        let saving = input.saving(0.0, failed_ns);
        let evidence = evidence(&counters, measured_ns);
        Finding::with_saving(ID, title, PROBE_ADVICE, saving, evidence)
            .about(worst(others.into_iter()))
    };
    Ok(Some(finding))
}

const SEARCH_ADVICE: &str = "Remove unsuccessful directories from the search path (PATH, PYTHONPATH, LD_LIBRARY_PATH, -I), \
                             move successful ones first, or cache resolved paths.";
const PROBE_ADVICE: &str = "Most are not caused by a search path: programs look for optional files (settings, locales, ignore \
                            lists). In your own program, look once and cache the result; otherwise start fewer processes.";

fn percent(counters: &LookupCounters) -> f64 {
    100.0 * ratio(counters.failed as f64, counters.calls as f64)
}

fn evidence(counters: &LookupCounters, failed_ns: u64) -> Vec<Evidence> {
    vec![
        Evidence::count("lookup_calls", counters.calls),
        Evidence::count("failed_calls", counters.failed),
        Evidence::real("failed_percent", percent(counters)),
        Evidence::count("failed_ns", failed_ns),
    ]
}

fn worst<'a>(rows: impl Iterator<Item = &'a DirectoryLookups>) -> Vec<PathBuf> {
    rows.take(NAMED_DIRECTORIES).map(|row| row.directory.clone()).collect()
}

/// Directories that are parts of a search path: they lack several names that other directories lack or have.
fn searched_directories(profile: &Profile) -> HashSet<&Path> {
    let Some(lookups) = profile.lookups.as_value() else { return HashSet::new() };
    let failed = || lookups.failed_paths.iter().filter_map(|failed| split(&failed.path));
    let files = profile.files.iter().filter(|file| file.kind == FileKind::Regular);
    let opened = files.filter_map(|file| split(file.path.as_value()?));
    // Where a name was asked for: in one directory, or in several.
    let mut places: HashMap<&OsStr, (&Path, bool)> = HashMap::new();
    for (directory, name) in failed().chain(opened) {
        let place = places.entry(name).or_insert((directory, false));
        place.1 |= place.0 != directory;
    }
    let mut names: HashMap<&Path, HashSet<&OsStr>> = HashMap::new();
    for (directory, name) in failed() {
        if places.get(name).is_some_and(|(_, several)| *several) {
            names.entry(directory).or_default().insert(name);
        }
    }
    let searched = names.into_iter().filter(|(_, names)| names.len() >= MIN_SEARCHED_NAMES);
    searched.map(|(directory, _)| directory).collect()
}

/// Directory and name; `.` is the directory of a bare name.
fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    Some((crate::directories::directory_of(path), path.file_name()?))
}

fn directories(count: usize) -> String {
    if count == 1 { "one directory".to_owned() } else { format!("{count} directories") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, failed_lookup, profile, read_file};
    use hotset_facts::{FailedLookup, Lookups, ReadIo};

    fn failing(failed_paths: Vec<FailedLookup>, failed_time_ns: u64) -> Run {
        let mut profile = profile();
        profile.lookups = Observed::Value(Lookups {
            counters: LookupCounters {
                calls: 40_000,
                failed: 30_000,
                time_ns: (2 * failed_time_ns).into(),
                failed_time_ns: failed_time_ns.into(),
            },
            failed_paths,
            failed_unnamed: 9_991,
        });
        Run::new(profile)
    }

    fn lookups(failed_time_ns: u64) -> Run {
        let asked = ["/opt/a", "/opt/b"].into_iter().flat_map(|directory| {
            let calls = if directory == "/opt/a" { 4_000 } else { 9 };
            (0..5).map(move |n| failed_lookup(&format!("{directory}/m{n}.py"), calls))
        });
        failing(asked.collect(), failed_time_ns)
    }

    #[test]
    fn hit_with_the_directories_that_never_answer() {
        let finding = lookups(60_000_000).finding(check);
        assert_eq!(finding.title, "75 % of path lookups fail; no successful open in 2 directories");
        assert_eq!(finding.files[0], PathBuf::from("/opt/a"));
        assert_eq!(finding.saving.low_ns, 60_000_000);
        assert!(finding.advice.contains("PYTHONPATH"));
    }

    #[test]
    fn undecided_where_lookups_have_no_time() {
        let mut run = lookups(60_000_000);
        let reason = Reason::not_measured("counted by tracing");
        if let Some(lookups) = run.profile.lookups.as_value_mut() {
            lookups.counters.failed_time_ns = Observed::Missing(reason);
        }
        assert_eq!(run.ask(check).err(), Some(reason));
    }

    #[test]
    fn hit_libraries_that_lie_elsewhere() {
        let mut asked = vec![failed_lookup("/home/me/.gitconfig", 10)];
        let names = ["libssl.so.3", "libz.so.1", "libm.so.6", "libc.so.6"];
        asked.extend(names.map(|name| failed_lookup(&format!("/opt/lib/{name}"), 90)));
        let mut run = failing(asked, 60_000_000);
        let found = names.map(|name| read_file(&format!("/usr/lib/{name}"), 1, ReadIo::default()));
        run.profile.files.extend(found);
        let finding = run.finding(check);
        assert_eq!(finding.files, [PathBuf::from("/opt/lib")]);
        // 360 of 370 failures with a path.
        assert!((58_000_000..59_000_000).contains(&finding.saving.low_ns), "{finding:?}");
    }

    #[test]
    fn hit_but_not_a_search_path_where_git_probes_for_its_own_files() {
        let mut asked: Vec<FailedLookup> = Vec::new();
        for directory in 0..400 {
            for name in [".git", ".gitignore", ".gitattributes"] {
                asked.push(failed_lookup(&format!("/src/d{directory}/{name}"), 1));
            }
        }
        for locale in ["en_US.UTF-8", "en_US.utf8", "en_US", "en.UTF-8", "en.utf8", "en"] {
            for name in ["git.mo", "libc.mo"] {
                let path = format!("/usr/share/locale/{locale}/LC_MESSAGES/{name}");
                asked.push(failed_lookup(&path, 40));
            }
        }
        let mut run = failing(asked, 60_000_000);
        run.profile.files.push(read_file("/src/.gitignore", 100, ReadIo::default()));
        let finding = run.finding(check);
        assert_eq!(finding.title, "75 % of path lookups fail, for optional files");
        assert!(!finding.advice.contains("PATH"), "{}", finding.advice);
        assert_eq!((finding.saving.low_ns, finding.saving.high_ns), (0, 60_000_000));
    }

    #[test]
    fn near_miss_many_failures_that_cost_nothing() {
        assert_eq!(lookups(15_000_000).ask(check), Ok(None));
    }

    #[test]
    fn no_data() {
        let mut run = lookups(60_000_000);
        run.profile.lookups = Observed::Missing(Reason::denied("needs root"));
        assert!(run.ask(check).is_err());
        assert!(failing(Vec::new(), 60_000_000).ask(check).is_err(), "all paths were lost");
    }
}
