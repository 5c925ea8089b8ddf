//! Writing a recording: a line an interval, each in the file as soon as the interval is over.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hotset_analysis::top::{RECORDED_LINES, TopFrame};
use hotset_facts::NotMeasured;
use hotset_view::wire::top::{Header, header_line, interval_line};

use crate::args::TopArgs;

/// A recording that is being written.
pub(super) struct Recorder {
    path: PathBuf,
    file: File,
    lines: usize,
}

impl Recorder {
    /// Starts the file that the arguments name, if they name one.
    ///
    /// # Errors
    /// Where the file is there already, or can't be written.
    pub(super) fn start(args: &TopArgs, not_measured: &[NotMeasured]) -> Result<Option<Self>> {
        let Some(path) = &args.record else { return Ok(None) };
        let named = || {
            format!(
                "{}: a recording goes into a new file in a directory that can be written",
                path.display()
            )
        };
        let file =
            OpenOptions::new().append(true).create_new(true).open(path).with_context(named)?;
        let lines = args.top.map_or(RECORDED_LINES, |top| top as usize);
        let mut recorder = Self { path: path.clone(), file, lines };
        let header = Header {
            hotset: env!("CARGO_PKG_VERSION").to_owned(),
            host: super::names::host(),
            interval_ns: hotset_facts::units::nanos(args.interval),
            scope: super::scope(args),
            not_measured: not_measured.to_vec(),
        };
        recorder.write(&header_line(&header))?;
        Ok(Some(recorder))
    }

    /// Adds an interval.
    ///
    /// # Errors
    /// Where it can't be written; the file is named.
    pub(super) fn add(&mut self, frame: &TopFrame) -> Result<()> {
        let line = interval_line(&frame.bounded(self.lines));
        self.write(&line)
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// One write for a line: a reader sees the whole of it. A part that a full disk took is taken back, and a file without any line
    /// is removed.
    fn write(&mut self, line: &[u8]) -> Result<()> {
        let before = self.file.metadata().map(|metadata| metadata.len());
        let written = self.file.write_all(line);
        if written.is_err() {
            let _ = match before {
                Ok(0) => std::fs::remove_file(&self.path),
                Ok(length) => self.file.set_len(length),
                Err(_) => Ok(()),
            };
        }
        written.with_context(|| self.path.display().to_string())
    }
}
