//! A snapshot that is read more than once, and must be the same each time.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hotset_facts::PageRange;
use hotset_snapshot::{Reader, Record, SavedFile, Verified, verify};

/// A snapshot that was found good.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    pub(super) verified: Verified,
}

/// What comes next of a snapshot.
pub(super) enum Next {
    /// A file and its place among the files.
    File(u32, SavedFile),
    /// Ranges of the file before.
    Ranges(Vec<PageRange>),
}

impl Source {
    /// Reads all of it once: nothing is done with a snapshot that is damaged somewhere.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let named = || path.display().to_string();
        let file = File::open(path).with_context(named)?;
        if !file.metadata().with_context(named)?.is_file() {
            bail!("{}: expected a file, which can be checked before it is used", path.display());
        }
        let verified = verify(BufReader::new(&file))
            .with_context(|| format!("{}: nothing was restored", path.display()))?;
        if u32::try_from(verified.totals.files).is_err() {
            bail!("{}: more than {} files", path.display(), u32::MAX);
        }
        let (saved, own) = (verified.header.page_size, hotset_sys::page_size());
        if saved != own {
            bail!(
                "{}: saved in pages of {saved} bytes, and this host has pages of {own}: nothing was restored",
                path.display()
            );
        }
        Ok(Self { path: path.to_owned(), file, verified })
    }

    /// Reads it again, and hands on what it holds until `each` says false.
    pub(super) fn read(&mut self, mut each: impl FnMut(Next) -> bool) -> Result<()> {
        let named = || self.path.display().to_string();
        self.file.seek(SeekFrom::Start(0)).with_context(named)?;
        let mut reader = Reader::new(BufReader::new(&self.file)).with_context(named)?;
        let mut index = 0;
        while let Some(record) = reader.next_record().with_context(named)? {
            let next = match record {
                Record::File(file) => {
                    index += 1;
                    Next::File(index - 1, file)
                }
                Record::Ranges(ranges) => Next::Ranges(ranges),
            };
            if !each(next) {
                return Ok(());
            }
        }
        if reader.check() != Some(self.verified.check) {
            bail!("{}: replaced by another snapshot while it was read", self.path.display());
        }
        Ok(())
    }
}
