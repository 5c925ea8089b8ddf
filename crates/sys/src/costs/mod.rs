//! What elementary file operations cost on this host, all from the cache, measured in less than 150 ms.
//!
//! Each operation is timed in short batches over three rounds that take turns, so that a burst of noise hits every
//! operation a little and none wholly. A round's figure is the median of its batches; the least round wins, because
//! noise only ever adds.

mod kept;

use std::hint::black_box;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hotset_facts::CostTable;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

pub use kept::{table, table_or_in};

const ROUNDS: usize = 3;
const BATCHES: usize = 5;
/// Long against the clock's resolution, short against a scheduler's time slice.
const BATCH: Duration = Duration::from_micros(200);
/// After this, rounds that are not begun are not begun: slow file systems (network, FUSE) get fewer of them.
const BUDGET: Duration = Duration::from_millis(100);
/// What is read back and forth: larger than a first-level cache, as files are.
const FILE_BYTES: usize = 1 << 20;
const BLOCK_BYTES: usize = 64 << 10;

/// Why the costs could not be measured.
#[derive(Debug, thiserror::Error)]
#[error("can't measure the cost of file operations in {}: {call}: {errno}", dir.display())]
pub struct CostsError {
    /// The directory that was given; it must be writable.
    pub dir: PathBuf,
    /// The call that failed.
    pub call: &'static str,
    /// The kernel's answer.
    pub errno: Errno,
}

/// Measures on a nameless file in `dir`, which vanishes by itself, and on `dir`'s own name.
///
/// Writes append, as loggers and copiers do, so they include making the pages.
pub fn measure(dir: &Path) -> Result<CostTable, CostsError> {
    let fail = |call| move |errno| CostsError { dir: dir.to_owned(), call, errno };
    let mut bench = Bench::new(dir).map_err(fail("creating a temporary file"))?;
    let mut best = [f64::INFINITY; Operation::ALL.len()];
    let start = Instant::now();
    for round in 0..ROUNDS {
        for (slot, operation) in best.iter_mut().zip(Operation::ALL) {
            if round > 0 && start.elapsed() > BUDGET {
                break;
            }
            let ns = bench.round(operation).map_err(fail(operation.name()))?;
            *slot = slot.min(ns);
        }
    }
    let [syscall, r4, r4k, r64k, w4, w4k, w64k, stat, enoent, open] = best;
    Ok(CostTable {
        syscall_ns: syscall,
        read_4b_ns: r4,
        read_4k_ns: r4k,
        read_64k_ns: r64k,
        write_4b_ns: w4,
        write_4k_ns: w4k,
        write_64k_ns: w64k,
        stat_ns: stat,
        stat_enoent_ns: enoent,
        open_close_ns: open,
    })
}

#[derive(Clone, Copy)]
enum Operation {
    Syscall,
    Read(usize),
    Write(usize),
    Stat,
    StatMissing,
    OpenClose,
}

impl Operation {
    /// In the order of the table's fields.
    const ALL: [Self; 10] = [
        Self::Syscall,
        Self::Read(4),
        Self::Read(4096),
        Self::Read(BLOCK_BYTES),
        Self::Write(4),
        Self::Write(4096),
        Self::Write(BLOCK_BYTES),
        Self::Stat,
        Self::StatMissing,
        Self::OpenClose,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Syscall => "getppid",
            Self::Read(_) => "pread",
            Self::Write(_) => "write",
            Self::Stat | Self::StatMissing => "stat",
            Self::OpenClose => "open",
        }
    }
}

struct Bench {
    source: OwnedFd,
    target: OwnedFd,
    dir: PathBuf,
    missing: PathBuf,
    buffer: Vec<u8>,
    /// Where the next read begins.
    offset: usize,
}

impl Bench {
    fn new(dir: &Path) -> Result<Self, Errno> {
        let source = nameless_file(dir)?;
        let target = nameless_file(dir)?;
        let buffer = vec![0x5a; BLOCK_BYTES];
        for _ in 0..FILE_BYTES / BLOCK_BYTES {
            write_all(&source, &buffer)?;
        }
        let missing = dir.join(".hotset-no-such-file");
        Ok(Self { source, target, dir: dir.to_owned(), missing, buffer, offset: 0 })
    }

    /// Nanoseconds an operation: the median of a few batches.
    fn round(&mut self, operation: Operation) -> Result<f64, Errno> {
        // The first run of a path brings its own costs (cold caches), and tells how many runs fill a batch.
        self.batch(operation, 1)?;
        let once = self.batch(operation, 1)?.max(Duration::from_nanos(20));
        let most = match operation {
            // Appending stays within a small file.
            Operation::Write(bytes) => FILE_BYTES / bytes,
            _ => usize::MAX,
        };
        let calls = (BATCH.as_nanos() / once.as_nanos()).clamp(1, 10_000) as usize;
        let calls = calls.min(most);
        let mut times = [0.0; BATCHES];
        for time in &mut times {
            *time = self.batch(operation, calls)?.as_nanos() as f64 / calls as f64;
        }
        times.sort_by(f64::total_cmp);
        Ok(times[BATCHES / 2])
    }

    /// How long `calls` operations take.
    fn batch(&mut self, operation: Operation, calls: usize) -> Result<Duration, Errno> {
        if let Operation::Write(_) = operation {
            rustix::fs::ftruncate(&self.target, 0)?;
            rustix::fs::seek(&self.target, rustix::fs::SeekFrom::Start(0))?;
        }
        let start = Instant::now();
        for _ in 0..calls {
            self.once(operation)?;
        }
        Ok(start.elapsed())
    }

    fn once(&mut self, operation: Operation) -> Result<(), Errno> {
        match operation {
            Operation::Syscall => {
                black_box(rustix::process::getppid());
            }
            Operation::Read(bytes) => {
                let offset = self.offset as u64;
                self.offset = (self.offset + bytes) % FILE_BYTES;
                rustix::io::pread(&self.source, &mut self.buffer[..bytes], offset)?;
            }
            Operation::Write(bytes) => write_all(&self.target, &self.buffer[..bytes])?,
            Operation::Stat => {
                black_box(rustix::fs::stat(&self.dir)?);
            }
            Operation::StatMissing => {
                // That it fails is the point.
                let _ = black_box(rustix::fs::stat(&self.missing));
            }
            Operation::OpenClose => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                drop(black_box(rustix::fs::open(&self.dir, flags, Mode::empty())?));
            }
        }
        Ok(())
    }
}

fn write_all(fd: impl AsFd, mut bytes: &[u8]) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = rustix::io::write(&fd, bytes)?;
        if written == 0 {
            return Err(Errno::NOSPC);
        }
        bytes = &bytes[written..];
    }
    Ok(())
}

/// A file without a name, so that nothing stays behind whatever happens.
fn nameless_file(dir: &Path) -> Result<OwnedFd, Errno> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(dir, flags | OFlags::TMPFILE, mode) {
        // What file systems and kernels without O_TMPFILE say.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
        result => return result,
    }
    let path = dir.join(format!(".hotset-costs-{}", std::process::id()));
    let file = rustix::fs::open(&path, flags | OFlags::CREATE | OFlags::EXCL, mode)?;
    rustix::fs::unlink(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_plausible_quick_and_leave_nothing() {
        let dir = std::env::temp_dir().join(format!("hotset-costs-test-{}", std::process::id()));
        std::fs::create_dir(&dir).expect("mkdir");
        let start = Instant::now();
        let costs = measure(&dir).expect("costs");
        let took = start.elapsed();
        let left = std::fs::read_dir(&dir).expect("read_dir").count();
        std::fs::remove_dir(&dir).expect("rmdir");
        assert_eq!(left, 0);
        // A generous bound: other tests run beside this one.
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert!(costs.syscall_ns > 1.0 && costs.syscall_ns < costs.read_64k_ns, "{costs:?}");
        assert!(costs.read_4b_ns < costs.read_64k_ns, "{costs:?}");
        assert!(costs.write_4b_ns < costs.write_64k_ns, "{costs:?}");
    }

    #[test]
    fn a_directory_that_is_missing_is_named() {
        let error = measure(Path::new("/nonexistent/dir")).expect_err("missing");
        assert!(error.to_string().contains("/nonexistent/dir"), "{error}");
    }
}
