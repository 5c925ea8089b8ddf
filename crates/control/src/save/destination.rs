//! Where a snapshot goes: a file that appears when it is complete, or a stream.

use std::io::{self, Write};
use std::path::Path;

use hotset_facts::FileId;
use hotset_sys::whole_file::WholeFile;

use crate::ControlFailure;

/// A stream that counts, or a file that it counts into.
pub(super) struct Destination {
    to: To,
    pub(super) bytes: u64,
}

enum To {
    Stream(Box<dyn Write + Send>),
    File(WholeFile),
}

impl Destination {
    pub(super) fn stream(stream: Box<dyn Write + Send>) -> Self {
        Self { to: To::Stream(stream), bytes: 0 }
    }

    /// Opens a new file in the directory of `path`.
    pub(super) fn file(path: &Path) -> Result<Self, ControlFailure> {
        let file = WholeFile::create(path).map_err(ControlFailure::file(path))?;
        Ok(Self { to: To::File(file), bytes: 0 })
    }

    /// The file that is being written, and the one that it will replace: neither is worth being saved.
    pub(super) fn own_files(&self) -> Vec<FileId> {
        match &self.to {
            To::Stream(_) => Vec::new(),
            To::File(file) => file.stats().iter().map(hotset_sys::file_id).collect(),
        }
    }

    /// Puts the complete file in its place. A destination that is dropped before leaves no trace.
    pub(super) fn keep(self) -> io::Result<()> {
        match self.to {
            To::Stream(mut stream) => stream.flush(),
            To::File(file) => {
                // It is for after a restart.
                file.sync()?;
                file.keep()
            }
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match &mut self.to {
            To::Stream(stream) => stream,
            To::File(file) => file,
        }
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer().write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::fs;

    use super::*;
    use crate::testing::ScratchDir;

    fn names(scratch: &ScratchDir) -> Vec<String> {
        let entries = fs::read_dir(scratch.path()).expect("directory");
        let mut names: Vec<_> = entries
            .map(|entry| entry.expect("entry").file_name().into_string().expect("a name"))
            .collect();
        names.sort();
        names
    }

    fn written(path: &Path) -> Destination {
        let mut destination = Destination::file(path).expect("opened");
        destination.write_all(b"new").expect("written");
        destination
    }

    #[test]
    fn the_name_leads_to_the_old_file_until_the_new_one_is_complete() {
        let scratch = ScratchDir::new();
        let path = scratch.path().join("set");
        fs::write(&path, "old").expect("write");
        let destination = written(&path);
        assert_eq!(destination.bytes, 3);
        assert_eq!(destination.own_files().len(), 2);
        assert_eq!(fs::read(&path).expect("read"), b"old");
        destination.keep().expect("kept");
        assert_eq!(
            (fs::read(&path).expect("read"), names(&scratch)),
            (b"new".to_vec(), vec!["set".to_owned()])
        );
    }

    #[test]
    fn what_is_not_kept_leaves_no_trace() {
        let scratch = ScratchDir::new();
        drop(written(&scratch.path().join("set")));
        assert_eq!(names(&scratch), Vec::<String>::new());
    }

    #[test]
    fn what_is_no_file_is_refused_and_so_is_a_directory_that_is_not_there() {
        let scratch = ScratchDir::new();
        for path in [scratch.path(), Path::new("/dev/null")] {
            let refused = Destination::file(path).err().expect("refused");
            let error = refused.source().expect("a reason").to_string();
            assert!(error.contains("expected a file"), "{error}");
        }
        let error = Destination::file(&scratch.path().join("no/such")).err().expect("refused");
        assert!(
            matches!(error, ControlFailure::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
        );
    }
}
