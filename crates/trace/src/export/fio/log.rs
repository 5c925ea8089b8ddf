//! One I/O log, version 3.

use std::collections::{HashSet, VecDeque};
use std::io::{self, Write};

use hotset_facts::trace::FileIndex;

/// Files that a log has open at once: fio opens each anew for each job, and a process may have
/// 1,024 by default.
const OPEN: usize = 256;

/// What a line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Read,
    Write,
    Sync,
    Datasync,
}

impl Action {
    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Datasync => "datasync",
        }
    }
}

/// A log while it is written.
pub(super) struct Log<W> {
    out: W,
    last_us: u64,
    added: HashSet<FileIndex>,
    /// Open files, the one that was used last at the end.
    open: VecDeque<FileIndex>,
}

/// The name of a file in a log: fio takes no white space and at most 256 characters, and joins
/// names with `:`.
pub(super) fn name(file: FileIndex) -> String {
    format!("f{}", file.0)
}

impl<W: Write> Log<W> {
    /// Begins a log.
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"fio version 3 iolog\n")?;
        // fio waits for the difference of two times, and takes 0 for none: the first line stands at
        // 1.
        Ok(Self { out, last_us: 1, added: HashSet::new(), open: VecDeque::new() })
    }

    /// Writes a request. Times that go back stand still: fio would wait twice for what lies
    /// between.
    pub(super) fn request(
        &mut self,
        start_ns: u64,
        action: Action,
        file: FileIndex,
        (offset, bytes): (u64, u64),
    ) -> io::Result<()> {
        self.use_file(file)?;
        self.last_us = self.last_us.max((start_ns / 1000).saturating_add(1));
        writeln!(self.out, "{} {} {} {offset} {bytes}", self.last_us, name(file), action.word())
    }

    /// Opens a file if it is not open, and closes another where too many are.
    fn use_file(&mut self, file: FileIndex) -> io::Result<()> {
        if self.open.back() == Some(&file) {
            return Ok(());
        }
        if let Some(at) = self.open.iter().position(|open| *open == file) {
            self.open.remove(at);
            self.open.push_back(file);
            return Ok(());
        }
        if self.open.len() >= OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            self.act(oldest, "close")?;
        }
        if self.added.insert(file) {
            self.act(file, "add")?;
        }
        self.act(file, "open")?;
        self.open.push_back(file);
        Ok(())
    }

    fn act(&mut self, file: FileIndex, action: &str) -> io::Result<()> {
        writeln!(self.out, "{} {} {action}", self.last_us, name(file))
    }

    /// Closes what is open.
    pub(super) fn finish(mut self) -> io::Result<()> {
        while let Some(file) = self.open.pop_front() {
            self.act(file, "close")?;
        }
        self.out.flush()
    }
}
