//! A recording as a file: where its lines are, and when each ended. Lines are read when they are shown, so that a recording
//! of a week takes no more memory than its list of times.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use hotset_analysis::top::TopFrame;
use hotset_view::tui::unix_seconds;
use hotset_view::wire::top::{Header, SCHEMA, read_header, read_interval, read_time};

/// No interval that `--record` writes is near as long.
const LONGEST_LINE: u64 = 256 << 20;

/// One line of the file.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at: SystemTime,
    offset: u64,
    length: u32,
    line: u32,
}

/// A recording.
#[derive(Debug)]
pub(super) struct Recording {
    path: PathBuf,
    file: File,
    pub(super) header: Header,
    entries: Vec<Entry>,
    /// The last line is not whole.
    pub(super) cut: bool,
}

impl Recording {
    /// Opens a recording and looks at each line.
    ///
    /// # Errors
    /// Where it can't be read, or a line is none of a recording: the file, the line, and what would be right. A last line
    /// without an end is left out.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let name = || path.display().to_string();
        let file = File::open(path).with_context(name)?;
        if !file.metadata().with_context(name)?.is_file() {
            bail!("{}: not a file; right is one that `hotset top --record` wrote", name());
        }
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        let mut bytes = Vec::new();
        let (mut offset, mut number) = (0_u64, 0_u32);
        let (mut header, mut entries, mut cut) = (None, Vec::new(), false);
        loop {
            bytes.clear();
            let read = (&mut reader)
                .take(LONGEST_LINE)
                .read_until(b'\n', &mut bytes)
                .with_context(name)?;
            if read == 0 {
                break;
            }
            number = number.saturating_add(1);
            let wrong = |what: String| anyhow::anyhow!("{}, line {number}: {what}", name());
            let whole = bytes.last() == Some(&b'\n');
            if header.is_none() {
                header = Some(read_header(bytes.trim_ascii_end()).map_err(wrong)?);
            } else if !whole && read as u64 == LONGEST_LINE {
                return Err(wrong("longer than any interval of a recording".to_owned()));
            } else {
                match read_time(bytes.trim_ascii_end()) {
                    Ok(at) => {
                        let length = u32::try_from(read).unwrap_or(u32::MAX);
                        entries.push(Entry { at, offset, length, line: number });
                    }
                    Err(_) if !whole => cut = true,
                    Err(what) => return Err(wrong(what)),
                }
            }
            offset += read as u64;
        }
        let Some(header) = header else {
            bail!("{}: empty; right is a file that `hotset top --record` wrote ({SCHEMA})", name());
        };
        if entries.is_empty() {
            bail!(
                "{}: a recording without an interval; let `hotset top --record` run longer",
                name()
            );
        }
        Ok(Self { path: path.to_owned(), file, header, entries, cut })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// When the first and the last interval ended.
    pub(super) fn span(&self) -> (SystemTime, SystemTime) {
        (self.time(0), self.time(self.len().saturating_sub(1)))
    }

    /// When an interval ended.
    pub(super) fn time(&self, at: usize) -> SystemTime {
        self.entries.get(at).map_or(SystemTime::UNIX_EPOCH, |entry| entry.at)
    }

    /// The interval that ended then or next after it, else the last.
    pub(super) fn place_of(&self, seconds: i64) -> usize {
        let after = self.entries.iter().position(|entry| unix_seconds(entry.at) >= seconds);
        after.unwrap_or(self.len().saturating_sub(1))
    }

    /// An interval.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub(super) fn frame(&mut self, at: usize) -> Result<TopFrame> {
        let name = self.path.display();
        let Some(entry) = self.entries.get(at) else {
            bail!("{name}: there is no interval {}", at + 1);
        };
        let mut bytes = vec![0; entry.length as usize];
        self.file.read_exact_at(&mut bytes, entry.offset).with_context(|| name.to_string())?;
        read_interval(bytes.trim_ascii_end())
            .map_err(|what| anyhow::anyhow!("{name}, line {}: {what}", entry.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, contents: &[u8]) -> String {
        let path = std::env::temp_dir().join(format!("hotset-{name}-{}", std::process::id()));
        std::fs::write(&path, contents).expect("write");
        let error = Recording::open(&path).expect_err("must be refused").to_string();
        std::fs::remove_file(&path).expect("remove");
        assert!(error.contains(name), "{error} names the file");
        error
    }

    #[test]
    fn a_foreign_file_is_refused_with_what_would_be_right() {
        assert!(refused("empty", b"").contains("hotset top --record"));
        assert!(refused("text", b"hello\nworld\n").contains("line 1: not JSON"));
        let other = refused("other", b"{\"schema\":\"hotset.profile/1\",\"hotset\":\"0\"}\n");
        assert!(
            other.contains("\"hotset.profile/1\"") && other.contains("hotset.top/1"),
            "{other}"
        );
        let header = br#"{"schema":"hotset.top/1","hotset":"0","host":"h","interval_ns":1,"scope":null,"not_measured":[],"missing":[]}"#;
        let bad = [&header[..], b"\n{\"at\":\"noon\",\"missing\":[]}\n"].concat();
        let noon = refused("noon", &bad);
        assert!(
            noon.contains("line 2: ") && noon.contains("at: \"noon\"; expected a time"),
            "{noon}"
        );
        let none = [&header[..], b"\n"].concat();
        assert!(refused("none", &none).contains("without an interval"));
    }
}
