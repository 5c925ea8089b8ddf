//! A file that is written as a whole: whoever reads it sees the old contents or the new ones, never a half.

mod place;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use place::{directory_of, resolve};

/// The mode of a new file, without what umask(2) takes away.
const NEW_FILE: u32 = 0o666;

/// A file that has no name, or another one, until it is complete. One that is dropped before leaves no trace.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    path: PathBuf,
    /// Its name until then: for a moment at the end, or all the time where the file system can't hold a file without a name.
    part: PathBuf,
    has_name: bool,
}

impl WholeFile {
    /// Whether [`WholeFile::create`] refuses this name, without making anything.
    ///
    /// # Errors
    /// As there, but for what the directory allows.
    pub fn check(name: &Path) -> io::Result<()> {
        resolve(name).map(drop)
    }

    /// Opens a new file in the directory of `name`, or of what that leads to through symbolic links. A process that is killed
    /// leaves nothing of it, except on file systems that know no O_TMPFILE (FAT, NFS), where `NAME.PID.part` stays.
    ///
    /// # Errors
    /// Where there is something else than a file, a program, or a link or a file of another user in a directory that all can write to;
    /// or where the directory can't be written to.
    pub fn create(name: &Path) -> io::Result<Self> {
        let (path, replaces) = resolve(name)?;
        if replaces.as_ref().is_some_and(|there| !there.is_file()) {
            return Err(io::Error::other("expected a file, or no file yet"));
        }
        let part = part_of(&path);
        let (file, has_name) = match unnamed(directory_of(&path)) {
            Some(file) => (file, false),
            // A new file and not what somebody else may have put there under this name.
            None => (File::create_new(&part)?, true),
        };
        let made = Self { file, path, part, has_name };
        if let Some(old) = replaces {
            made.take_over(&old)?;
        }
        Ok(made)
    }

    /// Gives it owner and permissions of the file that is there, before anybody could read in it what they may not.
    fn take_over(&self, old: &fs::Metadata) -> io::Result<()> {
        const PERMISSIONS: u32 = 0o777;
        // Only root gives files away: for others it stays their own.
        let _ = fchown(&self.file, Some(old.uid()), Some(old.gid()));
        let wanted = old.mode() & PERMISSIONS;
        // A file system without permissions refuses to set them, and has the same for all files.
        if self.file.metadata()?.mode() & PERMISSIONS != wanted {
            self.file.set_permissions(Permissions::from_mode(wanted))?;
        }
        Ok(())
    }

    /// The file that is being written, and the one that it will replace.
    pub fn stats(&self) -> Vec<rustix::fs::Stat> {
        [rustix::fs::fstat(&self.file), rustix::fs::stat(&self.path)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// Has it on the disk when this returns, to outlive a power failure.
    ///
    /// # Errors
    /// As fsync(2).
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Sees to it that so many bytes from `from` on can be written: room that is not used is given back by [`WholeFile::trim`]. File
    /// systems that can't promise room (FAT, some of NFS) promise nothing here, and that is no error.
    ///
    /// # Errors
    /// Where there is no room.
    pub fn reserve(&self, from: u64, bytes: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, from, bytes) {
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives back room behind its end.
    ///
    /// # Errors
    /// As ftruncate(2).
    pub fn trim(&self) -> io::Result<()> {
        self.file.set_len(self.file.metadata()?.len())
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// Where the kernel refuses to; what was there stays.
    pub fn keep(mut self) -> io::Result<()> {
        if !self.has_name {
            self.give_name()?;
        }
        fs::rename(&self.part, &self.path)?;
        self.has_name = false;
        Ok(())
    }

    fn give_name(&mut self) -> io::Result<()> {
        let open = open_path(&self.file);
        rustix::fs::linkat(CWD, open, CWD, &self.part, AtFlags::SYMLINK_FOLLOW)?;
        self.has_name = true;
        Ok(())
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if self.has_name {
            let _ = fs::remove_file(&self.part);
        }
    }
}

/// A file without a name, where the file system has such files and /proc is there to name them later.
fn unnamed(directory: &Path) -> Option<File> {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file =
        File::from(rustix::fs::open(directory, flags, Mode::from_bits_truncate(NEW_FILE)).ok()?);
    fs::metadata(open_path(&file)).ok().map(|_| file)
}

fn open_path(file: &impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()).into()
}

fn part_of(path: &Path) -> PathBuf {
    let mut part: OsString = path.as_os_str().to_owned();
    part.push(format!(".{}.part", std::process::id()));
    part.into()
}
