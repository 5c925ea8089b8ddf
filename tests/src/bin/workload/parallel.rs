//! Several readers at once. Between one reader's question and its request another can read, so what was missing before
//! each request is not well defined where they share a file; sums over the whole run are.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::truth::Truth;
use super::{Doing, Outcome};

/// `threads --count N --block B`: N threads, each with a descriptor of its own, pread a part of the file each.
pub(super) fn threads(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(64 << 10)?;
    let file = File::open(&path).doing(path.display())?;
    let blocks = file.metadata().doing(path.display())?.len().div_ceil(block as u64);
    let threads = args.number("--count", 4)?.clamp(1, blocks.max(1));
    let mut parts = Vec::new();
    for index in 0..threads {
        let range = blocks * index / threads..blocks * (index + 1) / threads;
        parts.push((File::open(&path).doing(path.display())?, Buffer::new(block), range));
    }
    let mut meter = Meter::begin(args, &path, &file)?;
    let results: Vec<std::io::Result<Vec<(u64, usize)>>> = std::thread::scope(|scope| {
        let running: Vec<_> = parts
            .into_iter()
            .map(|(file, mut buffer, range)| {
                scope.spawn(move || read_blocks(&file, &mut buffer, range))
            })
            .collect();
        running
            .into_iter()
            .map(|thread| {
                thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread panicked")))
            })
            .collect()
    });
    for result in results {
        meter.opened();
        for (offset, read) in result.doing("pread in a thread")? {
            meter.unasked(offset, read);
        }
    }
    meter.finish()
}

fn read_blocks(
    file: &File,
    buffer: &mut Buffer,
    range: std::ops::Range<u64>,
) -> std::io::Result<Vec<(u64, usize)>> {
    let mut done = Vec::with_capacity((range.end - range.start) as usize);
    for index in range {
        let offset = index * buffer.len() as u64;
        done.push((offset, file.read_at(buffer, offset)?));
    }
    Ok(done)
}

/// `write-threads --count N --size-mib M --block B`: N threads of one descriptor write the blocks of a new file in turns.
pub(super) fn write_threads(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let block = args.block(16 << 10)?;
    let threads = args.number("--count", 4)?.max(1);
    let blocks = (args.number("--size-mib", 16)? << 20) / block as u64;
    let mut options = File::options();
    let file = options.read(true).write(true).create(true).truncate(true).open(&path);
    let file = file.doing(path.display())?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let buffer = Buffer::new(block);
    let (file, bytes): (&File, &[u8]) = (&file, &buffer);
    let written: std::io::Result<Vec<Vec<(u64, usize)>>> = std::thread::scope(|scope| {
        let turns = (0..threads).map(|first| (first..blocks).step_by(threads as usize));
        let write = |index| {
            let offset = index * block as u64;
            Ok((offset, file.write_at(bytes, offset)?))
        };
        let running: Vec<_> =
            turns.map(|turn| scope.spawn(move || turn.map(write).collect())).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(std::io::Error::other("a thread panicked")))
        };
        running.into_iter().map(join).collect()
    });
    for (offset, written) in written.doing("pwrite in a thread")?.into_iter().flatten() {
        meter.unasked(offset, written);
    }
    meter.finish_write()
}

/// `children --count N --block B [--own-files]`: N processes of this program run `seq` at once, on the same file or on
/// `PATH.0`, `PATH.1`, …. Needs `--truth`, beside which they leave theirs for a moment.
pub(super) fn children(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let truth_path = args.truth().ok_or("children needs --truth PATH")?.to_owned();
    let block = args.block(64 << 10)?;
    let own_files = args.flag("--own-files");
    let count = args.number("--count", 3)?;
    let program = std::env::current_exe().doing("the path of this program")?;
    let part = |index: u64| {
        let file = if own_files { numbered(&path, index) } else { path.clone() };
        (file, numbered(&truth_path, index))
    };
    let first = part(0).0;
    let file = File::open(&first).doing(first.display())?;
    let meter = Meter::begin(args, &first, &file)?;
    let mut running = Vec::new();
    for index in 0..count {
        let (file, truth) = part(index);
        running.push((spawn(&program, &file, &truth, block)?, truth));
    }
    let mut child_truths = Vec::new();
    for (child, truth) in running {
        child_truths.push(collect(child, &truth)?);
    }
    Ok(sum(meter.finish()?, child_truths, own_files))
}

fn numbered(path: &Path, index: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{index}"));
    PathBuf::from(name)
}

fn spawn(program: &Path, file: &Path, truth: &Path, block: usize) -> Outcome<Child> {
    Command::new(program)
        .arg("seq")
        .arg("--file")
        .arg(file)
        .arg("--truth")
        .arg(truth)
        .args(["--block", &block.to_string()])
        .spawn()
        .doing("starting a child")
}

fn collect(mut child: Child, truth: &Path) -> Outcome<Truth> {
    let status = child.wait().doing("waiting for a child")?;
    if !status.success() {
        return Err(format!("child {}: {status}", child.id()).into());
    }
    let text = std::fs::read_to_string(truth).doing(truth.display())?;
    std::fs::remove_file(truth).doing(truth.display())?;
    serde_json::from_str(&text).doing(truth.display())
}

/// The children's counts; what the kernel says of the file, and the time, is the parent's.
fn sum(parent: Truth, child_truths: Vec<Truth>, own_files: bool) -> Truth {
    let total = |field: fn(&Truth) -> u64| child_truths.iter().map(field).sum();
    let mut truth = Truth {
        requests: total(|t| t.requests),
        eof_calls: total(|t| t.eof_calls),
        bytes: total(|t| t.bytes),
        pages: total(|t| t.pages),
        block_read_bytes: total(|t| t.block_read_bytes),
        block_write_bytes: total(|t| t.block_write_bytes),
        minflt: total(|t| t.minflt),
        majflt: total(|t| t.majflt),
        // The parent opened one of them too.
        opens: 1 + total(|t| t.opens),
        pages_missing_before: None,
        distinct_pages: child_truths.iter().map(|t| t.distinct_pages).max().unwrap_or(0),
        ..parent
    };
    if own_files {
        truth.pages_missing_before =
            child_truths.iter().map(|t| t.pages_missing_before).sum::<Option<u64>>();
        truth.distinct_pages = total(|t| t.distinct_pages);
        truth.pages_cached_before = total(|t| t.pages_cached_before);
        truth.pages_cached_after = total(|t| t.pages_cached_after);
    }
    truth.children = child_truths.iter().map(|t| t.pid).collect();
    truth.child_truths = child_truths;
    truth
}
