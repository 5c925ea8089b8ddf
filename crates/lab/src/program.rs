//! The program behind a command's first word.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::command::Invocation;

/// Finds a command as the shell would: done here and not in the child, so that the search is not booked to the command.
///
/// # Errors
/// `NotFound`, and another kind where a program was found that can't be executed; `InvalidInput` without a word.
pub fn find_program(argv: &[OsString], search: Option<&OsStr>) -> Result<Invocation> {
    let Some(name) = argv.first() else {
        return Err(Error::new(ErrorKind::InvalidInput, "no command given"));
    };
    if name.is_empty() {
        return Err(Error::new(ErrorKind::InvalidInput, "the command is an empty word"));
    }
    let found = |program: PathBuf| Invocation { program, argv: argv.to_vec() };
    if name.as_encoded_bytes().contains(&b'/') {
        return check(Path::new(name)).map(found);
    }
    in_directories(name, search).map(found)
}

/// A program by its name on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    in_directories(OsStr::new(name), std::env::var_os("PATH").as_deref()).ok()
}

/// Whether it is a program that may be executed.
pub(crate) fn can_run(path: &Path) -> bool {
    check(path).is_ok()
}

fn in_directories(name: &OsStr, search: Option<&OsStr>) -> Result<PathBuf> {
    let mut refused = None;
    for directory in
        std::env::split_paths(search.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin")))
    {
        let directory =
            if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
        match check(&directory.join(name)) {
            Ok(path) => return Ok(path),
            Err(error) if error.kind() != ErrorKind::NotFound => refused = Some(error),
            Err(_) => {}
        }
    }
    let not_found =
        || Error::new(ErrorKind::NotFound, format!("{}: command not found", name.display()));
    Err(refused.unwrap_or_else(not_found))
}

/// The path itself, if it is a program that may be executed.
pub(crate) fn check(path: &Path) -> Result<PathBuf> {
    let refused = |kind, why: &str| Err(Error::new(kind, format!("{}: {why}", path.display())));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return refused(ErrorKind::PermissionDenied, "permission denied");
        }
        Err(_) => return refused(ErrorKind::NotFound, "command not found"),
    };
    if metadata.is_dir() {
        return refused(ErrorKind::IsADirectory, "is a directory, expected a program");
    }
    if metadata.permissions().mode() & 0o111 == 0 {
        return refused(ErrorKind::PermissionDenied, "is not executable; chmod +x makes it so");
    }
    Ok(path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_searched_and_refused_like_a_shell_does() {
        let search = Some(OsStr::new("/nonexistent:/bin:/usr/bin"));
        let found = find_program(&["sh".into(), "-c".into()], search).unwrap();
        assert!(found.program.ends_with("sh") && found.argv.len() == 2);
        let refused = |name: &str| find_program(&[name.into()], search).unwrap_err().kind();
        assert_eq!(refused("no-such-command"), ErrorKind::NotFound);
        assert_eq!(refused("/no/such"), ErrorKind::NotFound);
        assert_eq!(refused("/etc/passwd"), ErrorKind::PermissionDenied);
        assert_eq!(refused("/tmp"), ErrorKind::IsADirectory);
        assert_eq!(refused(""), ErrorKind::InvalidInput);
    }
}
