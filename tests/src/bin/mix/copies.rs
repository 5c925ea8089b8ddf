//! From file to file, and from file to pipe.

use std::io::Result;

use rustix::pipe::{PipeFlags, SpliceFlags};

use super::worker::{Need, Worker};

pub(super) fn sendfile(w: &mut Worker) -> Result<()> {
    let (from, to) = w.pair()?;
    let (mut offset, len) = w.asks(from);
    w.will_write(to);
    let at_position = w.one_in(2);
    let (a, b) = (&w.handles[from], &w.handles[to]);
    let began = offset;
    let place = if at_position { None } else { Some(&mut offset) };
    let n = rustix::fs::sendfile(&b.file, &a.file, place, len)?;
    w.ledger.read(a, if at_position { a.began(n) } else { began }, n);
    w.ledger.write(b, b.began(n), n);
    Ok(())
}

/// Into a pipe, and from there to nowhere.
pub(super) fn splice_out(w: &mut Worker) -> Result<()> {
    let from = w.handle(Need::Read)?;
    let (mut offset, len) = w.asks(from);
    let at_position = w.one_in(2);
    let (_out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let handle = &w.handles[from];
    let began = offset;
    let place = if at_position { None } else { Some(&mut offset) };
    let none = SpliceFlags::NONBLOCK;
    let n = rustix::pipe::splice(&handle.file, place, &into, None, len, none);
    w.ledger.cut(handle, len, &n);
    let n = n?;
    w.ledger.read(handle, if at_position { handle.began(n) } else { began }, n);
    Ok(())
}

/// Into a pipe, and from there into another file.
pub(super) fn splice_through(w: &mut Worker) -> Result<()> {
    let (from, to) = w.pair()?;
    let ((mut offset, len), (mut target, _)) = (w.asks(from), w.writes(to));
    let (out, into) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (a, b) = (&w.handles[from], &w.handles[to]);
    let (began, none) = (offset, SpliceFlags::NONBLOCK);
    let n = rustix::pipe::splice(&a.file, Some(&mut offset), &into, None, len, none);
    w.ledger.cut(a, len, &n);
    let n = n?;
    w.ledger.read(a, began, n);
    let began = target;
    let n = rustix::pipe::splice(&out, None, &b.file, Some(&mut target), n, none)?;
    w.ledger.write(b, began, n);
    Ok(())
}

pub(super) fn copy_file_range(w: &mut Worker) -> Result<()> {
    let (from, to) = w.pair()?;
    let ((mut offset, len), (mut target, _)) = (w.asks(from), w.writes(to));
    let at_position = w.one_in(2);
    let (a, b) = (&w.handles[from], &w.handles[to]);
    if at_position {
        let n = rustix::fs::copy_file_range(&a.file, None, &b.file, None, len)?;
        w.ledger.read(a, a.began(n), n);
        w.ledger.write(b, b.began(n), n);
        return Ok(());
    }
    let (began, began_there) = (offset, target);
    let (place, there) = (Some(&mut offset), Some(&mut target));
    let n = rustix::fs::copy_file_range(&a.file, place, &b.file, there, len)?;
    w.ledger.read(a, began, n);
    w.ledger.write(b, began_there, n);
    Ok(())
}

/// Within one file.
pub(super) fn copy_within(w: &mut Worker) -> Result<()> {
    let index = w.handle(Need::Mapped)?;
    let ((mut offset, len), (mut target, _)) = (w.asks(index), w.writes(index));
    let handle = &w.handles[index];
    let (began, began_there) = (offset, target);
    let (place, there) = (Some(&mut offset), Some(&mut target));
    let n = rustix::fs::copy_file_range(&handle.file, place, &handle.file, there, len)?;
    w.ledger.read(handle, began, n);
    w.ledger.write(handle, began_there, n);
    Ok(())
}
