//! File mappings. A fault can map many pages, so what a touch finds missing is not well defined; faults and what the
//! device read are.

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, MsyncFlags, ProtFlags};

use super::args::Args;
use super::meter::Meter;
use super::pattern::distinct;
use super::truth::Truth;
use super::{Doing, Outcome};

/// A whole file, mapped and shared.
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
}

impl Mapping {
    pub(super) fn new(path: &Path, file: &File, writable: bool) -> Outcome<Self> {
        let len = usize::try_from(file.metadata().doing(path.display())?.len())?;
        let mut access = ProtFlags::READ;
        access.set(ProtFlags::WRITE, writable);
        // SAFETY: a new mapping at an address of the kernel's choice, unmapped by Drop. The tests don't truncate a
        // file while a case runs on it; if someone did, a touch would end this program by SIGBUS.
        let start =
            unsafe { rustix::mm::mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) }
                .doing("mmap")?;
        let start = NonNull::new(start.cast()).ok_or("mmap answered address 0")?;
        Ok(Self { start, len })
    }

    fn advise(&self, advice: Advice) -> Outcome<()> {
        // SAFETY: the range of this mapping; RANDOM and NORMAL change no contents.
        unsafe { rustix::mm::madvise(self.start.as_ptr().cast(), self.len, advice) }
            .doing("madvise")
    }

    pub(super) fn touch(&self, offset: usize) {
        assert!(offset < self.len);
        // SAFETY: within the mapping, which is readable.
        unsafe { self.start.add(offset).read_volatile() };
    }

    fn store(&self, offset: usize, byte: u8) {
        assert!(offset < self.len);
        // SAFETY: within the mapping, which only `mmap-write` stores to, and made writable.
        unsafe { self.start.add(offset).write_volatile(byte) };
    }

    fn sync(&self) -> Outcome<()> {
        // SAFETY: the range of this mapping.
        unsafe { rustix::mm::msync(self.start.as_ptr().cast(), self.len, MsyncFlags::SYNC) }
            .doing("msync")
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the mapping is readable for its whole length, and no other thread has it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Mapping {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above; who asks for it made the mapping writable.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`, and nothing refers to it any more.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// `mmap-seq [--advise-random] [--each]`: touches one byte of every page in order; with `--each`, asks before each.
pub(super) fn seq(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::open(&path).doing(path.display())?;
    let pages = hotset_sys::pages_of(file.metadata().doing(path.display())?.len());
    touch(args, &path, &file, &(0..pages).collect::<Vec<_>>())
}

/// `mmap-random --count N [--advise-random] [--seed S]`: touches distinct pages in random order.
pub(super) fn random(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::open(&path).doing(path.display())?;
    let pages = hotset_sys::pages_of(file.metadata().doing(path.display())?.len());
    let order = distinct(pages, args.number("--count", pages)?, args.number("--seed", 1)?);
    touch(args, &path, &file, &order)
}

fn touch(args: &Args, path: &Path, file: &File, order: &[u64]) -> Outcome<Truth> {
    let map = Mapping::new(path, file, false)?;
    if args.flag("--advise-random") {
        map.advise(Advice::Random)?;
    }
    let page = hotset_sys::page_size();
    let mut meter = Meter::begin(args, path, file)?;
    for &index in order.iter().filter(|_| args.flag("--each")) {
        meter.before_read(index * page, 1)?;
        map.touch((index * page) as usize);
        meter.done(index * page, 1);
    }
    if args.flag("--each") {
        let truth = meter.finish()?;
        drop(map);
        return Ok(truth);
    }
    for &index in order {
        map.touch((index * page) as usize);
    }
    // Afterwards, so that the loop is nothing but touches.
    for &index in order {
        meter.unasked(index * page, 1);
    }
    let truth = meter.finish()?;
    drop(map);
    Ok(truth)
}

/// `mmap-write [--fsync] [--count N]`: stores one byte to each of the first N pages (all of them if not given); with the
/// flag, msync at the end.
pub(super) fn write(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = File::options().read(true).write(true).open(&path).doing(path.display())?;
    let map = Mapping::new(&path, &file, true)?;
    let page = hotset_sys::page_size();
    let all = hotset_sys::pages_of(map.len as u64);
    let count = args.number("--count", all)?.min(all);
    let mut meter = Meter::begin(args, &path, &file)?;
    for index in 0..count {
        map.store((index * page) as usize, index as u8);
    }
    for index in 0..count {
        meter.unasked(index * page, 1);
    }
    if args.flag("--fsync") {
        meter.sync(|| map.sync())?;
    }
    let mut truth = meter.finish_write()?;
    // Faults read these pages; no write call made them.
    truth.new_pages = None;
    drop(map);
    Ok(truth)
}
