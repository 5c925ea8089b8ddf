//! The spool of a host: a journal of rows that are no file yet, and files that are not delivered yet.
//!
//! The journal has a line an interval, and is synced after each: a host that dies loses what it had not sampled. What an earlier session
//! left is made into files by the next. Files lie below `ready/` as they will below the root; when they take more than may be, the
//! oldest are dropped and counted.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hotset_sys::whole_file::WholeFile;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::place::{Origin, Period, path_of};
use crate::rows::Rows;

const JOURNAL: &str = "journal";
const READY: &str = "ready";

/// Whose rows a journal has: its first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub(crate) host_id: String,
    pub(crate) session: u64,
}

/// A line of it.
#[derive(Serialize, Deserialize)]
struct Line {
    period: Period,
    rows: Rows,
}

/// A host's spool.
#[derive(Debug)]
pub(crate) struct Spool {
    dir: PathBuf,
    limit_bytes: u64,
    owner: Owner,
    journal: File,
    /// Files that were dropped since it was opened.
    pub(crate) dropped_files: u64,
    /// Lines of journals that were cut off or could not be read.
    pub(crate) bad_lines: u64,
}

/// A file that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// Where it is.
    pub(crate) file: PathBuf,
    /// Where it goes, below the root.
    pub(crate) path: String,
    /// How large it is.
    pub(crate) bytes: u64,
    made: SystemTime,
}

impl Spool {
    /// Opens it, and makes files of what sessions left that are no more.
    ///
    /// # Errors
    /// Where the directory can't be made or written to.
    pub(crate) fn open(dir: &Path, limit_bytes: u64, owner: Owner) -> io::Result<Self> {
        // Paths of everybody's files are in it.
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        fs::create_dir_all(dir.join(READY))?;
        let path = dir.join(format!("{}.{JOURNAL}", owner.session));
        let journal = OpenOptions::new().create(true).append(true).read(true).open(&path)?;
        // Held as long as this session lives: whoever finds it locked leaves it alone.
        lock(&journal).map_err(|_| in_use(&path))?;
        let dir = dir.to_owned();
        let mut spool = Self { dir, limit_bytes, owner, journal, dropped_files: 0, bad_lines: 0 };
        remove_empty(&spool.dir.join(READY));
        spool.recover()?;
        spool.begin_journal()?;
        Ok(spool)
    }

    fn begin_journal(&mut self) -> io::Result<()> {
        self.journal.set_len(0)?;
        self.line(&self.owner)
    }

    fn line(&self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(what)?;
        line.push(b'\n');
        (&self.journal).write_all(&line)
    }

    /// Keeps the rows of an interval over a crash.
    ///
    /// # Errors
    /// Where they can't be written.
    pub(crate) fn keep(&self, period: Period, rows: &Rows) -> io::Result<()> {
        // Serialised by reference: a row is large.
        #[derive(Serialize)]
        struct Borrowed<'a> {
            period: Period,
            rows: &'a Rows,
        }
        self.line(&Borrowed { period, rows })?;
        self.journal.sync_data()
    }

    /// Makes files of rows that were kept, and empties the journal.
    ///
    /// # Errors
    /// Where they can't be written: then the rows are lost.
    pub(crate) fn finish(&mut self, period: Period, rows: Rows) -> io::Result<()> {
        let owner = self.owner.clone();
        let written = self.write(&owner, period, rows);
        self.begin_journal()?;
        written
    }

    fn write(&mut self, owner: &Owner, period: Period, rows: Rows) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let Owner { host_id, session } = owner.clone();
        let origin = Origin { host_id, session, sequence: rows.first_sequence() };
        for (table, bytes) in rows.into_files().map_err(io::Error::other)? {
            self.make_room(bytes.len() as u64);
            let file = self.dir.join(READY).join(path_of(table, period, &origin));
            if let Some(parent) = file.parent() {
                fs::create_dir_all(parent)?;
            }
            let mut whole = WholeFile::create(&file)?;
            whole.write_all(&bytes)?;
            whole.sync()?;
            whole.keep()?;
        }
        Ok(())
    }

    /// Drops the oldest files until so many more bytes may be there.
    fn make_room(&mut self, bytes: u64) {
        let waiting = waiting(&self.dir);
        let mut all: u64 = waiting.iter().map(|file| file.bytes).sum();
        for file in waiting {
            if all.saturating_add(bytes) <= self.limit_bytes {
                return;
            }
            if fs::remove_file(&file.file).is_ok() {
                self.dropped_files += 1;
            }
            all = all.saturating_sub(file.bytes);
        }
    }

    /// Makes files of the journals of sessions that have ended.
    fn recover(&mut self) -> io::Result<()> {
        for entry in fs::read_dir(&self.dir)?.flatten() {
            let path = entry.path();
            let is_journal = path.extension().is_some_and(|extension| extension == JOURNAL);
            let is_own =
                path.file_stem().is_some_and(|stem| *stem == *self.owner.session.to_string());
            if !is_journal || is_own {
                continue;
            }
            let Ok(journal) = File::open(&path) else { continue };
            if lock(&journal).is_ok() {
                self.recover_one(&journal)?;
                let _ = fs::remove_file(&path);
            }
        }
        Ok(())
    }

    fn recover_one(&mut self, journal: &File) -> io::Result<()> {
        let mut lines = BufReader::new(journal).split(b'\n');
        let Some(first) = lines.next().transpose()? else { return Ok(()) };
        let Ok(owner) = serde_json::from_slice::<Owner>(&first) else {
            self.bad_lines += 1;
            return Ok(());
        };
        let mut periods: Vec<(Period, Rows)> = Vec::new();
        for line in lines {
            match serde_json::from_slice::<Line>(&line?) {
                Ok(Line { period, rows }) => match periods.last_mut() {
                    Some((last, all)) if *last == period => all.append(rows),
                    _ => periods.push((period, rows)),
                },
                Err(_) => self.bad_lines += 1,
            }
        }
        periods.into_iter().try_for_each(|(period, rows)| self.write(&owner, period, rows))
    }
}

impl Drop for Spool {
    /// A journal without rows is of no use to the next session.
    fn drop(&mut self) {
        let path = self.dir.join(format!("{}.{JOURNAL}", self.owner.session));
        let owner = serde_json::to_vec(&self.owner).map_or(0, |line| line.len() as u64 + 1);
        if fs::metadata(&path).is_ok_and(|there| there.len() <= owner) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Directories of days whose files were delivered. Not while files are made in them.
fn remove_empty(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn lock(journal: &File) -> rustix::io::Result<()> {
    flock(journal, FlockOperation::NonBlockingLockExclusive)
}

fn in_use(path: &Path) -> io::Error {
    io::Error::other(format!("{}: another hotset uses it", path.display()))
}

/// The files that are to be delivered, the oldest first.
pub(crate) fn waiting(dir: &Path) -> Vec<Waiting> {
    let root = dir.join(READY);
    let mut found = Vec::new();
    let mut directories = vec![root.clone()];
    while let Some(directory) = directories.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            let file = entry.path();
            if metadata.is_dir() {
                directories.push(file);
                continue;
            }
            let path = file.strip_prefix(&root).ok().and_then(Path::to_str).map(str::to_owned);
            // A file that is being written has another ending.
            if let Some(path) = path.filter(|path| path.ends_with(".parquet")) {
                let made = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(Waiting { file, path, bytes: metadata.len(), made });
            }
        }
    }
    found.sort_by(|a, b| a.made.cmp(&b.made).then_with(|| a.path.cmp(&b.path)));
    found
}
