//! libaio's system calls: a few requests at once, each with memory of its own.

use std::io::{Error, Result};
use std::os::fd::AsRawFd;

use hotset_tests::aio::{Event, Iocb, PREAD, PWRITE};

use super::worker::{LONGEST, Need, Worker};

const DEPTH: usize = 4;
const SHARE: usize = LONGEST / DEPTH;

/// A context of the kernel's.
pub(super) struct Context(u64);

impl Context {
    fn new() -> Result<Self> {
        let mut context = 0_u64;
        // SAFETY: writes one number to `context`.
        let answer = unsafe { libc::syscall(libc::SYS_io_setup, DEPTH, &raw mut context) };
        if answer == 0 { Ok(Self(context)) } else { Err(Error::last_os_error()) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nothing is in flight: every operation waits for all that it submitted.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
    }
}

pub(super) fn read(w: &mut Worker) -> Result<()> {
    some(w, false)
}

pub(super) fn write(w: &mut Worker) -> Result<()> {
    some(w, true)
}

fn some(w: &mut Worker, writes: bool) -> Result<()> {
    if w.context.is_none() {
        w.context = Some(Context::new()?);
    }
    let index = w.handle(if writes { Need::WriteAt } else { Need::Read })?;
    let fd = w.handles[index].file.as_raw_fd() as u32;
    let count = 1 + w.below(DEPTH as u64) as usize;
    let mut requests = Vec::new();
    for slot in 0..count {
        let (offset, len) = if writes { w.writes(index) } else { w.range(index) };
        let len = len.min(SHARE);
        if writes {
            w.ledger.fill_up(&w.handles[index], offset);
        } else {
            w.ledger.ask(&w.handles[index], offset, len);
        }
        requests.push(Iocb {
            data: slot as u64,
            opcode: if writes { PWRITE } else { PREAD },
            fd,
            buffer: w.memory[slot * SHARE..].as_mut_ptr() as u64,
            bytes: len as u64,
            offset: offset.cast_signed(),
            ..Iocb::default()
        });
    }
    let context = w.context.as_ref().map_or(0, |context| context.0);
    let (submitted, events) = complete(context, &mut requests)?;
    let handle = &w.handles[index];
    for event in &events[..submitted] {
        let Ok(n) = usize::try_from(event.result) else { continue };
        let offset = requests[event.data as usize].offset.unsigned_abs();
        if writes {
            w.ledger.write(handle, offset, n);
        } else {
            w.ledger.read(handle, offset, n);
        }
    }
    Ok(())
}

/// Submits, and waits for as many as were taken: after one that is refused the kernel looks at no more.
fn complete(context: u64, requests: &mut [Iocb]) -> Result<(usize, [Event; DEPTH])> {
    let mut pointers: Vec<*mut Iocb> = requests.iter_mut().map(std::ptr::from_mut).collect();
    let mut events = [Event::default(); DEPTH];
    // SAFETY: the requests and their memory stay until all that were taken have completed, below.
    let taken = unsafe {
        libc::syscall(libc::SYS_io_submit, context, pointers.len(), pointers.as_mut_ptr())
    };
    let taken = usize::try_from(taken).map_err(|_| Error::last_os_error())?;
    let (mut there, none) = (0, std::ptr::null_mut::<libc::timespec>());
    while there < taken {
        let left = taken - there;
        // SAFETY: room for `left` events; without a timeout the call waits for all of them.
        let got = unsafe {
            let room = events[there..].as_mut_ptr();
            libc::syscall(libc::SYS_io_getevents, context, left, left, room, none)
        };
        match usize::try_from(got) {
            Ok(got) => there += got,
            Err(_) if Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Error::last_os_error()),
        }
    }
    Ok((taken, events))
}
