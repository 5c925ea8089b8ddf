//! A first look at all files of a snapshot, where the order among them or a budget decides.

use std::path::Path;

use anyhow::Result;
use hotset_facts::RestoreReport;
use hotset_snapshot::{Candidate, Choice, Preference, choose};

use super::restore::{Look, Target};
use super::source::{Next, Source};

/// Orders the files that are as they were, and takes what the budget allows. Holds 40 bytes a file.
pub(super) fn survey(
    source: &mut Source,
    target: &Target<'_>,
    preference: Preference,
    budget_pages: Option<u64>,
    report: &mut RestoreReport,
) -> Result<Choice> {
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut good = false;
    source.read(|next| {
        match next {
            Next::File(index, saved) => {
                good = look(target, &saved, report);
                if good {
                    report.unchanged_files += 1;
                    let file_pages = hotset_sys::pages_of(saved.size_bytes);
                    let users = saved.users;
                    candidates.push(Candidate { index, users, pages: 0, file_pages, ranges: 0 });
                }
            }
            Next::Ranges(ranges) => {
                if let Some(file) = candidates.last_mut().filter(|_| good) {
                    file.pages += ranges.iter().map(|range| range.count).sum::<u64>();
                    file.ranges += ranges.len() as u64;
                }
            }
        }
        !target.watch.is_interrupted()
    })?;
    Ok(choose(candidates, preference, budget_pages))
}

/// By its name alone: opening all of them twice would cost more than it tells.
fn look(
    target: &Target<'_>,
    saved: &hotset_snapshot::SavedFile,
    report: &mut RestoreReport,
) -> bool {
    let path = target.path_of(saved);
    match rustix::fs::stat(path.as_path() as &Path) {
        Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_block_device() => true,
        Ok(stat) => {
            let size = u64::try_from(stat.st_size).unwrap_or(0);
            match super::compare::difference(saved, &stat, size, target.ignore_mtime) {
                None => true,
                Some(why) => {
                    report.changed.add(path, why);
                    false
                }
            }
        }
        Err(errno) => {
            Look::failed(errno, path, report);
            false
        }
    }
}
