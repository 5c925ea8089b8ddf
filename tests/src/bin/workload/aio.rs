//! Linux AIO by its system calls: `aio --block B --depth D [--count N] [--random] [--direct] [--write] [--append] [--iovecs N]
//! [--fsync] [--own-ring] [--unmapped] [--refused] [--abandon] [--passes K]`. D requests are submitted by one call, and then
//! all of their results taken.
//!
//! `--own-ring` takes results out of the ring without a call, as QEMU does. With `--unmapped` this process's page table has the
//! ring's first page only when the first requests are submitted, as may be until another is touched. `--refused` submits a bad
//! request amid good ones. `--abandon` never takes the results of the last batch.

use std::fs::File;
use std::io::Error;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use hotset_tests::aio::{Event, FDSYNC, FSYNC, Iocb, PREAD, PREADV, PWRITE, PWRITEV};

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::passes::Passes;
use super::pattern::distinct;
use super::truth::{DirectTruth, Truth};
use super::{Doing, Outcome, direct};

const RWF_APPEND: i32 = 0x10;

/// The kernel's ring of results, at the address that is the context's name.
#[repr(C)]
struct Ring {
    id: u32,
    size: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    features: [u32; 2],
    header_bytes: u32,
}

struct Engine {
    context: u64,
    own_ring: bool,
    iocbs: Vec<Iocb>,
    // What the requests use stays where it is until the context is gone.
    buffers: Vec<Buffer>,
    vectors: Vec<Vec<libc::iovec>>,
}

fn call(number: i64, args: [u64; 5], what: &str) -> Outcome<u64> {
    // SAFETY: every caller hands over pointers to memory of its own that outlives what the kernel does with it.
    let result = unsafe { libc::syscall(number, args[0], args[1], args[2], args[3], args[4]) };
    u64::try_from(result).map_err(|_| Error::last_os_error()).doing(what)
}

/// The buffer in about as many parts.
fn vector(buffer: &mut Buffer, parts: usize) -> Vec<libc::iovec> {
    let bytes = buffer.len().div_ceil(parts);
    let part =
        |part: &mut [u8]| libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() };
    buffer.chunks_mut(bytes).map(part).collect()
}

impl Engine {
    fn new(args: &Args, depth: usize) -> Outcome<Self> {
        let block = args.block(4096)?;
        let mut context = 0_u64;
        let place = std::ptr::from_mut(&mut context) as u64;
        call(libc::SYS_io_setup, [depth as u64, place, 0, 0, 0], "io_setup")?;
        let mut buffers: Vec<Buffer> = (0..depth).map(|_| Buffer::new(block)).collect();
        let parts = usize::try_from(args.number("--iovecs", 1)?.max(1))?;
        let vectors = buffers.iter_mut().map(|buffer| vector(buffer, parts)).collect();
        let own_ring = args.flag("--own-ring");
        Ok(Self { context, own_ring, iocbs: vec![Iocb::default(); depth], buffers, vectors })
    }

    fn ring(&self) -> &Ring {
        // SAFETY: the kernel mapped the ring there, and keeps it until the context is destroyed.
        unsafe { &*(self.context as *const Ring) }
    }

    /// Takes the pages behind the first out of the page table; they stay where they are.
    fn unmap(&self) -> Outcome<()> {
        let page = hotset_sys::page_size();
        let bytes = (size_of::<Ring>() + self.ring().size as usize * size_of::<Event>()) as u64;
        let rest = [self.context + page, bytes.next_multiple_of(page) - page];
        let words = [rest[0], rest[1], libc::MADV_DONTNEED as u64, 0, 0];
        call(libc::SYS_madvise, words, "madvise").map(drop)
    }

    fn prepare(&mut self, slot: usize, write: bool, fd: i32, offset: u64, flags: i32) {
        let vector = &self.vectors[slot];
        let (opcode, buffer, bytes) = match (vector.len() > 1, write) {
            (false, _) => (
                if write { PWRITE } else { PREAD },
                self.buffers[slot].as_ptr() as u64,
                self.buffers[slot].len(),
            ),
            (true, write) => {
                (if write { PWRITEV } else { PREADV }, vector.as_ptr() as u64, vector.len())
            }
        };
        self.iocbs[slot] = Iocb {
            data: slot as u64,
            rw_flags: flags,
            opcode,
            fd: fd as u32,
            buffer,
            bytes: bytes as u64,
            offset: offset as i64,
            ..Iocb::default()
        };
    }

    /// Among so many requests one that the kernel refuses.
    fn refused(&mut self, requests: usize) {
        self.iocbs.swap(requests / 2, requests);
        self.iocbs[requests / 2] = Iocb { fd: u32::MAX, ..Iocb::default() };
    }

    /// Submits the first `count` in as many calls as it takes; one that is refused is passed over.
    fn submit(&mut self, count: usize) -> Outcome<usize> {
        let pointers: Vec<u64> =
            self.iocbs[..count].iter_mut().map(|iocb| std::ptr::from_mut(iocb) as u64).collect();
        let (mut next, mut accepted) = (0, 0);
        while next < count {
            let array = pointers[next..].as_ptr() as u64;
            let left = (count - next) as u64;
            match call(libc::SYS_io_submit, [self.context, left, array, 0, 0], "io_submit") {
                Ok(done) => {
                    next += usize::try_from(done)?;
                    accepted += usize::try_from(done)?;
                }
                Err(_) if self.iocbs[next].fd == u32::MAX => next += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(accepted)
    }

    fn events(&mut self, count: usize) -> Outcome<Vec<Event>> {
        let mut events = vec![Event::default(); count];
        if self.own_ring {
            self.reap_ring(&mut events);
        } else {
            let (least, place) = (count as u64, events.as_mut_ptr() as u64);
            let words = [self.context, least, least, place, 0];
            call(libc::SYS_io_getevents, words, "io_getevents")?;
        }
        Ok(events)
    }

    fn reap(&mut self, count: usize) -> Outcome<Vec<Event>> {
        let events = self.events(count)?;
        for event in &events {
            if event.result < 0 {
                return Err(Error::from_raw_os_error(-event.result as i32)).doing("a request");
            }
        }
        Ok(events)
    }

    fn reap_ring(&self, events: &mut [Event]) {
        let ring = self.ring();
        let first = (self.context as usize + size_of::<Ring>()) as *const Event;
        for event in events {
            let head = ring.head.load(Ordering::Relaxed);
            while head == ring.tail.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            // SAFETY: `head` is below the ring's size, and the kernel wrote the event before it moved the tail.
            *event = unsafe { first.add(head as usize).read() };
            ring.head.store((head + 1) % ring.size, Ordering::Release);
        }
    }
}

fn open(args: &Args, path: &Path) -> Outcome<File> {
    let write = args.flag("--write") || args.flag("--append");
    if args.flag("--direct") {
        return direct::open(path, write);
    }
    File::options().read(true).write(write).open(path).doing(path.display())
}

fn engine(args: &Args, depth: usize) -> Outcome<Engine> {
    let engine = Engine::new(args, depth + 1)?;
    if args.flag("--unmapped") {
        engine.unmap()?;
    }
    Ok(engine)
}

/// State before a request is known where nothing else is in flight. Several passes past the cache are timed.
fn asks_first(args: &Args, depth: usize, passes: usize) -> bool {
    depth == 1 && !(args.flag("--direct") && passes > 1)
}

pub(super) fn run(args: &Args) -> Outcome<Truth> {
    let path = args.file()?;
    let file = open(args, &path)?;
    let depth = usize::try_from(args.number("--depth", 32)?.clamp(1, 1024))?;
    let block = args.block(4096)? as u64;
    let append = args.flag("--append");
    let write = append || args.flag("--write");
    let size = file.metadata().doing(path.display())?.len();
    let slots = if append { u64::MAX } else { size / block };
    let count = args.number("--count", slots.min(1024))?.min(slots);
    let order = match args.flag("--random") {
        true => distinct(slots, count, args.number("--seed", 1)?),
        false => (0..count).collect(),
    };
    let mut engine = engine(args, depth)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let fd = file.as_raw_fd();
    let batches = order.len().div_ceil(depth);
    let runs = usize::try_from(args.number("--passes", 1)?)?;
    let asks_first = asks_first(args, depth, runs);
    let (last, mut passes, mut begin) = (batches * runs - 1, Passes::default(), Instant::now());
    for (batch, blocks) in (0..runs).flat_map(|_| order.chunks(depth)).enumerate() {
        let offset = |block_number: u64| block_number * block + if append { size } else { 0 };
        for (slot, number) in blocks.iter().enumerate() {
            let flags = if append { RWF_APPEND } else { 0 };
            engine.prepare(slot, write, fd, if append { 0 } else { offset(*number) }, flags);
        }
        let mut requests = blocks.len();
        if args.flag("--refused") {
            engine.refused(blocks.len());
            requests += 1;
        }
        if asks_first {
            meter.before_write(offset(blocks[0]), block as usize)?;
        }
        let accepted = engine.submit(requests)?;
        if batch == last && args.flag("--abandon") {
            // What is under way still writes to its memory.
            std::mem::forget(engine);
            break;
        }
        for event in engine.reap(accepted)? {
            let moved = usize::try_from(event.result)?;
            let at = offset(blocks[event.data as usize]);
            if asks_first {
                meter.done(at, moved);
            } else {
                meter.unasked(at, moved);
            }
        }
        if args.flag("--fsync") {
            meter.sync(|| sync(&mut engine, fd, batch))?;
        }
        if (batch + 1).is_multiple_of(batches) {
            passes.end(begin.elapsed(), order.len() * block as usize);
            begin = Instant::now();
        }
    }
    finish(args, write, meter, &passes)
}

fn sync(engine: &mut Engine, fd: i32, batch: usize) -> Outcome<()> {
    let opcode = if batch.is_multiple_of(2) { FSYNC } else { FDSYNC };
    engine.iocbs[0] = Iocb { opcode, fd: fd as u32, ..Iocb::default() };
    let accepted = engine.submit(1)?;
    engine.reap(accepted).map(drop)
}

/// fsync(2) by a context of its own: what the kernel answers.
pub(super) fn fsync(args: &Args, file: &File) -> Outcome<i64> {
    let mut engine = Engine::new(args, 1)?;
    engine.iocbs[0] = Iocb { opcode: FSYNC, fd: file.as_raw_fd() as u32, ..Iocb::default() };
    let accepted = engine.submit(1)?;
    Ok(engine.events(accepted)?[0].result)
}

fn finish(args: &Args, write: bool, meter: Meter, passes: &Passes) -> Outcome<Truth> {
    let direct = args.flag("--direct");
    let mut truth = if write && !direct { meter.finish_write()? } else { meter.finish()? };
    let (calls, bytes) = (truth.requests, truth.bytes);
    truth.direct = direct.then_some(match write {
        true => DirectTruth { write_calls: calls, write_bytes: bytes, ..DirectTruth::default() },
        false => passes.truth(calls, bytes),
    });
    Ok(truth)
}
