//! From what was typed to what will be done: everything that can be refused is refused here, before anything starts.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Result, bail};
use hotset_lab::{Invocation, SessionLock, Waiting};

use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// Finds a command as the shell would: done here and not in the child, so that the search is not booked to the command.
///
/// # Errors
/// With the exit code that env(1) would give.
pub(crate) fn find_program(argv: &[OsString], search: Option<&OsStr>) -> Result<Invocation, Stop> {
    let Some(name) = argv.first() else {
        return Err(Stop::usage("no command given"));
    };
    let found = |program: PathBuf| Invocation { program, argv: argv.to_vec() };
    if name.as_encoded_bytes().contains(&b'/') {
        return check_program(Path::new(name)).map(found);
    }
    let mut refused = None;
    for directory in
        std::env::split_paths(search.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin")))
    {
        let directory =
            if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
        match check_program(&directory.join(name)) {
            Ok(path) => return Ok(found(path)),
            Err(stop) if stop.exit == Exit::NotExecutable => refused = Some(stop),
            Err(_) => {}
        }
    }
    let not_found = format!("{}: command not found", name.display());
    Err(refused.unwrap_or_else(|| Stop::new(Exit::NotFound, not_found)))
}

fn check_program(path: &Path) -> Result<PathBuf, Stop> {
    let stop = |exit, why: &str| Err(Stop::new(exit, format_args!("{}: {why}", path.display())));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            return stop(Exit::NotExecutable, "permission denied");
        }
        Err(_) => return stop(Exit::NotFound, "command not found"),
    };
    if metadata.is_dir() {
        return stop(Exit::NotExecutable, "is a directory, expected a program");
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return stop(Exit::NotExecutable, "is not executable; chmod +x makes it so");
    }
    Ok(path.to_path_buf())
}

/// Waits until no other session of this user runs, and says so unless `quiet`; none after Ctrl-C. `what` is what the other
/// may be.
///
/// # Errors
/// Where the lock can't be had at all.
pub(crate) fn lock(stop: &AtomicBool, what: &str, quiet: bool) -> Result<Option<SessionLock>> {
    let mut waits = |waiting: Waiting| {
        if quiet {
            return;
        }
        let who = waiting.pid.map_or_else(String::new, |pid| format!(" (process {pid})"));
        output::say(format_args!("waiting for another {what} of this user to end{who}"));
    };
    Ok(SessionLock::take(stop, &mut waits)?)
}

/// Checks that all of these can be written, and that at most one of them is standard output, else says `twice`.
///
/// # Errors
/// As [`check_destination`], with this exit code, and where there is more than one `-`.
pub(crate) fn check_destinations<'a>(
    paths: impl Iterator<Item = &'a PathBuf> + Clone,
    twice: &str,
    exit: Exit,
) -> Result<(), Stop> {
    if paths.clone().filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(Stop::usage(twice));
    }
    paths.map(|path| check_destination(path)).collect::<Result<()>>().or_exit(exit)
}

/// Checks that a report can be written where it is wanted, without touching what is there.
///
/// # Errors
/// Names the path and what is wrong with it.
pub(crate) fn check_destination(path: &Path) -> Result<()> {
    if path == Path::new("-") {
        return Ok(());
    }
    if path.is_dir() {
        bail!("{}: is a directory, expected a file name", path.display());
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
    if let Err(error) = rustix::fs::access(parent, rustix::fs::Access::WRITE_OK) {
        bail!("{}: {} can't be written to: {error}", path.display(), parent.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_searched_and_refused_like_a_shell_does() {
        let search = Some(OsStr::new("/nonexistent:/bin:/usr/bin"));
        let found = find_program(&["sh".into(), "-c".into()], search).unwrap();
        assert!(found.program.ends_with("sh") && found.argv.len() == 2);
        let refused = |name: &str| find_program(&[name.into()], search).unwrap_err().exit;
        assert_eq!(refused("no-such-command"), Exit::NotFound);
        assert_eq!(refused("/no/such"), Exit::NotFound);
        assert_eq!(refused("/etc/passwd"), Exit::NotExecutable);
        assert_eq!(refused("/tmp"), Exit::NotExecutable);
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
