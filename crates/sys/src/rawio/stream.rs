//! Reading a file from its beginning in blocks, as dd does; or its first block again and again, as a program does that
//! polls.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::OFlags;

use super::open::open;
use super::{AlignedBuffer, Answer, Arguments, JobError, timed};
use crate::cache::{ByteSpan, Dirty, cached_pages_in, evict_span, hides_pages, residency};

/// Folios of the cache are no larger than what a huge page of the middle level spans, on x86-64 and with base pages of 4 KiB.
pub const LARGEST_FOLIO_BYTES: u64 = 2 << 20;

struct Stream {
    path: PathBuf,
    file: OwnedFd,
    buffer: AlignedBuffer,
    /// To the end of the file, and not only the first block.
    whole: bool,
}

/// Words: `file`, `block` in bytes, `count` (repetitions), `whole` (1: to the end of the file, 0: the first block), `direct`
/// (1: O_DIRECT; 0 where it isn't given), `evict` (1: what is read is evicted before the first repetition; 0 where it isn't
/// given) and `sleep_ms` (0 where it isn't given) before each repetition but the first. The file may be a block device.
///
/// # Errors
/// Where a word is wrong, the file can't be read, or is shorter than a block.
pub fn stream(arguments: &Arguments) -> Result<Answer, JobError> {
    let block: usize = arguments.number("block")?;
    let repetitions = arguments.repetitions()?;
    let whole = flag(arguments, "whole")?;
    let direct = flag(arguments, "direct")?;
    let evict = flag(arguments, "evict")?;
    let path = arguments.path("file")?;
    let buffer = AlignedBuffer::new(block).ok_or_else(|| {
        JobError::Argument(format!("block={block}: expected what there is memory for"))
    })?;
    let file = open(&path, if direct { OFlags::DIRECT } else { OFlags::empty() })?;
    let mut job = Stream { path, file, buffer, whole };
    let mut answer = Answer::default();
    let mut calls = 0;
    if evict {
        job.evict()?;
    }
    for _ in repetitions {
        let (cached, pages) = job.cached().unzip();
        let ((made, bytes), mut repetition) = timed(|| job.pass())?;
        repetition.cached_before_pages = cached;
        repetition.pages = pages;
        calls += made;
        answer.bytes += bytes;
        answer.push(repetition);
    }
    Ok(answer.with_calls([("read", calls)]))
}

fn flag(arguments: &Arguments, key: &'static str) -> Result<bool, JobError> {
    match arguments.number_or::<u8>(key, 0)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(JobError::Argument(format!("{key}={other}: expected 0 or 1"))),
    }
}

impl Stream {
    /// Bytes that a repetition reads at most.
    fn span(&self) -> ByteSpan {
        match self.whole {
            true => ByteSpan::WHOLE,
            false => ByteSpan { start: 0, end: self.buffer.bytes().len() as u64 },
        }
    }

    /// Dirty pages stay: nothing is written. A folio that reaches over the end of what is read goes too.
    fn evict(&self) -> Result<(), JobError> {
        let ByteSpan { start, end } = self.span();
        let span = ByteSpan { start, end: end.saturating_add(LARGEST_FOLIO_BYTES) };
        evict_span(&self.file, &self.path, span, Dirty::Leave)
            .map(drop)
            .map_err(|error| JobError::wrong(&self.path, error.to_string()))
    }

    /// Cached pages of what is read, and all of its pages; of the whole file where the kernel does not tell of a part.
    fn cached(&self) -> Option<(u64, u64)> {
        let whole = || {
            let state = residency(&self.file).ok()?;
            Some((state.cached_pages, state.pages))
        };
        if self.whole || hides_pages(&self.file) {
            return whole();
        }
        let len = self.span().end;
        let part = cached_pages_in(&self.file, 0, len).ok();
        part.map_or_else(whole, |cached| Some((cached, crate::pages_of(len))))
    }

    /// Calls made, the one that finds the end too, and bytes read.
    fn pass(&mut self) -> Result<(u64, u64), JobError> {
        let block = self.buffer.bytes().len();
        let (mut calls, mut bytes, mut filled) = (0, 0_u64, 0);
        loop {
            let room = &mut self.buffer.bytes_mut()[filled..];
            let got = rustix::io::pread(self.file.as_fd(), room, bytes)
                .map_err(|errno| JobError::call(&self.path, "pread", errno))?;
            calls += 1;
            bytes += got as u64;
            filled = (filled + got) % block;
            let full = got > 0 && filled == 0;
            if full && !self.whole {
                return Ok((calls, bytes));
            }
            if got == 0 {
                return if self.whole { Ok((calls, bytes)) } else { Err(self.short(bytes)) };
            }
        }
    }

    fn short(&self, bytes: u64) -> JobError {
        let block = self.buffer.bytes().len();
        JobError::wrong(&self.path, format!("expected {block} bytes, and there are {bytes}"))
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::test_support::{ScratchFile, counts};

    fn run(file: &ScratchFile, words: &[&str]) -> Result<Answer, JobError> {
        let mut all: Vec<OsString> = words.iter().map(OsString::from).collect();
        let mut named = OsString::from("file=");
        named.push(&file.path);
        all.push(named);
        stream(&Arguments::parse(&all)?)
    }

    #[test]
    fn a_file_is_read_to_its_end_each_time() {
        let file = ScratchFile::on_disk(&[3; 10_000]);
        let answer = run(&file, &["block=4096", "count=2", "whole=1"]).expect("read");
        assert_eq!((answer.bytes, answer.operations()), (20_000, 2));
        // 4096, 4096, 1808 and the end.
        assert_eq!(answer.calls, counts([("read", 8)]));
        assert_eq!(answer.repetitions.len(), 2);
    }

    #[test]
    fn the_first_block_again_and_again_past_the_cache() {
        let file = ScratchFile::on_disk(&[3; 65_536]);
        file.file.sync_all().expect("sync");
        rustix::fs::fadvise(&file.file, 0, None, rustix::fs::Advice::DontNeed).expect("evict");
        let words = ["block=32768", "count=3", "direct=1"];
        let answer = run(&file, &words).expect("read");
        assert_eq!((answer.bytes, answer.calls), (3 * 32_768, counts([("read", 3)])));
        for repetition in &answer.repetitions {
            assert!(repetition.device_read_bytes >= Some(32_768), "{repetition:?}");
        }
        assert_eq!(crate::cache::residency(&file.file).expect("residency").cached_pages, 0);
    }

    #[test]
    fn only_what_is_read_is_evicted_and_looked_at() {
        let file = ScratchFile::on_disk(&vec![3; 16 << 20]);
        file.file.sync_all().expect("sync");
        hotset_tests::undisturbed(&[&file.path], || {
            crate::cache::warm_fd(&file.file).expect("warm");
            let words = ["block=65536", "count=2", "direct=1", "evict=1"];
            let answer = run(&file, &words).expect("read");
            let pages = crate::pages_of(65_536);
            for repetition in &answer.repetitions {
                assert_eq!(repetition.pages, Some(pages));
                assert_eq!(repetition.cached_before_pages, Some(0));
            }
            let state = residency(&file.file).expect("residency");
            assert!(state.cached_pages >= crate::pages_of(8 << 20), "the rest stays: {state:?}");
        });
    }

    #[test]
    fn what_can_not_be_is_named() {
        let file = ScratchFile::on_disk(&[3; 100]);
        let error = |words: &[&str]| run(&file, words).expect_err("refused").to_string();
        assert!(error(&["block=4096", "count=1"]).contains("there are 100"));
        assert!(error(&["block=0", "count=1"]).contains("block=0"));
        assert!(error(&["block=16", "count=1", "direct=2"]).contains("direct=2"));
    }
}
