//! The directory that an experiment works in, and that is gone afterwards.

use std::ffi::OsString;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hotset_facts::units::bytes;
use rustix::fs::{FileType, statfs};

/// How the names of scratch directories begin.
const PREFIX: &str = "hotset-lab-";

/// Left free beside what an experiment needs, in bytes: a full disk disturbs others.
const SPARE_BYTES: u64 = 64 << 20;

/// Why there is no scratch directory.
#[derive(Debug, thiserror::Error)]
pub enum ScratchError {
    /// It can't be made.
    #[error("cannot create a directory in {}: {error}; choose another with --dir", parent.display())]
    Make {
        /// The directory that it was to be made in.
        parent: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The directory to keep files in can't be made.
    #[error("--keep {}: {error}; expected a directory that does not exist yet", directory.display())]
    Keep {
        /// The one that was asked for.
        directory: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// There is no room.
    #[error(
        "{}: not enough space: {} free, {} needed (of which {} stay free); choose another directory with --dir, or a \
         smaller size",
        directory.display(), bytes(*free), bytes(*needed), bytes(SPARE_BYTES)
    )]
    NoRoom {
        /// The directory whose file system is too full.
        directory: PathBuf,
        /// What is needed, the reserve included.
        needed: u64,
        /// What is free for this user.
        free: u64,
    },
}

/// A fresh directory that vanishes with this value, unless it is to be kept. Where this process ends in a way that runs no code of it (a second Ctrl-C,
/// SIGKILL), its sweeper removes it.
#[derive(Debug)]
pub struct Scratch {
    directory: PathBuf,
    sweeper: Option<Child>,
    is_kept: bool,
}

impl Scratch {
    /// Makes one in `parent`; else in the current directory, $TMPDIR or /var/tmp, the first that is on a disk and can be
    /// written to. `sweeper` are the words of a program that reads its standard input to the end and then calls [`sweep`]
    /// for the directory, which is its last word.
    ///
    /// # Errors
    /// Where nothing can be written.
    pub fn make(parent: Option<&Path>, sweeper: &[OsString]) -> Result<Self, ScratchError> {
        let candidates: Vec<PathBuf> = match parent {
            Some(parent) => vec![parent.to_owned()],
            None => default_directories(),
        };
        let mut failed = None;
        for parent in candidates {
            match make_in(&parent) {
                Ok(directory) => {
                    let sweeper = start(sweeper, &directory);
                    return Ok(Self { directory, sweeper, is_kept: false });
                }
                Err(error) => {
                    failed.get_or_insert(ScratchError::Make { parent, error });
                }
            }
        }
        Err(failed.unwrap_or_else(|| ScratchError::Make {
            parent: PathBuf::from("."),
            error: io::Error::other(
                "neither the current directory nor $TMPDIR nor /var/tmp is on a disk",
            ),
        }))
    }

    /// Makes this directory, which stays with all that is in it, and its parents where they are missing.
    ///
    /// # Errors
    /// Where it is there already, or can't be made.
    pub fn keep(directory: &Path) -> Result<Self, ScratchError> {
        let failed = |error| ScratchError::Keep { directory: directory.to_owned(), error };
        let make = || {
            let directory = std::path::absolute(directory)?;
            if let Some(parent) = directory.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::create_dir(&directory).map(|()| directory)
        };
        let directory = make().map_err(failed)?;
        Ok(Self { directory, sweeper: None, is_kept: true })
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.is_kept {
            // Nothing was kept where it is empty; else this fails.
            let _ = std::fs::remove_dir(&self.directory);
            return;
        }
        sweep(&self.directory);
        if let Some(mut sweeper) = self.sweeper.take() {
            // Ends it: its standard input closes.
            drop(sweeper.stdin.take());
            let _ = sweeper.wait();
        }
    }
}

/// Refuses where `needed` bytes and a reserve don't fit.
///
/// # Errors
/// With both numbers.
pub fn require_room(directory: &Path, needed: u64, free: u64) -> Result<(), ScratchError> {
    let needed = needed.saturating_add(SPARE_BYTES);
    if free < needed {
        return Err(ScratchError::NoRoom { directory: directory.to_owned(), needed, free });
    }
    Ok(())
}

/// Removes a scratch directory with all that is in it. A probe that still runs may be writing: tried again for a while.
/// False, and nothing is done, for a directory that by its name is none.
pub fn sweep(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default();
    if !name.as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
        return false;
    }
    for _ in 0..20 {
        match std::fs::remove_dir_all(directory) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(100));
            }
            _ => break,
        }
    }
    true
}

fn start(words: &[OsString], directory: &Path) -> Option<Child> {
    let (program, rest) = words.split_first()?;
    let mut command = Command::new(program);
    command.args(rest).arg(directory);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Out of reach of the terminal's Ctrl-C. Without a sweeper the directory is removed on every way out but that.
    command.process_group(0).spawn().ok()
}

/// Where one is made if nobody says where: the first of these that can be written to.
pub fn default_directories() -> Vec<PathBuf> {
    let own = std::env::current_dir().ok();
    let temporary = std::env::var_os("TMPDIR").map(PathBuf::from);
    let all = own.into_iter().chain(temporary).chain(["/var/tmp".into(), "/tmp".into()]);
    all.filter(|directory: &PathBuf| is_on_disk(directory)).collect()
}

fn is_on_disk(directory: &Path) -> bool {
    let is_directory = rustix::fs::stat(directory)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
    /// `TMPFS_MAGIC` and `RAMFS_MAGIC` of <linux/magic.h>.
    const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];
    #[allow(clippy::unnecessary_cast, reason = "the type depends on the architecture")]
    let in_memory = statfs(directory).is_ok_and(|fs| IN_MEMORY.contains(&(fs.f_type as u64)));
    is_directory && !in_memory
}

fn make_in(parent: &Path) -> io::Result<PathBuf> {
    let parent = std::path::absolute(parent)?;
    for attempt in 0..100_u32 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_nanos());
        let serial = now.rotate_left(7) ^ std::process::id() ^ attempt;
        let directory = parent.join(format!("{PREFIX}{serial:08x}"));
        match std::fs::DirBuilder::new().mode(0o700).create(&directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| directory),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Scratch as Parent;

    #[test]
    fn it_is_fresh_and_gone_with_its_value() {
        let parent = Parent::new();
        let at = parent.path("");
        let made = Scratch::make(Some(&at), &[]).expect("made");
        let other = Scratch::make(Some(&at), &[]).expect("made");
        assert_ne!(made.directory(), other.directory());
        std::fs::write(made.directory().join("file"), b"x").expect("write");
        let directory = made.directory().to_owned();
        let theirs = parent.path("theirs");
        std::fs::create_dir(&theirs).expect("a directory");
        assert!(!sweep(&theirs) && theirs.exists(), "only directories of its own are removed");
        drop(made);
        assert!(!directory.exists() && other.directory().exists());
        let error = Scratch::make(Some(Path::new("/proc/nowhere")), &[]).expect_err("refused");
        assert!(error.to_string().contains("/proc/nowhere") && error.to_string().contains("--dir"));
    }

    #[test]
    fn what_is_to_be_kept_stays_and_is_made_only_once() {
        let parent = Parent::new();
        let at = parent.path("deep/load");
        let made = Scratch::keep(&at).expect("made");
        std::fs::write(made.directory().join("file"), b"x").expect("write");
        drop(made);
        assert_eq!(std::fs::read(at.join("file")).expect("kept"), b"x");
        drop(Scratch::keep(&parent.path("deep/none")).expect("made"));
        assert!(!parent.path("deep/none").exists(), "it kept nothing");
        let error = Scratch::keep(&at).expect_err("there already").to_string();
        assert!(error.starts_with("--keep ") && error.contains("does not exist yet"), "{error}");
    }

    #[test]
    fn a_sweeper_removes_it_when_nobody_else_can() {
        let parent = Parent::new();
        let words = ["sh", "-c", "cat; rm -r \"$1\"", "sh"].map(OsString::from);
        let mut made = Scratch::make(Some(&parent.path("")), &words).expect("made");
        let directory = made.directory().to_owned();
        let mut sweeper = made.sweeper.take().expect("a sweeper");
        // As if this process had been killed: nothing is dropped, and the pipe closes.
        std::mem::forget(made);
        drop(sweeper.stdin.take());
        assert!(sweeper.wait().expect("wait").success());
        assert!(!directory.exists());
    }

    #[test]
    fn no_room_is_told_with_both_numbers() {
        let at = Path::new("/here");
        let error = require_room(at, 1000, 999).expect_err("refused").to_string();
        assert!(
            error.starts_with("/here: not enough space: 999 B free, 64.0 MiB needed"),
            "{error}"
        );
        assert!(require_room(at, 1000, u64::MAX).is_ok());
    }
}
