//! Writing files in small pieces through a buffer, and what each way of doing that costs.
//!
//! A repetition writes several files of the same size, so that even 64 bytes make a timed part that is long against the
//! clock. They are opened before it and closed and deleted after it; opening and closing is a phase of its own. The timed
//! part holds what a program does for the contents: putting pieces into the buffer, write(2), and the sync.

mod files;
mod stdio;
#[cfg(test)]
mod tests;
mod words;
mod writer;

use std::os::fd::AsFd;
use std::path::PathBuf;

use self::files::Targets;
use self::stdio::Stream;
pub use self::words::{FileKind, Phase, SyncKind, WriterKind};
use self::writer::Buffered;
use super::{Answer, Arguments, JobError, timed};

/// More files would need more descriptors than a process may have by default.
const MOST_FILES: u32 = 512;

/// What a piece is made of: any text would do.
const PIECE: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// What is done, again and again.
struct Write {
    directory: PathBuf,
    /// Bytes of each file.
    total: usize,
    /// Bytes that are handed to the writer at a time; the last piece of a file may be shorter.
    piece: Vec<u8>,
    /// The writer's buffer; 0 for none.
    buffer: usize,
    sync: SyncKind,
    writer: WriterKind,
    file: FileKind,
    /// Files in a repetition.
    files: u32,
}

/// Words: `dir`, `total`, `piece`, `buffer`, `sync`, `writer`, `file`, `phase`, `files` (in a repetition, 1 where it isn't
/// given) and `count` (repetitions). One more repetition runs first and is not in the answer.
///
/// # Errors
/// Where a word is wrong, or a file can't be made or written, or does not have its size in the end.
pub fn write(arguments: &Arguments) -> Result<Answer, JobError> {
    let files: u32 = arguments.number_or("files", 1)?;
    if !(1..=MOST_FILES).contains(&files) {
        return Err(JobError::Argument(format!("files={files}: expected 1 to {MOST_FILES}")));
    }
    let piece: usize = arguments.number("piece")?;
    if piece == 0 {
        return Err(JobError::Argument("piece=0: expected at least 1 byte".to_owned()));
    }
    let job = Write {
        directory: arguments.path("dir")?,
        total: arguments.number("total")?,
        piece: PIECE.iter().copied().cycle().take(piece).collect(),
        buffer: arguments.number("buffer")?,
        sync: arguments.text("sync")?.parse()?,
        writer: arguments.text("writer")?.parse()?,
        file: arguments.text("file")?.parse()?,
        files,
    };
    let phase: Phase = arguments.text("phase")?.parse()?;
    let count: u32 = arguments.number("count")?;
    let operations = u64::from(files) * u64::from(count);
    let mut answer = Answer { operations: Some(operations), ..Answer::default() };
    let mut believed = 0;
    // The first one brings the costs of first times: of the program's own pages, of the directory.
    for at in 0..=count {
        let (calls, repetition) = job.repeat(phase)?;
        if at == 0 {
            continue;
        }
        if phase == Phase::Write {
            answer.bytes += u64::from(files) * job.total as u64;
        }
        believed += calls;
        answer.push(repetition);
    }
    Ok(match phase {
        Phase::Write => answer.with_calls([("write", believed)]),
        Phase::Open => answer.with_calls([("open", operations), ("close", operations)]),
    })
}

impl Write {
    /// Write calls, as counted here, and the timed part.
    fn repeat(&self, phase: Phase) -> Result<(u64, super::Repetition), JobError> {
        let mut targets = Targets::new(self)?;
        if phase == Phase::Open {
            let ((), repetition) = timed(|| {
                targets.open(self)?;
                targets.close();
                Ok::<_, JobError>(())
            })?;
            return Ok((0, repetition));
        }
        targets.open(self)?;
        let (calls, repetition) = match self.writer {
            WriterKind::Native => self.native(&targets)?,
            WriterKind::Stdio | WriterKind::StdioNull => self.stdio(&targets)?,
        };
        targets.check(self.total as u64)?;
        Ok((calls, repetition))
    }

    fn native(&self, targets: &Targets) -> Result<(u64, super::Repetition), JobError> {
        // Touched, so that no page of it is faulted in the timed part.
        let mut memory = vec![1_u8; self.buffer];
        timed(|| {
            let mut calls = 0;
            for (path, fd) in targets.opened() {
                let mut writer = Buffered::new(fd.as_fd(), &mut memory);
                self.pieces(|piece| writer.push(piece))
                    .and_then(|()| writer.flush())
                    .map_err(|errno| JobError::call(path, "write", errno))?;
                calls += writer.calls();
                self.sync_file(path, fd.as_fd())?;
            }
            Ok(calls)
        })
    }

    fn stdio(&self, targets: &Targets) -> Result<(u64, super::Repetition), JobError> {
        let mut streams = Vec::with_capacity(targets.opened().len());
        for (path, fd) in targets.opened() {
            let stream = Stream::new(fd.as_fd(), self.buffer, self.total, self.writer)
                .map_err(|error| JobError::call(path, "fdopen", error))?;
            streams.push((path, fd, stream));
        }
        timed(|| {
            for (path, fd, stream) in &mut streams {
                self.pieces(|piece| stream.push(piece))
                    .and_then(|()| stream.flush())
                    .map_err(|error| JobError::call(path, "fwrite", error))?;
                self.sync_file(path, fd.as_fd())?;
            }
            Ok(())
        })
        // What the library calls, it does not tell.
        .map(|((), repetition)| (repetition.write_calls.unwrap_or(0), repetition))
    }

    /// Hands each piece of a file over.
    fn pieces<E>(&self, mut push: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let piece = std::hint::black_box(self.piece.as_slice());
        for _ in 0..self.total / piece.len() {
            push(piece)?;
        }
        match self.total % piece.len() {
            0 => Ok(()),
            rest => push(&piece[..rest]),
        }
    }

    fn sync_file(
        &self,
        path: &std::path::Path,
        fd: std::os::fd::BorrowedFd<'_>,
    ) -> Result<(), JobError> {
        if self.sync == SyncKind::Fsync {
            rustix::fs::fsync(fd).map_err(|errno| JobError::call(path, "fsync", errno))?;
        }
        Ok(())
    }
}
