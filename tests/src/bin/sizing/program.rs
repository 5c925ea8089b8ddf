//! Programs of several files, threads or processes.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_sizing_runs::programs::{Kind, PROGRAMS, Program, Step};
use hotset_sizing_runs::runs::Set;
use hotset_sys::cache;
use rustix::fs::Advice;

use super::args::Args;
use super::{Doing, Outcome};

const PAGE: usize = hotset_sizing::PAGE_BYTES as usize;
/// Pages of the largest request.
const LARGEST: usize = 64;
/// Pages that are written at a time.
const WRITTEN: usize = 256;

/// `list --set NAME`
pub(super) fn list(args: &Args) -> Outcome<()> {
    let set = args.set()?;
    for program in PROGRAMS.iter().filter(|program| set != Set::Short || program.is_short) {
        println!("{}", program.name);
    }
    Ok(())
}

/// The program of `--name`.
pub(super) fn named(args: &Args) -> Outcome<&'static Program> {
    let name = args.text("--name")?;
    let names = || PROGRAMS.iter().map(|program| program.name).collect::<Vec<_>>().join(", ");
    Program::named(name)
        .ok_or_else(|| format!("no program \"{name}\"; expected one of {}", names()).into())
}

/// Its files, in order. Programs with files of the same sizes share them.
fn paths(program: &Program, dir: &Path) -> Vec<PathBuf> {
    let of_sizes = |(index, pages): (usize, &u32)| {
        dir.join(format!("{}-{index}-{pages}", program.files.len()))
    };
    program.files.iter().enumerate().map(of_sizes).collect()
}

/// `files --name NAME --dir PATH`
pub(super) fn files(args: &Args) -> Outcome<()> {
    let (program, dir) = (named(args)?, args.path("--dir")?);
    for (path, &pages) in paths(program, &dir).iter().zip(program.files) {
        if !path.exists() {
            make(path, pages)?;
        }
    }
    evict(program, &dir)
}

/// Makes a file without holes, on the device.
pub(super) fn make(path: &Path, pages: u32) -> Outcome<()> {
    let mut file = File::create(path).doing(path.display())?;
    let buffer = vec![0xa5; WRITTEN * PAGE];
    let mut left = pages as usize * PAGE;
    while left > 0 {
        let len = left.min(buffer.len());
        file.write_all(&buffer[..len]).doing(path.display())?;
        left -= len;
    }
    file.sync_all().doing(path.display())
}

/// No page of a program's files is cached afterwards.
pub(super) fn evict(program: &Program, dir: &Path) -> Outcome<()> {
    paths(program, dir).iter().try_for_each(|path| evict_one(path))
}

/// No page of a file is cached afterwards.
pub(super) fn evict_one(path: &Path) -> Outcome<()> {
    let cached = cache::evict(path).doing(path.display())?.cached_after;
    match cached.value() {
        Some(0) => Ok(()),
        _ => Err(format!("{} is still cached: {cached:?}", path.display()).into()),
    }
}

/// `program --name NAME --dir PATH`, and `--worker N` for one of its children.
pub(super) fn run(args: &Args) -> Outcome<()> {
    let (program, dir) = (named(args)?, args.path("--dir")?);
    match (args.number("--worker")?, program.kind) {
        (Some(worker), _) => work(program, &dir, worker),
        (None, Kind::Children) => parent(program, &dir),
        (None, _) => threads(program, &dir),
    }
}

/// All workers at once, each in a thread, the last one in this.
fn threads(program: &'static Program, dir: &Path) -> Outcome<()> {
    std::thread::scope(|scope| {
        let last = program.workers - 1;
        let others: Vec<_> =
            (0..last).map(|worker| scope.spawn(move || work(program, dir, worker))).collect();
        work(program, dir, last)?;
        others.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err("a thread panicked".into()))
        })
    })
}

/// A child for each worker.
fn parent(program: &Program, dir: &Path) -> Outcome<()> {
    let own = std::env::current_exe().doing("the path of this program")?;
    let mut running = std::collections::VecDeque::new();
    let end =
        |running: &mut std::collections::VecDeque<std::process::Child>| match running.pop_front() {
            Some(mut child) => match child.wait().doing("waiting for a child")? {
                status if status.success() => Ok(()),
                status => Err(format!("a child: {status}").into()),
            },
            None => Ok::<(), super::Failure>(()),
        };
    for worker in 0..program.workers {
        if running.len() == program.at_a_time as usize {
            end(&mut running)?;
        }
        let mut command = Command::new(&own);
        command.args(["program", "--name", program.name, "--worker", &worker.to_string()]);
        running.push_back(command.arg("--dir").arg(dir).spawn().doing("starting a child")?);
    }
    while !running.is_empty() {
        end(&mut running)?;
    }
    Ok(())
}

/// The steps of a worker.
fn work(program: &Program, dir: &Path, worker: u32) -> Outcome<()> {
    let paths = paths(program, dir);
    let anonymous = vec![0x5a_u8; program.anonymous_mib as usize * WRITTEN * PAGE];
    let mut buffer = vec![0xa5; LARGEST * PAGE];
    let mut open: Vec<Option<File>> = Vec::new();
    open.resize_with(paths.len(), || None);
    for step in program.steps(worker) {
        match step {
            Step::Read { file, page, pages } => {
                let file = opened(&mut open[file as usize], &paths[file as usize], program)?;
                let offset = u64::from(page) * PAGE as u64;
                file.read_at(&mut buffer[..pages as usize * PAGE], offset)?;
            }
            Step::Write { file, page, bytes } => {
                let file = opened(&mut open[file as usize], &paths[file as usize], program)?;
                file.write_all_at(&buffer[..bytes as usize], u64::from(page) * PAGE as u64)?;
            }
            Step::Whole { file, pages } => {
                let path = &paths[file as usize];
                let mut file = File::open(path).doing(path.display())?;
                while file.read(&mut buffer[..pages as usize * PAGE])? > 0 {}
            }
        }
    }
    // Used until now.
    std::hint::black_box(&anonymous);
    Ok(())
}

/// The file, which stays open.
fn opened<'a>(slot: &'a mut Option<File>, path: &Path, program: &Program) -> Outcome<&'a File> {
    if slot.is_none() {
        let is_written = program.kind == Kind::Writes;
        let file = File::options().read(true).write(is_written).open(path).doing(path.display())?;
        if program.is_random {
            rustix::fs::fadvise(&file, 0, None, Advice::Random)?;
        }
        *slot = Some(file);
    }
    slot.as_ref().ok_or_else(|| "no file".into())
}
