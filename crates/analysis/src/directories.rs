//! Lookups by the directory that was asked.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use hotset_facts::format::Directory;
use hotset_facts::{FileKind, Observed, Profile};

/// What a directory was asked for, and how often in vain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = hotset_facts::format::about("directory", "The directory, as the paths named it.")))]
pub struct DirectoryLookups {
    /// The directory, as the paths named it.
    #[serde(flatten, with = "Directory")]
    pub directory: PathBuf,
    /// Lookups in it whose outcome was kept by path: the failed ones and successful opens of files that were then
    /// read, written or mapped. Successful stat and access calls are not kept by path, so this is a lower bound.
    pub calls: Observed<u64>,
    /// Lookups that failed.
    pub failed: u64,
}

impl DirectoryLookups {
    /// True if no file of it was opened.
    pub fn never_answered(&self) -> bool {
        self.calls == Observed::Value(self.failed)
    }
}

/// Directories with failed lookups, most failed first.
pub(crate) fn by_directory(profile: &Profile) -> Vec<DirectoryLookups> {
    let Observed::Value(lookups) = &profile.lookups else { return Vec::new() };
    let mut failed: HashMap<&Path, u64> = HashMap::new();
    for lookup in &lookups.failed_paths {
        let count = failed.entry(directory_of(&lookup.path)).or_default();
        *count = count.saturating_add(lookup.calls);
    }
    let opens = opens_by_directory(profile, &failed);
    let mut rows: Vec<DirectoryLookups> = failed
        .into_iter()
        .map(|(directory, failed)| DirectoryLookups {
            directory: directory.to_path_buf(),
            calls: opens
                .get(directory)
                .copied()
                .unwrap_or(Observed::Value(0))
                .map(|opens| failed.saturating_add(opens)),
            failed,
        })
        .collect();
    rows.sort_by(|a, b| b.failed.cmp(&a.failed).then_with(|| a.directory.cmp(&b.directory)));
    rows
}

fn opens_by_directory<'a>(
    profile: &'a Profile,
    wanted: &HashMap<&Path, u64>,
) -> HashMap<&'a Path, Observed<u64>> {
    let mut opens: HashMap<&Path, Observed<u64>> = HashMap::new();
    for file in profile.files.iter().filter(|file| file.kind == FileKind::Regular) {
        let Observed::Value(path) = &file.path else { continue };
        let directory = directory_of(path);
        if wanted.contains_key(directory) {
            let sum = opens.entry(directory).or_insert(Observed::Value(0));
            *sum = sum.zip_with(file.opens, u64::saturating_add);
        }
    }
    opens
}

/// The directory that a path was looked for in; `.` for a bare name.
pub(crate) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{failed_lookup, profile, read_file};
    use hotset_facts::{Lookups, ReadIo};

    #[test]
    fn failures_gather_by_directory() {
        let mut profile = profile();
        profile.lookups = Observed::Value(Lookups {
            failed_paths: vec![
                failed_lookup("/b/x", 2),
                failed_lookup("/a/x", 3),
                failed_lookup("/b/y", 4),
                failed_lookup("bare", 1),
                failed_lookup("/", 1),
            ],
            ..Lookups::default()
        });
        let mut file = read_file("/b/z", 0, ReadIo::default());
        file.opens = Observed::Value(5);
        profile.files = vec![file];
        let rows = by_directory(&profile);
        let seen: Vec<_> = rows
            .iter()
            .map(|row| (row.directory.to_str().unwrap_or("?"), row.calls.value(), row.failed))
            .collect();
        assert_eq!(
            seen,
            [("/b", Some(11), 6), ("/a", Some(3), 3), ("/", Some(1), 1), (".", Some(1), 1)]
        );
        assert!(rows[1].never_answered() && !rows[0].never_answered());
    }
}
