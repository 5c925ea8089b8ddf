//! What the file system of a directory can do.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hotset_facts::{Dev, Environment, Observed};
use hotset_sys::cache::{is_in_memory, residency};
use hotset_sys::rawio::{DirectAlignment, direct_alignment};

/// A directory, and what its file system can do.
#[derive(Debug, Clone)]
pub struct Place {
    /// The directory, absolute.
    pub directory: PathBuf,
    /// The type of its file system.
    pub filesystem: String,
    /// Its device.
    pub dev: Dev,
    /// Read-ahead there, in KiB.
    pub read_ahead_kb: Observed<u64>,
    /// Its files are nowhere but in memory: they can't be evicted.
    pub in_memory: bool,
    /// How O_DIRECT has to be aligned, or why there is none.
    pub direct: Result<DirectAlignment, String>,
    /// Bytes that are free for this user.
    pub free_bytes: u64,
}

impl Place {
    /// Looks at a directory by making a file of 64 KiB in it, which is gone afterwards.
    ///
    /// # Errors
    /// Names the directory where nothing can be written.
    pub fn look(directory: &Path) -> io::Result<Self> {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", directory.display()))
        };
        let path = directory.join("place");
        let looked = Self::with(directory, &path).map_err(named);
        let _ = std::fs::remove_file(&path);
        looked
    }

    /// The same for what reads this file and not one of the directory's: O_DIRECT may be another matter there.
    pub fn reading(self, path: &Path) -> Self {
        Self { direct: direct(path), ..self }
    }

    fn with(directory: &Path, path: &Path) -> io::Result<Self> {
        std::fs::write(path, vec![7; 64 << 10])?;
        let file = File::open(path)?;
        file.sync_all()?;
        let stat = rustix::fs::fstat(&file)?;
        let dev = hotset_sys::file_id(&stat).dev;
        // The file system is shut off from the block device of overlayfs; what it says of itself counts.
        let environment: Environment = hotset_sys::environment(&[dev], &[]);
        let filesystem = environment.filesystems.first();
        let in_memory = is_in_memory(&file);
        let direct = if in_memory {
            // Recent kernels accept the flag on tmpfs, and copy from memory all the same.
            Err("its files are in memory".to_owned())
        } else {
            direct(path)
        };
        let _ = residency(&file);
        let room = rustix::fs::fstatvfs(&file)?;
        Ok(Self {
            directory: directory.to_owned(),
            filesystem: filesystem.map_or_else(|| "unknown".into(), |known| known.fs_type.clone()),
            dev,
            read_ahead_kb: hotset_sys::environment::read_ahead_kb(dev),
            in_memory,
            direct,
            free_bytes: room.f_bavail.saturating_mul(room.f_frsize),
        })
    }
}

fn direct(path: &Path) -> Result<DirectAlignment, String> {
    let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
    let file = File::options()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .map_err(|error| format!("open with O_DIRECT: {error}"))?;
    direct_alignment(&file).map_err(|error| format!("reading with O_DIRECT: {error}"))
}
