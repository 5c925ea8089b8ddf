//! Where a snapshot goes: a file that appears when it is complete, or a stream.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hotset_facts::FileId;

use crate::ControlFailure;

/// A stream that counts, and a name that it gets in the end.
pub(super) struct Destination {
    stream: Box<dyn Write + Send>,
    pub(super) bytes: u64,
    unfinished: Option<Unfinished>,
}

/// A file under a name of its own until it is complete.
struct Unfinished {
    part: PathBuf,
    path: PathBuf,
    file: File,
    renamed: bool,
}

impl Destination {
    pub(super) fn stream(stream: Box<dyn Write + Send>) -> Self {
        Self { stream, bytes: 0, unfinished: None }
    }

    /// Opens a new file in the directory of `path`.
    pub(super) fn file(path: &Path) -> Result<Self, ControlFailure> {
        // Where a link leads to is replaced, and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if fs::metadata(&path).is_ok_and(|there| !there.is_file()) {
            return Err(ControlFailure::unusable(path, "expected a file, or no file yet"));
        }
        let mut part = path.clone().into_os_string();
        part.push(format!(".{}.part", std::process::id()));
        let part = PathBuf::from(part);
        let opened = File::create_new(&part).and_then(|file| Ok((file.try_clone()?, file)));
        let (file, stream) = opened.map_err(ControlFailure::file(&part))?;
        let unfinished = Some(Unfinished { part, path, file, renamed: false });
        Ok(Self { stream: Box::new(stream), bytes: 0, unfinished })
    }

    /// The file that is being written, and the one that it will replace: neither is worth being saved.
    pub(super) fn own_files(&self) -> Vec<FileId> {
        let Some(unfinished) = &self.unfinished else { return Vec::new() };
        let stats = [rustix::fs::stat(&unfinished.part), rustix::fs::stat(&unfinished.path)];
        stats.iter().flatten().map(hotset_sys::file_id).collect()
    }

    /// Puts the complete file in its place. A destination that is dropped before leaves no trace.
    pub(super) fn keep(mut self) -> io::Result<()> {
        self.stream.flush()?;
        if let Some(unfinished) = &mut self.unfinished {
            // It is for after a restart.
            unfinished.file.sync_all()?;
            fs::rename(&unfinished.part, &unfinished.path)?;
            unfinished.renamed = true;
        }
        Ok(())
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.stream.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.renamed {
            let _ = fs::remove_file(&self.part);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

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
    fn a_link_stays_a_link_and_its_target_is_replaced() {
        let scratch = ScratchDir::new();
        let (link, target) = (scratch.path().join("link"), scratch.path().join("target"));
        fs::write(&target, "old").expect("write");
        symlink(&target, &link).expect("link");
        written(&link).keep().expect("kept");
        assert!(link.is_symlink() && fs::read(&target).expect("read") == b"new");
    }

    #[test]
    fn what_is_no_file_is_refused_and_so_is_a_directory_that_is_not_there() {
        let scratch = ScratchDir::new();
        for path in [scratch.path(), Path::new("/dev/null")] {
            let error = Destination::file(path).err().expect("refused").to_string();
            assert!(error.contains("expected a file"), "{error}");
        }
        let error = Destination::file(&scratch.path().join("no/such")).err().expect("refused");
        assert!(
            matches!(error, ControlFailure::File { source, .. } if source.kind() == io::ErrorKind::NotFound)
        );
    }
}
