//! What of an explanation can be applied as it is: the pages that the program reads, as a snapshot for `hotset restore`, a drop-in of
//! systemd that restores them before a service starts, and settings of programs and disks.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hotset_analysis::explain::{Setting, TraceFinding};
use hotset_control::save_ranges;
use hotset_facts::PageRange;
use hotset_facts::replay::{FileRole, ReplayPlan};
use hotset_view::explain::{
    ExplainedTrace, emitted, restore_drop_in, setting_file, settings_to_write,
};

use crate::output;

/// Names in the directory.
const SET: &str = "start.set";
const DROP_IN: &str = "hotset-restore.conf";
const FINDINGS: &str = "findings.txt";
/// Rules whose findings a prefetch answers.
const COLD: [&str; 3] = ["cold-start", "read-at-start", "serial-reads"];

/// Refuses a directory that has something in it already.
///
/// # Errors
/// Names the directory.
pub(super) fn check(directory: &Path) -> Result<()> {
    if fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some()) {
        bail!("--emit {}: is not empty; expected a new or an empty directory", directory.display());
    }
    Ok(())
}

/// The pages that steps ask for of files that they only read.
pub(super) fn pages(plan: &ReplayPlan) -> Vec<(PathBuf, Vec<PageRange>)> {
    let page_bytes = hotset_sys::page_size();
    let range = |(begin, end): &(u64, u64)| {
        let first = begin / page_bytes;
        PageRange { first, count: end.div_ceil(page_bytes) - first }
    };
    let originals = plan.files.iter().filter(|file| file.role == FileRole::Original);
    originals
        .filter_map(|file| {
            let path = plan.paths.get(file.path? as usize)?;
            let mut ranges: Vec<PageRange> = Vec::with_capacity(file.touched.len());
            for next in file.touched.iter().map(range).filter(|range| range.count > 0) {
                match ranges.last_mut() {
                    // Two ranges of bytes can share a page.
                    Some(last) if next.first <= last.end() => {
                        last.count = last.end().max(next.end()) - last.first;
                    }
                    _ => ranges.push(next),
                }
            }
            let path = PathBuf::from(OsString::from_vec(path.bytes.clone()));
            (!ranges.is_empty()).then_some((path, ranges))
        })
        .collect()
}

/// Writes it, and says what was written.
///
/// # Errors
/// Names what can't be written.
pub(super) fn emit(
    directory: &Path,
    trace: &ExplainedTrace<'_>,
    pages: &[(PathBuf, Vec<PageRange>)],
) -> Result<()> {
    let named = |path: &Path| format!("--emit {}", path.display());
    fs::create_dir_all(directory).with_context(|| named(directory))?;
    let directory = directory.canonicalize().with_context(|| named(directory))?;
    let text = hotset_view::explain::render_explained(
        trace,
        &hotset_view::Options { all: true, ..hotset_view::Options::default() },
    );
    write(&directory.join(FINDINGS), &text)?;
    let rules = trace.explained.findings.iter().map(|finding| finding.finding.rule);
    let set = match rules.into_iter().any(|rule| COLD.contains(&rule)) {
        true => {
            let set = directory.join(SET);
            let saved = save_ranges(pages, &set)?;
            write(&directory.join(DROP_IN), &restore_drop_in(&set))?;
            Some((set, saved))
        }
        false => None,
    };
    let settings = write_settings(&directory, trace)?;
    let set = set.as_ref().map(|(set, saved)| (set.as_path(), saved));
    emitted(&directory.join(FINDINGS), set, &settings).iter().for_each(output::say);
    Ok(())
}

/// Writes settings, a file each.
fn write_settings<'a>(
    directory: &Path,
    trace: &ExplainedTrace<'a>,
) -> Result<Vec<(PathBuf, &'a Setting)>> {
    let write = |(finding, setting): (&TraceFinding, &'a Setting)| {
        let path = directory.join(&setting.file);
        write(&path, &setting_file(finding, setting))?;
        Ok((path, setting))
    };
    settings_to_write(trace.explained).into_iter().map(write).collect()
}

fn write(path: &Path, text: &str) -> Result<()> {
    output::whole(path, &mut |out| out.write_all(text.as_bytes()))
        .with_context(|| format!("--emit {}", path.display()))
}
