//! Sequences of pages of one file, under limits, with each policy that the kernel has.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use hotset_sizing_runs::runs::{Access, COLUMNS, Case, Run, Set};
use hotset_sizing_runs::sequences::{CHUNK, PAGES, of_chunks, of_pages};
use hotset_sys::proc;
use rustix::fs::Advice as FileAdvice;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use super::args::Args;
use super::device::ReadAhead;
use super::group::{Group, Limit};
use super::program::{evict_one, make};
use super::{Doing, Outcome, policy};

const PAGE: usize = hotset_sizing::PAGE_BYTES as usize;
/// Requests of a cached page, of which the mean is what one takes.
const WARM_REQUESTS: u32 = 5000;

/// `pages --file PATH --set NAME`
pub(super) fn run(args: &Args) -> Outcome<()> {
    let (file, set) = (args.path("--file")?, args.set()?);
    let limit = if set == Set::High { Limit::High } else { Limit::Max };
    make(&file, PAGES)?;
    let sequences: Vec<(&str, Vec<u32>)> = of_pages().into_iter().chain(of_chunks()).collect();
    println!("{COLUMNS}");
    for is_mglru in policy::all() {
        policy::set(is_mglru)?;
        for case in set.cases() {
            let known = sequences.iter().find(|(name, _)| *name == case.sequence);
            let (_, sequence) = known.ok_or_else(|| format!("no sequence {}", case.sequence))?;
            let run =
                run_case(&file, is_mglru, case, limit, set.asked(sequence)).doing(case.sequence)?;
            println!("{run}");
            std::io::stdout().flush()?;
        }
    }
    Ok(())
}

fn run_case(
    path: &Path,
    is_mglru: bool,
    case: Case,
    limit: Limit,
    sequence: &[u32],
) -> Outcome<Run> {
    let is_mapped = matches!(case.access, Access::Mapped | Access::MappedRandom);
    ReadAhead::of(path)?.set_kib(if is_mapped { 0 } else { u64::from(CHUNK) * 4 })?;
    let file = File::open(path).doing(path.display())?;
    if case.access == Access::Read {
        rustix::fs::fadvise(&file, 0, None, FileAdvice::Random)?;
    }
    // Memory that is there before the group is joined does not count in it.
    let mut buffer = vec![0xa5; case.access.pages() as usize * PAGE];
    let hit_ns = if is_mapped { None } else { Some(hit_ns(&file, &mut buffer)?) };
    evict_one(path)?;
    let group = Group::new(limit, case.limit_pages * PAGE as u64)?;
    let work = || {
        let (before, start) = (read_bytes()?, Instant::now());
        if is_mapped {
            load(&file, case.access, sequence)
        } else {
            read(&file, &mut buffer, sequence)
        }?;
        Ok((read_bytes()? - before, start.elapsed()))
    };
    let (bytes, elapsed) = group.inside(work)?;
    Ok(Run {
        is_mglru,
        case,
        requests: sequence.len() as u64,
        misses: bytes / PAGE as u64,
        refaults: group.statistic("workingset_refault_file")?,
        milliseconds: elapsed.as_millis() as u64,
        hit_ns,
    })
}

/// Bytes that this process made the device read.
fn read_bytes() -> Outcome<u64> {
    Ok(proc::pid_io::own().doing("/proc/self/io")?.ok_or("no /proc/self/io")?.read_bytes)
}

/// What a request takes that finds its pages cached.
fn hit_ns(file: &File, buffer: &mut [u8]) -> Outcome<u64> {
    let warm = vec![0; WARM_REQUESTS as usize + 1];
    read(file, buffer, &warm[..1])?;
    let start = Instant::now();
    read(file, buffer, &warm[1..])?;
    Ok((start.elapsed() / WARM_REQUESTS).as_nanos() as u64)
}

/// Reads pieces of the file that fill the buffer.
fn read(file: &File, buffer: &mut [u8], sequence: &[u32]) -> Outcome<()> {
    for &at in sequence {
        file.read_exact_at(buffer, u64::from(at) * buffer.len() as u64).doing(at)?;
    }
    Ok(())
}

fn load(file: &File, access: Access, sequence: &[u32]) -> Outcome<()> {
    let len = PAGES as usize * PAGE;
    // SAFETY: a new mapping, which nothing else refers to.
    let start = unsafe {
        rustix::mm::mmap(std::ptr::null_mut(), len, ProtFlags::READ, MapFlags::SHARED, file, 0)
    }?;
    if access == Access::MappedRandom {
        // SAFETY: the mapping made above, all of it.
        unsafe { rustix::mm::madvise(start, len, Advice::Random) }?;
    }
    for &at in sequence {
        // SAFETY: sequences are of pages below `PAGES`, and nobody shortens the file.
        black_box(unsafe { start.cast::<u8>().add(at as usize * PAGE).read_volatile() });
    }
    // SAFETY: the mapping made above, to which no reference is left.
    unsafe { rustix::mm::munmap(start, len) }?;
    Ok(())
}
