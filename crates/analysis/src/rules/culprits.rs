//! The files that a finding is about, with what each of them costs.

use std::path::PathBuf;

use hotset_facts::{FileKind, FileRow, Io, Profile};

/// A finding names at most this many files.
const NAMED_FILES: usize = 5;

/// A file with the task time that a fix would save on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Culprit<'a, T> {
    pub(super) file: &'a FileRow,
    /// What the rule measured on it.
    pub(super) seen: T,
    /// Nanoseconds of task time at least.
    pub(super) low_ns: f64,
    /// Nanoseconds of task time at most.
    pub(super) high_ns: f64,
}

/// The files on which a fix would save something, most first. Files in the "others" row are not told apart, so it is
/// left out: savings are lower by what it holds.
pub(super) fn culprits<'a, T>(
    profile: &'a Profile,
    mut examine: impl FnMut(&'a FileRow, &Io) -> Option<(T, f64, f64)>,
) -> Vec<Culprit<'a, T>> {
    let mut found: Vec<Culprit<'a, T>> = profile
        .files
        .iter()
        .filter(|file| file.kind != FileKind::Others)
        .filter_map(|file| {
            let (seen, low_ns, high_ns) = examine(file, &file.io())?;
            (high_ns > 0.0).then_some(Culprit { file, seen, low_ns, high_ns })
        })
        .collect();
    found.sort_by(|a, b| b.high_ns.total_cmp(&a.high_ns));
    found
}

/// Sums of both bounds, in nanoseconds of task time.
pub(super) fn bounds<T>(culprits: &[Culprit<'_, T>]) -> (f64, f64) {
    culprits.iter().fold((0.0, 0.0), |(low, high), c| (low + c.low_ns.max(0.0), high + c.high_ns))
}

/// A sum over what was seen, saturating.
pub(super) fn total<T>(culprits: &[Culprit<'_, T>], of: impl Fn(&T) -> u64) -> u64 {
    culprits.iter().map(|culprit| of(&culprit.seen)).fold(0, u64::saturating_add)
}

/// The names of the worst files, each once: one after the other, several files can have the same name (a journal that is
/// made and deleted for each transaction).
pub(super) fn worst<T>(culprits: &[Culprit<'_, T>]) -> Vec<PathBuf> {
    let mut names: Vec<PathBuf> = Vec::new();
    for name in culprits.iter().filter_map(|culprit| culprit.file.path.as_value()) {
        if names.len() < NAMED_FILES && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// "one file" or "12 files".
pub(super) fn files(count: usize) -> String {
    if count == 1 { "one file".to_owned() } else { format!("{count} files") }
}
