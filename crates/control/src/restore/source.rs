//! A snapshot that is read more than once, and must be the same each time.

use std::fs::File;
use std::io::{BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use hotset_facts::PageRange;
use hotset_snapshot::{Reader, Record, SavedFile, Verified, verify};

use crate::ControlFailure;

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
    pub(super) fn open(path: &Path) -> Result<Self, ControlFailure> {
        let file = File::open(path).map_err(ControlFailure::file(path))?;
        if !file.metadata().map_err(ControlFailure::file(path))?.is_file() {
            let why = "expected a file, which can be checked before it is used";
            return Err(ControlFailure::unusable(path, why));
        }
        let verified = verify(BufReader::new(&file))
            .map_err(|source| ControlFailure::Damaged { path: path.to_owned(), source })?;
        if let Some(why) = unusable(&verified, hotset_sys::page_size()) {
            return Err(ControlFailure::unusable(path, why));
        }
        Ok(Self { path: path.to_owned(), file, verified })
    }

    /// Reads it again, and hands on what it holds until `each` says false.
    pub(super) fn read(
        &mut self,
        mut each: impl FnMut(Next) -> bool,
    ) -> Result<(), ControlFailure> {
        let failed = |source| ControlFailure::Unreadable { path: self.path.clone(), source };
        self.file.seek(SeekFrom::Start(0)).map_err(ControlFailure::file(&self.path))?;
        let mut reader = Reader::new(BufReader::new(&self.file)).map_err(failed)?;
        let mut index = 0;
        while let Some(record) = reader.next_record().map_err(failed)? {
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
            let why = "replaced by another snapshot while it was read";
            return Err(ControlFailure::unusable(&self.path, why));
        }
        Ok(())
    }
}

/// Why this host can do nothing with a good snapshot.
fn unusable(verified: &Verified, own_page_size: u64) -> Option<String> {
    if u32::try_from(verified.totals.files).is_err() {
        return Some(format!("more than {} files", u32::MAX));
    }
    let saved = verified.header.page_size;
    (saved != own_page_size).then(|| {
        format!("page size {saved} bytes, this host {own_page_size}; nothing was restored. Use a host with the same page size")
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use hotset_snapshot::{FileSystem, Header, Writer};

    use super::*;
    use crate::testing::ScratchDir;

    /// A snapshot of files with one page each.
    fn snapshot(page_size: u64, files: &[&str]) -> Vec<u8> {
        let (kernel, written_by) = (String::new(), String::new());
        let header = Header { page_size, created_s: 1, kernel, written_by };
        let mut writer = Writer::new(Vec::new(), &header).expect("header");
        let file_system = writer
            .file_system(&FileSystem {
                dev: hotset_facts::Dev::default(),
                kind: String::new(),
                mount: Vec::new(),
                uuid: None,
            })
            .expect("file system");
        for path in files {
            let path = path.as_bytes().to_vec();
            let file = SavedFile { path, file_system, size_bytes: 9, ..SavedFile::default() };
            writer.file(&file).expect("file");
            writer.ranges(&[PageRange { first: 0, count: 1 }]).expect("range");
        }
        writer.finish().expect("finish").0
    }

    fn refusal(scratch: &ScratchDir, bytes: &[u8]) -> String {
        let path = scratch.path().join("set");
        fs::write(&path, bytes).expect("write");
        Source::open(&path).err().expect("refused").to_string()
    }

    #[test]
    fn what_can_not_be_used_is_refused_before_anything_is_done() {
        let scratch = ScratchDir::new();
        let own = hotset_sys::page_size();
        let mut damaged = snapshot(own, &["/a"]);
        damaged[60] ^= 1;
        assert!(refusal(&scratch, &damaged).contains("nothing was restored"));
        assert!(refusal(&scratch, b"").contains("nothing was restored"));
        let other = refusal(&scratch, &snapshot(2 * own, &["/a"]));
        assert!(other.contains(&format!("page size {} bytes", 2 * own)), "{other}");
        let directory = Source::open(scratch.path()).err().expect("refused").to_string();
        assert!(directory.contains("expected a file"), "{directory}");
        let missing = Source::open(&scratch.path().join("no")).err().expect("refused");
        assert!(matches!(missing, ControlFailure::File { .. }), "{missing}");
    }

    #[test]
    fn files_have_their_place_and_reading_ends_when_no_more_is_wanted() {
        let scratch = ScratchDir::new();
        let path = scratch.path().join("set");
        fs::write(&path, snapshot(hotset_sys::page_size(), &["/a", "/b", "/c"])).expect("write");
        let mut source = Source::open(&path).expect("good");
        for wanted in [vec![0], vec![0, 1, 2]] {
            let mut seen = Vec::new();
            let read = source.read(|next| {
                if let Next::File(index, _) = next {
                    seen.push(index);
                }
                seen.len() < wanted.len() || wanted.len() == 3
            });
            read.expect("read");
            assert_eq!(seen, wanted);
        }
    }

    #[test]
    fn a_snapshot_that_is_overwritten_meanwhile_is_noticed() {
        let scratch = ScratchDir::new();
        let path = scratch.path().join("set");
        let page_size = hotset_sys::page_size();
        fs::write(&path, snapshot(page_size, &["/a", "/b"])).expect("write");
        let mut source = Source::open(&path).expect("good");
        fs::write(&path, snapshot(page_size, &["/a", "/x"])).expect("write");
        let error = source.read(|_| true).expect_err("noticed").to_string();
        assert!(error.contains("replaced by another snapshot"), "{error}");
    }
}
