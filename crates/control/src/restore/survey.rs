//! A first look at all files of a snapshot, where the order among them or a budget decides.

use hotset_facts::RestoreReport;
use hotset_snapshot::{Candidate, Choice, Preference, SavedFile, choose};
use hotset_sys::cache::require_cacheable;
use rustix::fs::FileType;

use super::source::{Next, Source};
use super::target::{self, Target};
use crate::ControlFailure;
use crate::unchanged::difference;

/// Orders the files that are as they were, and takes what the budget allows. Holds 40 bytes a file, and where it chooses as
/// many again, with 8 for the rank.
pub(super) fn survey(
    source: &mut Source,
    target: &Target<'_>,
    preference: Preference,
    budget_pages: Option<u64>,
    report: &mut RestoreReport,
) -> Result<Choice, ControlFailure> {
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
fn look(target: &Target<'_>, saved: &SavedFile, report: &mut RestoreReport) -> bool {
    let path = target.path_of(saved);
    let stat = match rustix::fs::stat(&path) {
        Ok(stat) => stat,
        Err(errno) => {
            target::add_failure(errno, path, report);
            return false;
        }
    };
    if let Err(cause) = require_cacheable(&stat) {
        report.changed.add(path, cause.to_string());
        return false;
    }
    // How large a block device is can only be asked when it is open.
    if FileType::from_raw_mode(stat.st_mode).is_block_device() {
        return true;
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let changed = difference(saved, &stat, size, target.ignore_mtime);
    let unchanged = changed.is_none();
    if let Some(why) = changed {
        report.changed.add(path, why);
    }
    unchanged
}
