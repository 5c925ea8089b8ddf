//! Names of inodes, from the directory entries that the kernel has in memory.

use std::path::PathBuf;

use hotset_facts::{Observed, Reason};

use super::programs::Programs;
use super::record::{Inode, PATH_COMPLETE, PATH_GONE, PATH_NO_NAME};
use crate::ObserveError;
use crate::names::join;

const GONE: Reason = Reason::lost("it was dropped before its name was read");
const NO_NAME: Reason =
    Reason::unsupported("no directory entry of it is in memory, only its inode");
const TOO_LONG: Reason = Reason::unsupported("its path is longer than 4096 bytes");

/// A name within a file system.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: Observed<PathBuf>,
    /// The name was removed from its directory.
    pub(super) unhashed: bool,
}

/// The path of an inode within its file system.
pub(super) fn of(programs: &mut Programs, inode: &Inode) -> Result<Found, ObserveError> {
    let (answer, names) = programs.path(inode)?;
    let path = match answer.status {
        PATH_COMPLETE => Observed::Value(from_names(&names)),
        PATH_GONE => Observed::Missing(GONE),
        PATH_NO_NAME => Observed::Missing(NO_NAME),
        _ => Observed::Missing(TOO_LONG),
    };
    Ok(Found { path, unhashed: answer.unhashed != 0 })
}

/// Names from the file up, each ended by a zero.
fn from_names(names: &[u8]) -> PathBuf {
    let names = names.strip_suffix(b"\0").unwrap_or(names);
    if names.is_empty() {
        return join(std::iter::empty());
    }
    join(names.rsplit(|&byte| byte == 0))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn names_come_from_the_file_up() {
        assert_eq!(from_names(b"file\0dir\0srv\0"), Path::new("/srv/dir/file"));
        assert_eq!(from_names(b"memfd:x\0"), Path::new("/memfd:x"));
        assert_eq!(from_names(b""), Path::new("/"));
    }
}
