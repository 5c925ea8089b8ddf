//! Files that results go to, checked before anything starts: a run of hours is not for nothing.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hotset_sys::whole_file::WholeFile;
use rustix::fs::{Access, access};

use crate::args::OutputArgs;
use crate::exit::{Exit, OrExit, Stop};

/// Checks that all of these can be written, that none is named twice, and that at most one of them is standard output, else says `twice`.
///
/// # Errors
/// As [`check_destination`], with this exit code, and where there is more than one `-`.
pub(crate) fn check_destinations<'a>(
    mut paths: impl Iterator<Item = &'a PathBuf> + Clone,
    twice: &str,
    exit: Exit,
) -> Result<(), Stop> {
    if paths.clone().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Stop::usage(twice));
    }
    let mut named = HashSet::new();
    let mut files = paths.clone().filter(|path| *path != Path::new("-"));
    if let Some(path) = files.find(|path| !named.insert(place(path))) {
        let path = path.display();
        return Err(Stop::usage(format_args!(
            "{path}: is named twice; give each result a file of its own"
        )));
    }
    paths.try_for_each(|path| check_destination(path)).or_exit(exit)
}

/// Refuses a result that would replace the file `read` that it is made of, or that is kept beside it: a recording, or `what` else.
///
/// # Errors
/// Names the file.
pub(crate) fn check_not_read<'a>(
    mut results: impl Iterator<Item = &'a PathBuf>,
    read: &Path,
    what: &str,
) -> Result<(), Stop> {
    let place_of_read = place(read);
    match results.find(|path| *path != Path::new("-") && place(path) == place_of_read) {
        None => Ok(()),
        Some(path) => Err(Stop::usage(format_args!(
            "{}: is the {what}, which the result would replace; give the result a file of its own",
            path.display()
        ))),
    }
}

/// Where a file is, whatever way leads there: its real directory and its name.
fn place(path: &Path) -> PathBuf {
    let whole = || fs::canonicalize(path).ok();
    let in_directory = || {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?;
        Some(parent.join(path.file_name()?))
    };
    whole().or_else(in_directory).unwrap_or_else(|| path.to_owned())
}

/// Checks the files that a profile goes to.
///
/// # Errors
/// As [`check_destinations`].
pub(crate) fn check_reports(args: &OutputArgs, exit: Exit) -> Result<(), Stop> {
    let files = [&args.json, &args.html].into_iter().flatten();
    check_destinations(files, "both --json and --html go to standard output", exit)
}

/// Checks that a report can be written where it is wanted, without touching what is there.
///
/// # Errors
/// Names the path and what is wrong with it.
pub(crate) fn check_destination(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            bail!("{}: is a directory, expected a file name", path.display());
        }
        // A device or a pipe is written to as it is.
        Ok(there) if !there.is_file() => {
            return access(path, Access::WRITE_OK)
                .with_context(|| format!("{}: can't be written to", path.display()));
        }
        _ => WholeFile::check(path).with_context(|| path.display().to_string())?,
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    match fs::metadata(parent) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => bail!("{}: {} is not a directory", path.display(), parent.display()),
        Err(error) => bail!("{}: {}: {error}", path.display(), parent.display()),
    }
    access(parent, Access::WRITE_OK)
        .with_context(|| format!("{}: {} can't be written to", path.display(), parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_by_any_name() {
        let refused = |result: &str, read: &str| {
            check_not_read([PathBuf::from(result)].iter(), Path::new(read), "recording").is_err()
        };
        assert!(refused("/tmp/../tmp/new.json", "/tmp/new.json"));
        assert!(refused("new.json", "./new.json"));
        assert!(refused("/etc/./passwd", "/etc/passwd"));
        assert!(!refused("-", "-"));
        assert!(!refused("/tmp/a/new.json", "/tmp/new.json"));
    }

    #[test]
    fn a_destination_without_its_directory_is_refused() {
        assert!(check_destination(Path::new("-")).is_ok());
        let error = check_destination(Path::new("/no/such/dir/out.json")).unwrap_err().to_string();
        assert!(error.contains("/no/such/dir"), "{error}");
        assert!(check_destination(Path::new("/tmp")).is_err());
        assert!(check_destination(Path::new("/etc/passwd/x.json")).is_err());
    }
}
