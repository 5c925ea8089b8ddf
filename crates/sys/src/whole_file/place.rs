//! Where a file is to be put: where its name leads to, unless somebody else may have laid it out.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// As many links as the kernel follows (MAXSYMLINKS of include/linux/namei.h).
const MAX_LINKS: usize = 40;

/// The path that `name` leads to through symbolic links, and what is there.
///
/// In a directory that anybody may write to and where only owners remove files, as /tmp, a link is followed and a file replaced
/// only where it is the user's own or the directory's owner's: the rules of fs.protected_symlinks and fs.protected_regular
/// (Documentation/admin-guide/sysctl/fs.rst), whatever these are set to.
///
/// # Errors
/// Where it breaks these rules, can't be looked up, or is a program.
pub(super) fn resolve(name: &Path) -> io::Result<(PathBuf, Option<fs::Metadata>)> {
    let mut path = name.to_owned();
    for _ in 0..MAX_LINKS {
        let there = match fs::symlink_metadata(&path) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path, None)),
            Err(error) => return Err(error),
        };
        let directory = directory_of(&path);
        let owner = fs::metadata(directory)?;
        if is_sticky_for_all(&owner) && !is_trusted(&there, &owner) {
            return Err(refused(&path, path != name, &there));
        }
        if !there.is_symlink() {
            return match there.is_file() && is_program(&path, &there) {
                true => Err(io::Error::other(
                    "is an executable file; remove it first, or name another file for the results",
                )),
                false => Ok((path, Some(there))),
            };
        }
        path = directory.join(fs::read_link(&path)?);
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// The directory that a name is in.
pub(super) fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Whether a file is one to be executed, and not results where every file may be, as on FAT: these are JSON, a page or a
/// snapshot.
fn is_program(path: &Path, there: &fs::Metadata) -> bool {
    const RESULTS: [u8; 3] = *b"{<\x89";
    let mut first = [0];
    there.mode() & 0o111 != 0
        && match fs::File::open(path).and_then(|mut file| file.read(&mut first)) {
            Ok(0) => false,
            Ok(_) => !RESULTS.contains(&first[0]),
            Err(_) => true,
        }
}

fn is_sticky_for_all(directory: &fs::Metadata) -> bool {
    const STICKY_AND_WRITABLE: u32 = 0o1002;
    directory.mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE
}

fn is_trusted(there: &fs::Metadata, directory: &fs::Metadata) -> bool {
    let owner = there.uid();
    owner == rustix::process::geteuid().as_raw() || owner == directory.uid()
}

/// Names what a link leads to; the caller names the file that was asked for.
fn refused(path: &Path, through_link: bool, there: &fs::Metadata) -> io::Error {
    let what = if there.is_symlink() { "symbolic link" } else { "file" };
    let owner = there.uid();
    let leads = if through_link { format!("leads to {}, ", path.display()) } else { String::new() };
    io::Error::new(
        io::ErrorKind::PermissionDenied,
        format!(
            "{leads}a {what} of another user (UID {owner}) in a directory that all users can write to; remove \
             it, or choose another directory"
        ),
    )
}
