//! A file with a process id that is locked while the process lives: a stale one is told from a running one by its lock,
//! and never by its number, which may be another's by now.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, OFlags};

/// The longest file that may be taken for one with a process id.
const MAX_BYTES: u64 = 32;

/// Removed with this value.
#[derive(Debug)]
pub(super) struct PidFile {
    path: PathBuf,
    _locked: File,
}

impl PidFile {
    /// Creates the file, or takes over one whose process has ended.
    ///
    /// # Errors
    /// Where a process has it, or it holds something else than a process id.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let named = || format!("the PID file {}", path.display());
        loop {
            let mut file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o644)
                .custom_flags((OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK).bits() as i32)
                .open(path)
                .with_context(named)?;
            let mut text = String::new();
            let _ = (&file).take(MAX_BYTES + 1).read_to_string(&mut text);
            let is_pid = text.trim().is_empty() || text.trim().parse::<u32>().is_ok();
            if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                bail!("{} is in use by process {}", named(), text.trim());
            }
            if !is_pid || text.len() as u64 > MAX_BYTES {
                bail!("{} exists and holds no process id; name another", named());
            }
            // Its owner may have removed it between our opening and our locking.
            let ours = file.metadata().with_context(named)?;
            if fs::metadata(path).is_ok_and(|there| there.ino() == ours.ino()) {
                file.set_len(0).and_then(|()| file.rewind()).with_context(named)?;
                writeln!(file, "{}", std::process::id()).with_context(named)?;
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
