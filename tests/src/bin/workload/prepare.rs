//! Files and cache states to begin with. Each case fails unless the state was reached.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use hotset_sys::cache;

use super::args::Args;
use super::buffer::Buffer;
use super::pattern::Random;
use super::{Doing, Outcome};

const MIB: usize = 1 << 20;
/// Something else can evict or read meanwhile.
const ATTEMPTS: u32 = 20;

/// A file of random bytes, on disk.
pub(super) fn make(args: &Args) -> Outcome<()> {
    let path = args.file()?;
    let size = match args.given("--size-bytes")? {
        Some(bytes) => bytes,
        None => args.number("--size-mib", 64)? * MIB as u64,
    };
    let mut file = File::create(&path).doing(path.display())?;
    write_random(&mut file, size, args.number("--seed", 1)?).doing(path.display())?;
    file.sync_all().doing(path.display())
}

/// A directory of small files, on disk and not in the cache.
pub(super) fn make_files(args: &Args) -> Outcome<()> {
    let dir = args.file()?;
    let bytes = args.block(4096)? as u64;
    std::fs::create_dir_all(&dir).doing(dir.display())?;
    let count = args.number("--count", 100)?;
    for index in 0..count {
        let path = dir.join(small_file(index));
        let mut file = File::create(&path).doing(path.display())?;
        write_random(&mut file, bytes, index).doing(path.display())?;
    }
    // One sync for all of them; a sync of each would take minutes.
    let handle = File::open(&dir).doing(dir.display())?;
    rustix::fs::syncfs(&handle).doing(dir.display())?;
    for index in 0..count {
        evict_verified(&dir.join(small_file(index)))?;
    }
    Ok(())
}

/// The name of the small file number `index`.
pub(super) fn small_file(index: u64) -> String {
    format!("small-{index:06}")
}

fn write_random(file: &mut File, mut left: u64, seed: u64) -> std::io::Result<()> {
    let mut random = Random::new(seed);
    let mut buffer = Buffer::new(MIB.min(usize::try_from(left).unwrap_or(MIB)));
    while left > 0 {
        let len = left.min(buffer.len() as u64) as usize;
        random.fill(&mut buffer[..len]);
        file.write_all(&buffer[..len])?;
        left -= len as u64;
    }
    Ok(())
}

/// No page of the file is cached.
pub(super) fn evict(args: &Args) -> Outcome<()> {
    evict_verified(&args.file()?)
}

fn evict_verified(path: &Path) -> Outcome<()> {
    retry(path, || {
        let reached = cache::evict(path)?.cached_after.value();
        let reached = reached.ok_or("the kernel does not say what is cached")?;
        Ok(if reached == 0 { Ok(()) } else { Err(format!("{reached} pages stayed cached")) })
    })
}

/// Every page of the file is cached and up to date.
pub(super) fn warm(args: &Args) -> Outcome<()> {
    let path = args.file()?;
    retry(&path, || {
        let change = cache::warm(&path)?;
        let reached =
            change.cached_after.value().ok_or("the kernel does not say what is cached")?;
        Ok(if reached == change.pages {
            Ok(())
        } else {
            Err(format!("only {reached} of {} pages are cached", change.pages))
        })
    })
}

/// Every other MiB is cached, from the first on.
pub(super) fn half(args: &Args) -> Outcome<()> {
    let path = args.file()?;
    let mut buffer = Buffer::new(MIB);
    retry(&path, || {
        evict_verified(&path)?;
        let file = File::open(&path)?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random)?;
        let size = file.metadata()?.len();
        let mut wanted = 0;
        for offset in (0..size).step_by(2 * MIB) {
            let len = (size - offset).min(MIB as u64) as usize;
            file.read_exact_at(&mut buffer[..len], offset)?;
            wanted += hotset_sys::pages_of(len as u64);
        }
        let cached = cache::residency(&file)?.cached_pages;
        Ok(if cached == wanted {
            Ok(())
        } else {
            Err(format!("{cached} pages are cached instead of {wanted}"))
        })
    })
}

/// Tries until the state is reached; the outer result is an error that trying again does not help.
fn retry(path: &Path, mut attempt: impl FnMut() -> Outcome<Result<(), String>>) -> Outcome<()> {
    let mut last = String::new();
    for _ in 0..ATTEMPTS {
        match attempt().doing(path.display())? {
            Ok(()) => return Ok(()),
            Err(state) => last = state,
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("{}: {last} after {ATTEMPTS} attempts", path.display()).into())
}
