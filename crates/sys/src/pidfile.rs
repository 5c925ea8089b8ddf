//! A file with a process id that is locked while the process lives: a stale one is told from a running one by its lock,
//! and never by its number, which may be another's by now.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags};

/// The longest file that may be taken for one with a process id.
const MAX_BYTES: u64 = 32;

/// A file with the id of this process, which is removed with this value.
#[derive(Debug)]
pub struct PidFile {
    path: PathBuf,
    _locked: File,
}

/// Why there is no such file.
#[derive(Debug, thiserror::Error)]
pub enum PidFileError {
    /// It can't be opened or written.
    #[error("the PID file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Another process has locked it.
    #[error("the PID file {} is in use by {}", path.display(), owner(*pid))]
    InUse {
        /// The file.
        path: PathBuf,
        /// The process, as far as the file tells.
        pid: Option<u32>,
    },
    /// It is another kind of file.
    #[error("the PID file {} exists and holds no process id; name another", .0.display())]
    Foreign(PathBuf),
}

fn owner(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// What a file says that may hold a process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Empty,
    Pid(u32),
    Foreign,
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes).map(str::trim) {
            _ if bytes.len() as u64 > MAX_BYTES => Self::Foreign,
            Ok("") => Self::Empty,
            Ok(text) => text.parse().map_or(Self::Foreign, Self::Pid),
            Err(_) => Self::Foreign,
        }
    }
}

impl PidFile {
    /// Creates the file, or takes over one whose process has ended.
    ///
    /// # Errors
    /// Where a process has it, or it holds something else than a process id.
    pub fn create(path: &Path) -> Result<Self, PidFileError> {
        let failed = |source| PidFileError::File { path: path.to_owned(), source };
        loop {
            let mut file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o644)
                .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits() as i32)
                .open(path)
                .map_err(failed)?;
            let mut bytes = Vec::new();
            let _ = (&file).take(MAX_BYTES + 1).read_to_end(&mut bytes);
            let content = Content::of(&bytes);
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                let pid = if let Content::Pid(pid) = content { Some(pid) } else { None };
                return Err(PidFileError::InUse { path: path.to_owned(), pid });
            }
            if content == Content::Foreign {
                return Err(PidFileError::Foreign(path.to_owned()));
            }
            // Its owner may have removed it between our opening and our locking.
            let ours = file.metadata().map_err(failed)?;
            let is_ours =
                |there: fs::Metadata| (there.dev(), there.ino()) == (ours.dev(), ours.ino());
            if fs::metadata(path).is_ok_and(is_ours) {
                file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
                writeln!(file, "{}", std::process::id()).map_err(failed)?;
                return Ok(Self { path: path.to_owned(), _locked: file });
            }
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::test_support::ScratchFile;

    #[test]
    fn a_stale_file_is_taken_over_and_goes_with_its_owner() {
        let stale = ScratchFile::with(b"999999\n");
        let held = PidFile::create(&stale.path).expect("taken over");
        assert_eq!(
            fs::read_to_string(&stale.path).expect("text"),
            format!("{}\n", std::process::id())
        );
        // Locks of the same process under another descriptor stand against each other too.
        let error = PidFile::create(&stale.path).expect_err("in use").to_string();
        assert!(
            error.ends_with(&format!("is in use by process {}", std::process::id())),
            "{error}"
        );
        drop(held);
        assert!(!stale.path.exists());
    }

    #[test]
    fn a_file_of_somebody_else_is_left_as_it_is() {
        for text in [&b"important"[..], b"12 34", b"-1", b"\xff", &[b'1'; 33]] {
            let file = ScratchFile::with(text);
            let error = PidFile::create(&file.path).expect_err("refused");
            assert!(matches!(error, PidFileError::Foreign(_)), "{error}");
            assert_eq!(fs::read(&file.path).expect("bytes"), text);
        }
    }

    #[test]
    fn what_somebody_else_has_locked_is_not_shown() {
        let file = ScratchFile::with(b"\x1b[31m");
        rustix::fs::flock(&file.file, FlockOperation::LockExclusive).expect("lock");
        let error = PidFile::create(&file.path).expect_err("in use").to_string();
        assert!(error.ends_with("is in use by another process"), "{error}");
    }

    #[test]
    fn links_and_directories_that_are_not_there_are_refused() {
        let target = ScratchFile::with(b"1");
        let link = target.path.with_extension("link");
        symlink(&target.path, &link).expect("link");
        let linked = PidFile::create(&link);
        fs::remove_file(&link).expect("remove");
        assert!(matches!(linked, Err(PidFileError::File { .. })), "a link could lead anywhere");
        assert!(PidFile::create(Path::new("/nonexistent/pid")).is_err());
    }
}
