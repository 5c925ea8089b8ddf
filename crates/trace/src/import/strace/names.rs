//! Which file a path names.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use hotset_facts::FileKind;
use hotset_facts::trace::{FileIndex, TraceFile};

use crate::import::batch::BatchBuilder;

/// Files by their paths. It grows with the number of distinct paths.
#[derive(Debug, Default)]
pub(super) struct Names(HashMap<Arc<[u8]>, FileIndex>);

impl Names {
    pub(super) fn get(&self, path: &[u8]) -> Option<FileIndex> {
        self.0.get(path).copied()
    }

    /// The file of a path, which is new where no line named it before.
    pub(super) fn file(
        &mut self,
        path: &[u8],
        kind: FileKind,
        out: &mut BatchBuilder,
    ) -> (FileIndex, Arc<[u8]>) {
        if let Some((path, file)) = self.0.get_key_value(path) {
            return (*file, Arc::clone(path));
        }
        let name: Arc<[u8]> = path.into();
        let file = nameless(out, Some(path), kind);
        self.0.insert(Arc::clone(&name), file);
        (file, name)
    }

    /// The path names nothing any more; what it names later is another file.
    pub(super) fn unlink(&mut self, path: &[u8]) {
        self.0.remove(path);
    }

    /// The file of one path is that of the other from now on.
    pub(super) fn rename(&mut self, old: &[u8], new: &[u8]) {
        match self.0.remove(old) {
            Some(file) => drop(self.0.insert(new.into(), file)),
            None => self.unlink(new),
        }
    }

    /// Both paths name one file.
    pub(super) fn link(&mut self, old: &[u8], new: &[u8]) {
        if let Some(file) = self.get(old) {
            self.0.insert(new.into(), file);
        }
    }
}

/// A file that no path leads to, such as one that was deleted while it was open.
pub(super) fn nameless(out: &mut BatchBuilder, path: Option<&[u8]>, kind: FileKind) -> FileIndex {
    let path = path.map(|path| PathBuf::from(bytes(path)));
    out.add_file(TraceFile { path, kind, id: None, size_bytes: None, cached_pages: None })
}

pub(super) fn bytes(text: &[u8]) -> std::ffi::OsString {
    std::os::unix::ffi::OsStringExt::from_vec(text.to_vec())
}
