//! Functions that a program made while it ran, as /tmp/perf-PID.map tells them (the kernel's
//! tools/perf/Documentation/jit-interface.txt): a line each, with address and size in hexadecimal, and a name.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt as _;

use hotset_facts::Pid;

use crate::names::shorten;
use crate::open::{Roots, map_of};

/// Functions at most: what comes later is not kept. A browser's map has some ten thousand.
const MAX_FUNCTIONS: usize = 1_000_000;

/// Bytes that are read at once at most.
const CHUNK: usize = 1 << 20;

/// The map of one process. Runtimes append to it while they compile.
#[derive(Debug, Default)]
pub(crate) struct PerfMap {
    functions: BTreeMap<u64, (u64, Box<str>)>,
    /// Which file was read, and to where.
    file: Option<(u64, u64)>,
    read: u64,
    /// The line that had no end yet.
    begun: Vec<u8>,
}

impl PerfMap {
    /// Reads what is new in the map of `pid`, where it has one.
    pub(crate) fn refresh(&mut self, roots: &Roots, pid: Pid) {
        let Some((file, identity)) = map_of(roots, pid) else { return };
        if self.file != Some(identity) {
            *self = Self { file: Some(identity), ..Self::default() };
        }
        let mut chunk = vec![0; CHUNK];
        while self.functions.len() < MAX_FUNCTIONS {
            let Ok(count) = file.read_at(&mut chunk, self.read) else { return };
            let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { return };
            self.read += count as u64;
            self.add(bytes);
        }
    }

    /// Takes the next bytes of the map.
    fn add(&mut self, bytes: &[u8]) {
        let mut lines = bytes.split_inclusive(|&byte| byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            // A line without an end that is longer than any name is no line of a map.
            if self.begun.len() + line.len() <= CHUNK {
                self.begun.extend_from_slice(line);
            }
            if line.ends_with(b"\n") || lines.peek().is_some() {
                let whole = std::mem::take(&mut self.begun);
                if let Some((start, size, name)) = parse(whole.trim_ascii()) {
                    self.insert(start, size, name);
                }
            }
        }
    }

    /// A function takes the place of those whose memory it got.
    fn insert(&mut self, start: u64, size: u64, name: String) {
        let end = start.saturating_add(size);
        let before = self.functions.range(..start).next_back();
        let overlapped: Vec<u64> = before
            .filter(|(address, (size, _))| address.saturating_add(*size) > start)
            .into_iter()
            .chain(self.functions.range(start..end))
            .map(|(address, _)| *address)
            .collect();
        for address in overlapped {
            self.functions.remove(&address);
        }
        self.functions.insert(start, (size, name.into()));
    }

    /// The function at an address, and how many bytes behind its beginning that is.
    pub(crate) fn find(&self, address: u64) -> Option<(&str, u64)> {
        let (start, (size, name)) = self.functions.range(..=address).next_back()?;
        let offset = address - start;
        (offset < *size).then_some((name, offset))
    }
}

fn parse(line: &[u8]) -> Option<(u64, u64, String)> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.splitn(3, ' ');
    let mut number = || {
        let word = words.next()?;
        u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()
    };
    let (start, size) = (number()?, number()?);
    let name = words.next()?.trim();
    (size > 0 && !name.is_empty()).then(|| (start, size, shorten(name.to_owned())))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn map(text: &str) -> PerfMap {
        let mut map = PerfMap::default();
        map.add(text.as_bytes());
        map
    }

    #[test]
    fn names_hold_blanks_and_addresses_may_have_a_prefix() {
        let map = map("1000 20 JS:*load file:///a b.js:3:1\n0x2000 0x10 void A::f()\n");
        assert_eq!(map.find(0x101f), Some(("JS:*load file:///a b.js:3:1", 0x1f)));
        assert_eq!(map.find(0x2004), Some(("void A::f()", 4)));
        assert_eq!((map.find(0x1020), map.find(0xfff)), (None, None));
    }

    #[test]
    fn what_is_compiled_into_freed_memory_takes_its_place() {
        let map = map("1000 100 old\n1200 100 kept\n1080 40 new\n");
        assert_eq!(map.find(0x1090), Some(("new", 0x10)));
        assert_eq!(map.find(0x1010), None);
        assert_eq!(map.find(0x1250), Some(("kept", 0x50)));
    }

    #[test]
    fn a_line_that_comes_in_parts_is_one_line() {
        let mut map = PerfMap::default();
        map.add(b"1000 20 first\n2000 2");
        map.add(b"0 sec");
        assert_eq!(map.find(0x2000), None);
        map.add(b"ond\nnonsense\n");
        assert_eq!(map.find(0x2010), Some(("second", 0x10)));
    }

    proptest! {
        #[test]
        fn functions_never_overlap(rows in prop::collection::vec((0u64..400, 1u64..60), 0..40)) {
            let mut map = PerfMap::default();
            for (start, size) in &rows {
                map.add(format!("{start:x} {size:x} f\n").as_bytes());
            }
            let ends: Vec<(u64, u64)> =
                map.functions.iter().map(|(start, (size, _))| (*start, start + size)).collect();
            prop_assert!(ends.windows(2).all(|pair| pair[0].1 <= pair[1].0));
            if let Some((start, size)) = rows.last() {
                prop_assert_eq!(map.find(start + size - 1), Some(("f", size - 1)));
            }
        }

        #[test]
        fn any_bytes_in_any_parts(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..200) {
            let (first, second) = bytes.split_at(at.min(bytes.len()));
            let mut parts = PerfMap::default();
            parts.add(first);
            parts.add(second);
            let mut whole = PerfMap::default();
            whole.add(&bytes);
            prop_assert_eq!(parts.functions, whole.functions);
        }
    }
}
