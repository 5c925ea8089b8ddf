//! io_uring: `uring --block B --depth D [--count N] [--random] [--async] [--sqpoll] [--direct] [--fixed] [--write]
//! [--passes K]`.
//!
//! With more than one request in flight, what was missing before each is not well defined; with `--depth 1` it is.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Instant;

use io_uring::{IoUring, opcode, squeue, types};

use super::args::Args;
use super::buffer::Buffer;
use super::meter::Meter;
use super::passes::Passes;
use super::pattern::distinct;
use super::truth::{DirectTruth, Truth};
use super::{Doing, Outcome, direct};

/// What the flags ask for.
struct Plan {
    block: usize,
    depth: usize,
    write: bool,
    direct: bool,
    run_async: bool,
    sqpoll: bool,
    fixed_file: bool,
    fixed_buffer: bool,
    passes: u64,
}

impl Plan {
    fn new(args: &Args) -> Outcome<Self> {
        let fixed = args.flag("--fixed");
        Ok(Self {
            block: args.block(4096)?,
            depth: usize::try_from(args.number("--depth", 32)?.clamp(1, 4096))?,
            write: args.flag("--write"),
            direct: args.flag("--direct"),
            run_async: args.flag("--async"),
            sqpoll: args.flag("--sqpoll"),
            fixed_file: fixed || args.flag("--fixed-file"),
            fixed_buffer: fixed || args.flag("--fixed-buffer"),
            passes: args.number("--passes", 1)?,
        })
    }

    fn open(&self, path: &Path) -> Outcome<File> {
        if self.direct {
            return direct::open(path, self.write);
        }
        File::options().read(true).write(self.write).open(path).doing(path.display())
    }

    /// State before a request is known where nothing else is in flight. Several passes past the cache are timed.
    fn asks_first(&self) -> bool {
        self.depth == 1 && !(self.direct && self.passes > 1)
    }
}

/// The ring with a buffer a slot.
struct Engine<'a> {
    plan: &'a Plan,
    file: &'a File,
    ring: IoUring,
    // Dropped after the ring, which may still write to them.
    buffers: Vec<Buffer>,
    /// The offset that each slot has in flight.
    offsets: Vec<u64>,
    free: Vec<usize>,
}

pub(super) fn run(args: &Args) -> Outcome<Truth> {
    let plan = Plan::new(args)?;
    let path = args.file()?;
    let file = plan.open(&path)?;
    let size = file.metadata().doing(path.display())?.len();
    let slots = size / plan.block as u64;
    let count = args.number("--count", slots)?.min(slots);
    let order = if args.flag("--random") {
        distinct(slots, count, args.number("--seed", 1)?)
    } else {
        (0..count).collect()
    };
    let mut engine = Engine::new(&plan, &file)?;
    let mut meter = Meter::begin(args, &path, &file)?;
    let mut passes = Passes::default();
    for _ in 0..plan.passes {
        let begin = Instant::now();
        for block in &order {
            while engine.free.is_empty() {
                engine.reap(&mut meter)?;
            }
            engine.submit(block * plan.block as u64, &mut meter)?;
        }
        while engine.free.len() < plan.depth {
            engine.reap(&mut meter)?;
        }
        passes.end(begin.elapsed(), order.len() * plan.block);
    }
    finish(&plan, meter, &passes)
}

fn finish(plan: &Plan, meter: Meter, passes: &Passes) -> Outcome<Truth> {
    let mut truth =
        if plan.write && !plan.direct { meter.finish_write()? } else { meter.finish()? };
    if plan.direct {
        let (calls, bytes) = (truth.requests, truth.bytes);
        truth.direct = Some(if plan.write {
            DirectTruth { write_calls: calls, write_bytes: bytes, ..DirectTruth::default() }
        } else {
            passes.truth(calls, bytes)
        });
    }
    Ok(truth)
}

impl<'a> Engine<'a> {
    fn new(plan: &'a Plan, file: &'a File) -> Outcome<Self> {
        let mut builder = IoUring::builder();
        if plan.sqpoll {
            // Milliseconds until the kernel's thread sleeps.
            builder.setup_sqpoll(1000);
        }
        let ring = builder.build(u32::try_from(plan.depth)?).doing("io_uring_setup")?;
        let buffers: Vec<Buffer> = (0..plan.depth).map(|_| Buffer::new(plan.block)).collect();
        if plan.fixed_file {
            ring.submitter().register_files(&[file.as_raw_fd()]).doing("registering the file")?;
        }
        if plan.fixed_buffer {
            let iovecs: Vec<libc::iovec> = buffers
                .iter()
                .map(|buffer| libc::iovec {
                    iov_base: buffer.as_ptr().cast_mut().cast(),
                    iov_len: buffer.len(),
                })
                .collect();
            // SAFETY: the buffers live as long as the ring, and longer.
            unsafe { ring.submitter().register_buffers(&iovecs) }
                .doing("registering the buffers")?;
        }
        let free = (0..plan.depth).collect();
        Ok(Self { plan, file, ring, buffers, offsets: vec![0; plan.depth], free })
    }

    fn submit(&mut self, offset: u64, meter: &mut Meter) -> Outcome<()> {
        let slot = self.free.pop().ok_or("no free slot")?;
        self.offsets[slot] = offset;
        let mut entry = self.entry(slot, offset);
        entry = entry.user_data(slot as u64);
        if self.plan.run_async {
            entry = entry.flags(squeue::Flags::ASYNC);
        }
        if self.plan.asks_first() {
            meter.before_write(offset, self.plan.block)?;
        }
        // SAFETY: the slot's buffer and the file outlive the request, and nothing else uses the slot until it is done.
        while unsafe { self.ring.submission().push(&entry) }.is_err() {
            // Only the kernel's polling thread lets entries lie.
            self.ring.submitter().squeue_wait().doing("waiting for the submission queue")?;
        }
        self.ring.submit().doing("io_uring_enter")?;
        Ok(())
    }

    fn entry(&mut self, slot: usize, offset: u64) -> squeue::Entry {
        let len = self.plan.block as u32;
        let memory = self.buffers[slot].as_mut_ptr();
        // A macro, because the crate keeps the trait of both kinds of file to itself.
        macro_rules! entry_for {
            ($file:expr) => {
                match (self.plan.write, self.plan.fixed_buffer) {
                    (false, false) => opcode::Read::new($file, memory, len).offset(offset).build(),
                    (false, true) => opcode::ReadFixed::new($file, memory, len, slot as u16)
                        .offset(offset)
                        .build(),
                    (true, false) => opcode::Write::new($file, memory, len).offset(offset).build(),
                    (true, true) => opcode::WriteFixed::new($file, memory, len, slot as u16)
                        .offset(offset)
                        .build(),
                }
            };
        }
        if self.plan.fixed_file {
            entry_for!(types::Fixed(0))
        } else {
            entry_for!(types::Fd(self.file.as_raw_fd()))
        }
    }

    /// Waits for at least one request and counts all that are done.
    fn reap(&mut self, meter: &mut Meter) -> Outcome<()> {
        self.ring.submit_and_wait(1).doing("io_uring_enter")?;
        for done in self.ring.completion() {
            let slot = usize::try_from(done.user_data())?;
            let moved = usize::try_from(done.result())
                .map_err(|_| std::io::Error::from_raw_os_error(-done.result()).to_string())?;
            if self.plan.asks_first() {
                meter.done(self.offsets[slot], moved);
            } else {
                meter.unasked(self.offsets[slot], moved);
            }
            self.free.push(slot);
        }
        Ok(())
    }
}
