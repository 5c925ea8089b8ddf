//! Saving pages that somebody names, cached or not: those that a program will ask for.

use std::io::BufWriter;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use hotset_facts::{PageRange, SaveReport};
use hotset_snapshot::{SavedFile, WriteError, Writer};
use hotset_sys::cache::open_quietly;

use super::destination::Destination;
use super::gather::Out;
use super::systems::Systems;
use super::{complete, header};
use crate::ControlFailure;
use crate::unchanged::mtime_of;

/// Writes a snapshot of these pages of these files, as far as the files have them. The ranges of a file are in order. Files that are
/// not there are counted, and named, among the refused.
///
/// # Errors
/// Where the snapshot can't be written.
pub fn save_ranges(
    files: &[(PathBuf, Vec<PageRange>)],
    to: &Path,
) -> Result<SaveReport, ControlFailure> {
    let failed = |source| ControlFailure::Write { path: to.to_owned(), source };
    let writer = Writer::new(BufWriter::new(Destination::file(to)?), &header()).map_err(failed)?;
    let (mut out, systems) = (Out::new(writer), Systems::now());
    let mut report = SaveReport {
        file: Some(to.to_owned()),
        page_bytes: hotset_sys::page_size(),
        ..SaveReport::default()
    };
    for (path, ranges) in files {
        match add(&mut out, &systems, path, ranges) {
            Ok(Ok(())) => {}
            Ok(Err(why)) => report.refused.add(path, why),
            Err(error) => return Err(failed(error)),
        }
    }
    complete(out.writer, &mut report).map_err(failed)?;
    Ok(report)
}

/// Adds a file, or says why it can't be.
fn add(
    out: &mut Out,
    systems: &Systems,
    path: &Path,
    ranges: &[PageRange],
) -> Result<Result<(), String>, WriteError> {
    let real = std::fs::canonicalize(path).map_err(|error| error.to_string());
    let opened = real.and_then(|real| {
        let (_, stat) = open_quietly(&real).map_err(|error| error.cause.to_string())?;
        Ok((real, stat))
    });
    let (path, stat) = match opened {
        Ok(opened) => opened,
        Err(why) => return Ok(Err(why)),
    };
    let id = hotset_sys::file_id(&stat);
    let size_bytes = u64::try_from(stat.st_size).unwrap_or(0);
    let pages = hotset_sys::pages_of(size_bytes);
    let within = ranges.iter().filter(|range| range.first < pages);
    let within = within
        .map(|range| PageRange { first: range.first, count: range.count.min(pages - range.first) });
    let within: Vec<PageRange> = within.collect();
    if within.is_empty() {
        return Ok(Ok(()));
    }
    let mut saved = SavedFile {
        path: path.as_os_str().as_bytes().to_vec(),
        ino: id.ino,
        size_bytes,
        mtime: mtime_of(&stat),
        ..SavedFile::default()
    };
    match out.begin(&mut saved, id.dev, systems) {
        Err(WriteError::Refused { expected, found }) => {
            Ok(Err(format!("can't be saved: expected {expected}, found {found}")))
        }
        begun => begun.and_then(|()| out.writer.ranges(&within)).map(Ok),
    }
}
