//! The files that an experiment reads, made before its first round.

use std::fs::File;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use hotset_sys::rawio::pattern;

use super::plan::{Contents, TestFile};

/// Written at once, so that the file system finds room in long stretches.
const CHUNK_BYTES: u64 = 4 << 20;

/// Makes the files and brings them to the device. False where it was stopped.
///
/// # Errors
/// Names the file that can't be written.
pub(super) fn prepare(files: &[TestFile], stop: &AtomicBool) -> io::Result<bool> {
    for file in files {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", file.path.display()))
        };
        if let Some(directory) = file.path.parent() {
            std::fs::create_dir_all(directory).map_err(named)?;
        }
        if !write(file, stop).map_err(named)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn write(test: &TestFile, stop: &AtomicBool) -> io::Result<bool> {
    let mut file = File::create(&test.path)?;
    match &test.contents {
        Contents::Bytes(bytes) => file.write_all(bytes)?,
        Contents::Pattern { bytes } => {
            let mut chunk = vec![0; CHUNK_BYTES.min(*bytes) as usize];
            let mut at = 0;
            while at < *bytes {
                if stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                let now = CHUNK_BYTES.min(bytes - at) as usize;
                pattern::fill(&mut chunk[..now], at);
                file.write_all(&chunk[..now])?;
                at += now as u64;
            }
        }
    }
    file.sync_all()?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Scratch;

    #[test]
    fn files_hold_what_was_planned_and_a_stop_is_heard() {
        let scratch = Scratch::new();
        let made = scratch.path("deep/er");
        let pattern = Contents::Pattern { bytes: (5 << 20) + 3 };
        let files = [
            TestFile { path: made.clone(), contents: pattern },
            TestFile { path: scratch.path("small"), contents: Contents::Bytes(b"{}".to_vec()) },
        ];
        assert!(prepare(&files, &AtomicBool::new(false)).expect("made"));
        let bytes = std::fs::read(&made).expect("read");
        assert_eq!((bytes.len() as u64, pattern::first_wrong(&bytes, 0)), (files[0].bytes(), None));
        assert_eq!(std::fs::read(scratch.path("small")).expect("read"), b"{}");
        assert!(!prepare(&files, &AtomicBool::new(true)).expect("no error"));
        let nowhere = TestFile { path: "/proc/x/y".into(), contents: Contents::Bytes(Vec::new()) };
        let error = prepare(&[nowhere], &AtomicBool::new(false)).expect_err("refused");
        assert!(error.to_string().contains("/proc/x/y"));
    }
}
