//! The file or the block device that a program reads under the sensor.

use std::fs::File;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use hotset_facts::{FileId, FileKind, FileRow, FileSet, LearnedBy, WantedState};
use hotset_lab::{States, build, from_paths, verify};
use hotset_sys::cache::{
    ByteSpan, Dirty, cached_pages_in, evict_span, open_quietly, residency, warm_span,
};
use hotset_sys::rawio::stream::LARGEST_FOLIO_BYTES;

/// A cold state may have this share of the pages, in thousandths, as everywhere in the lab.
const COLD_PERMILLE: u64 = 1;

/// What is read, and whose state is set for it.
pub(super) enum Target {
    File { set: FileSet, id: FileId },
    Device(Device),
}

impl Target {
    /// The file, or the first `bytes` of a block device.
    pub(super) fn of(path: &Path, bytes: u64) -> Result<Self, String> {
        if is_block_device(path) {
            return Device::open(path, bytes).map(Self::Device);
        }
        let (candidates, _) = from_paths(vec![path.to_owned()], &false.into());
        let set = build(LearnedBy::Given, &candidates, None);
        let id = set.members.first().map(|member| member.id).ok_or("the file is gone")?;
        Ok(Self::File { set, id })
    }

    /// Sets the state, and says how many pages are cached then, where that is known.
    pub(super) fn reach(&mut self, state: WantedState) -> Result<Option<u64>, String> {
        match self {
            Self::File { set, .. } => {
                let (reached, ()) = States::default().reach(state, set, || ())?;
                Ok(reached.value().map(|reached| reached.cached_pages))
            }
            Self::Device(device) => {
                match state {
                    WantedState::Cold => device.evict()?,
                    _ => device.warm()?,
                }
                Ok(device.cached())
            }
        }
    }

    /// Pages that are cached now.
    pub(super) fn cached(&self) -> Option<u64> {
        match self {
            Self::File { set, .. } => {
                verify(WantedState::AsIs, set).value().map(|reached| reached.cached_pages)
            }
            Self::Device(device) => device.cached(),
        }
    }

    /// Whether the sensor's row is of it. A device has its inode in a file system of the kernel's own.
    pub(super) fn is(&self, row: &FileRow) -> bool {
        match self {
            Self::File { id, .. } => row.id.same_inode(id),
            Self::Device(device) => {
                row.kind == FileKind::BlockDevice && row.path.as_value() == Some(&device.path)
            }
        }
    }
}

/// Whether there is a block device at this path.
pub(super) fn is_block_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.file_type().is_block_device())
}

/// The first bytes of a block device, which is only read. It is open as long as this value lives: the kernel drops what is
/// cached of a device when the last one who has it open closes it.
pub(super) struct Device {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl Device {
    /// Opens it for reading.
    ///
    /// # Errors
    /// Where it can't be read, or has fewer bytes.
    pub(super) fn open(path: &Path, bytes: u64) -> Result<Self, String> {
        let path = path.canonicalize().map_err(|error| error.to_string())?;
        let (file, _) = open_quietly(&path).map_err(|error| error.to_string())?;
        let file = File::from(file);
        let size = residency(&file).map_err(|error| error.to_string())?.size_bytes;
        if size < bytes {
            return Err(format!("it has {size} bytes; expected at least {bytes} (--block)"));
        }
        Ok(Self { path, file, bytes })
    }

    /// Fails where some of its first bytes stay cached although nothing is dirty: a mounted file system holds what it needs.
    ///
    /// # Errors
    /// Says how many pages stay.
    pub(super) fn require_evictable(&self) -> Result<(), String> {
        self.evict()?;
        let pages = hotset_sys::pages_of(self.bytes);
        match self.cached() {
            Some(cached) if cached > pages * COLD_PERMILLE / 1000 => Err(format!(
                "{cached} of its first {pages} pages stay cached, as a mounted file system needs them; expected a device that is \
                 not mounted, or a file on it"
            )),
            _ => Ok(()),
        }
    }

    fn evict(&self) -> Result<(), String> {
        // A folio that reaches over the end of the part would stay whole.
        let ByteSpan { start, end } = self.span();
        let span = ByteSpan { start, end: end.saturating_add(LARGEST_FOLIO_BYTES) };
        evict_span(&self.file, &self.path, span, Dirty::Leave)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn warm(&self) -> Result<(), String> {
        let warmed = warm_span(&self.file, &self.path, self.span(), &());
        let warmed = warmed.map_err(|error| error.to_string())?;
        warmed.error.map_or(Ok(()), |error| Err(error.to_string()))
    }

    fn cached(&self) -> Option<u64> {
        cached_pages_in(&self.file, 0, self.bytes).ok()
    }

    fn span(&self) -> ByteSpan {
        ByteSpan { start: 0, end: self.bytes }
    }
}
