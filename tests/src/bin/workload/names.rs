//! Paths: many small files, and names that don't exist.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::prepare::small_file;
use super::snapshot::{Snapshot, cached_and_dirty, cached_in};
use super::truth::{DirectoryLookups, FailedPath, FileTruth, LookupTruth, Truth};
use super::{Doing, Outcome};

/// `many-files --count N --block B`: opens, reads to the end and closes each file of the directory `--file` that
/// `make-files` made.
pub(super) fn many_files(args: &Args) -> Outcome<Truth> {
    let dir = args.file()?;
    let mut buffer = Buffer::new(args.block(64 << 10)?);
    // Refuses where nothing can be told, before anything is read.
    cached_and_dirty(&File::open(dir.join(small_file(0))).doing(dir.display())?)?;
    let paths: Vec<PathBuf> =
        (0..args.number("--count", 100)?).map(|index| dir.join(small_file(index))).collect();
    let mut sum = Truth { pages_missing_before: Some(0), ..Truth::default() };
    let start = Snapshot::start()?;
    let started_at = std::time::Instant::now();
    for path in &paths {
        read_one(path, &mut buffer, &mut sum).doing(path.display())?;
    }
    let moved = start.added()?;
    let wall_ns = u64::try_from(started_at.elapsed().as_nanos())?;
    for path in &paths {
        let file = File::open(path).doing(path.display())?;
        sum.pages_cached_after += cached_and_dirty(&file)?.0;
    }
    let handle = File::open(&dir).doing(dir.display())?;
    Ok(Truth {
        case: args.case().to_owned(),
        page_size: hotset_sys::page_size(),
        pid: std::process::id(),
        file: FileTruth::of(&dir, &handle)?,
        block_read_bytes: moved.read_bytes,
        block_write_bytes: moved.write_bytes,
        minflt: moved.minor_faults,
        majflt: moved.major_faults,
        wall_ns,
        ..sum
    })
}

/// Leaner than a meter, which would read /proc for every file.
fn read_one(path: &Path, buffer: &mut Buffer, sum: &mut Truth) -> Outcome<()> {
    let mut file = File::open(path)?;
    sum.opens += 1;
    let size = file.metadata()?.len();
    sum.pages_cached_before += cached_and_dirty(&file)?.0;
    sum.distinct_pages += hotset_sys::pages_of(size);
    let mut offset = 0;
    loop {
        let len = (buffer.len() as u64).min(size - offset);
        let cached = cached_in(&file, offset, len)?;
        let read = file.read(buffer)? as u64;
        if read == 0 {
            sum.eof_calls += 1;
            return Ok(());
        }
        let page = hotset_sys::page_size();
        let pages = (offset + read - 1) / page - offset / page + 1;
        sum.requests += 1;
        sum.bytes += read;
        sum.pages += pages;
        sum.pages_missing_before = sum
            .pages_missing_before
            .zip(cached)
            .filter(|_| read == len)
            .map(|(sum, cached)| sum + pages - cached);
        offset += read;
    }
}

/// How a name is asked for.
#[derive(Clone, Copy)]
enum Way {
    Open,
    Stat,
    Access,
}

const WAYS: [Way; 3] = [Way::Open, Way::Stat, Way::Access];

/// Asks for names and counts what it asked for.
#[derive(Default)]
struct Asker {
    calls: u64,
    failed: BTreeMap<PathBuf, u64>,
    directories: BTreeMap<PathBuf, (u64, u64)>,
}

impl Asker {
    /// Asks the kernel for `given`, which means `absolute`.
    fn ask(&mut self, way: Way, given: &Path, absolute: &Path) -> Outcome<()> {
        let answer = match way {
            Way::Open => {
                rustix::fs::open(given, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map(drop)
            }
            Way::Stat => rustix::fs::stat(given).map(drop),
            Way::Access => rustix::fs::accessat(CWD, given, Access::EXISTS, AtFlags::empty()),
        };
        let failed = match answer {
            Ok(()) => false,
            Err(Errno::NOENT | Errno::NOTDIR) => true,
            Err(errno) => return Err(format!("{}: {errno}", given.display()).into()),
        };
        self.calls += 1;
        let parent = absolute.parent().unwrap_or(absolute);
        let directory = self.directories.entry(parent.to_owned()).or_default();
        directory.0 += 1;
        if failed {
            directory.1 += 1;
            *self.failed.entry(absolute.to_owned()).or_default() += 1;
        }
        Ok(())
    }

    fn truth(self) -> LookupTruth {
        LookupTruth {
            calls: self.calls,
            failed: self.failed.values().sum(),
            failed_paths: self
                .failed
                .into_iter()
                .map(|(path, calls)| FailedPath { path, calls })
                .collect(),
            by_directory: self
                .directories
                .into_iter()
                .map(|(directory, (calls, failed))| DirectoryLookups { directory, calls, failed })
                .collect(),
        }
    }
}

/// `lookups --dirs D,D --count N`: in each directory (absolute paths), asks N times by open, stat and access for a name
/// that is missing (`missing-0` … `missing-9` in turn), half of the times relative to the directory; then once for the
/// directory itself, and once for a name below `--file`, which is no directory.
pub(super) fn lookups(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::open(&path).doing(path.display())?;
    let count = args.number("--count", 10)?;
    let dirs = args.dirs()?;
    let meter = Meter::begin(args, &path, &file)?;
    let mut asker = Asker::default();
    for dir in &dirs {
        std::env::set_current_dir(dir).doing(dir.display())?;
        for index in 0..count {
            let name = PathBuf::from(format!("missing-{}", index % 10));
            let absolute = dir.join(&name);
            let given = if index % 2 == 0 { &absolute } else { &name };
            for way in WAYS {
                asker.ask(way, given, &absolute)?;
            }
        }
        asker.ask(Way::Stat, dir, dir)?;
    }
    let below_a_file = path.join("below");
    asker.ask(Way::Open, &below_a_file, &below_a_file)?;
    let mut truth = meter.finish()?;
    truth.lookups = Some(asker.truth());
    Ok(truth)
}
