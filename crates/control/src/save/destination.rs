//! Where a snapshot goes: a file that appears when it is complete, or standard output.

use std::fs::{self, File};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hotset_facts::FileId;

use crate::output;

/// A stream that counts, and a name that it gets in the end.
pub(super) struct Destination {
    stream: Box<dyn Write + Send>,
    pub(super) bytes: u64,
    kept: Option<Kept>,
}

struct Kept {
    beside: PathBuf,
    path: PathBuf,
    file: File,
    done: bool,
}

impl Destination {
    /// Opens a new file beside `path`; `-` is standard output.
    pub(super) fn open(path: &Path) -> Result<Self> {
        if path == Path::new("-") {
            let out = output::snapshot_stream();
            if out.is_terminal() {
                bail!(
                    "a snapshot is no text for a terminal: name a FILE, or send it through a pipe"
                );
            }
            return Ok(Self { stream: Box::new(out), bytes: 0, kept: None });
        }
        // Where a link leads to is replaced, and not the link.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&path) {
            Ok(there) if !there.is_file() => {
                bail!("{}: expected a file, or no file yet", path.display())
            }
            _ => {}
        }
        let mut beside = path.clone().into_os_string();
        beside.push(format!(".{}.part", std::process::id()));
        let beside = PathBuf::from(beside);
        let opened = File::create_new(&beside).and_then(|file| Ok((file.try_clone()?, file)));
        let (file, stream) = opened.with_context(|| beside.display().to_string())?;
        let kept = Some(Kept { beside, path, file, done: false });
        Ok(Self { stream: Box::new(stream), bytes: 0, kept })
    }

    /// The file that is being written, and the one that it will replace: neither is worth being saved.
    pub(super) fn own_files(&self) -> Vec<FileId> {
        let Some(kept) = &self.kept else { return Vec::new() };
        let stats = [rustix::fs::stat(&kept.beside), rustix::fs::stat(&kept.path)];
        stats.iter().flatten().map(hotset_sys::file_id).collect()
    }

    /// Puts the complete file in its place. A destination that is dropped before leaves no trace.
    pub(super) fn keep(mut self) -> io::Result<()> {
        self.stream.flush()?;
        if let Some(kept) = &mut self.kept {
            // It is for after a restart.
            kept.file.sync_all()?;
            fs::rename(&kept.beside, &kept.path)?;
            kept.done = true;
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

impl Drop for Kept {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.beside);
        }
    }
}
