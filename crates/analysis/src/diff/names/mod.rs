//! What is left of a name without the parts that are another in every run: hashes, versions, temporary names, PIDs, dates.
//!
//! A name that both runs have is never looked at in this way: two versions that one program uses stay two files.

mod parts;

use std::collections::HashSet;

use hotset_facts::Pid;

use super::difference::MatchedBy;
use parts::{Part, date, hash, pid, temporary, version};

/// A name without what is another in every run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Normal {
    /// The name, with a mark in the place of each part.
    pub(super) name: Vec<u8>,
    /// The parts, in their order.
    parts: Vec<(MatchedBy, Vec<u8>)>,
}

impl Normal {
    /// Of a path; `pids` are those of its run.
    pub(super) fn of(path: &[u8], pids: &HashSet<Pid>) -> Self {
        let mut normal = Self { name: Vec::with_capacity(path.len()), parts: Vec::new() };
        normal.push_path(path, pids);
        normal
    }

    /// Of the words of a command, with blanks between them.
    pub(super) fn of_words(words: &[u8], pids: &HashSet<Pid>) -> Self {
        let mut normal = Self { name: Vec::with_capacity(words.len()), parts: Vec::new() };
        for (at, word) in words.split(|&byte| byte == b' ').enumerate() {
            if at > 0 {
                normal.name.push(b' ');
            }
            normal.push_path(word, pids);
        }
        normal
    }

    fn push_path(&mut self, path: &[u8], pids: &HashSet<Pid>) {
        let components: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
        let mut in_temporary = false;
        for (at, component) in components.iter().enumerate() {
            if at > 0 {
                self.name.push(b'/');
            }
            let next = components.get(at + 1).copied().unwrap_or_default();
            let before = at.checked_sub(1).and_then(|at| components.get(at));
            let before = before.copied().unwrap_or_default();
            if is_shard(component, next) {
                self.mark(MatchedBy::Hash, component);
            } else {
                self.component(component, before, in_temporary, pids);
            }
            in_temporary |= is_temporary(before, component);
        }
    }

    /// What this name and another one of the same pattern differ in.
    pub(super) fn differs_by(&self, other: &Self) -> Vec<MatchedBy> {
        let both = self.parts.iter().zip(&other.parts);
        let mut by: Vec<MatchedBy> =
            both.filter(|(a, b)| a.1 != b.1).map(|((by, _), _)| *by).collect();
        by.sort_unstable();
        by.dedup();
        by
    }

    fn component(
        &mut self,
        component: &[u8],
        before: &[u8],
        in_temporary: bool,
        pids: &HashSet<Pid>,
    ) {
        if let Some(part) = temporary(component, in_temporary) {
            self.around(component, &part, MatchedBy::Temporary);
            return;
        }
        let mut at = 0;
        while at < component.len() {
            let found = [
                (MatchedBy::Date, date(component, at)),
                (MatchedBy::Version, version(component, at)),
                (MatchedBy::Hash, hash(component, at)),
                (MatchedBy::Pid, pid(component, at, before, pids)),
            ]
            .into_iter()
            .find_map(|(by, length)| Some((by, length?)));
            match found {
                Some((by, length)) => {
                    let end = (at + length).min(component.len());
                    self.mark(by, &component[at..end]);
                    at = end;
                }
                None => {
                    self.name.push(component[at]);
                    at += 1;
                }
            }
        }
    }

    /// A component of which a part is marked.
    fn around(&mut self, component: &[u8], part: &Part, by: MatchedBy) {
        let Part { from, to } = *part;
        self.name.extend_from_slice(&component[..from]);
        self.mark(by, &component[from..to]);
        self.name.extend_from_slice(&component[to..]);
    }

    fn mark(&mut self, by: MatchedBy, part: &[u8]) {
        // No path has a NUL.
        self.name.push(0);
        self.name.extend_from_slice(by.as_str().as_bytes());
        self.name.push(0);
        self.parts.push((by, part.to_vec()));
    }
}

/// A directory by the first digits of hashes, as Git and ccache have it: `objects/3f/2a9c…`.
fn is_shard(component: &[u8], next: &[u8]) -> bool {
    let is_hex = |part: &[u8]| part.iter().all(|byte| byte.is_ascii_hexdigit());
    (1..=2).contains(&component.len())
        && is_hex(component)
        && next.len() >= 30
        && is_hex(&next[..30])
}

/// A directory of temporary files.
fn is_temporary(before: &[u8], component: &[u8]) -> bool {
    matches!((before, component), (_, b"tmp" | b".tmp") | (b"dev", b"shm"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_name_is_of_its_own_pattern(
            bytes in prop::collection::vec(any::<u8>(), 0..40),
            name in "[a-fA-FtmpTMP0-9._/ -]{0,60}",
        ) {
            for name in [bytes.as_slice(), name.as_bytes()] {
                let pids = HashSet::from([123]);
                for normal in [Normal::of(name, &pids), Normal::of_words(name, &pids)] {
                    prop_assert_eq!(normal.differs_by(&normal), []);
                }
            }
        }
    }

    /// What two names differ in; nothing where they are two things.
    fn by(a: &str, b: &str) -> Option<Vec<MatchedBy>> {
        let pids = HashSet::from([4711, 4712]);
        let [a, b] = [a, b].map(|name| Normal::of(name.as_bytes(), &pids));
        (a.name == b.name).then(|| a.differs_by(&b))
    }

    #[test]
    fn names_that_are_another_in_every_run_are_one() {
        use MatchedBy::{Date, Hash, Pid, Temporary, Version};
        for (a, b, differ) in [
            ("/tmp/tmpab12cd/x", "/tmp/tmpzz99_k/x", Temporary),
            ("/tmp/tmp.Xk29dQpLmn", "/tmp/tmp.aaaaaaaaaa", Temporary),
            ("/tmp/ccQ3xYzA.s", "/tmp/ccbbbbbb.s", Temporary),
            ("/tmp/rustcFo9XaQ/a.o", "/tmp/rustcQp2LmN/a.o", Temporary),
            ("/var/tmp/go-build3841726550/b001", "/var/tmp/go-build177/b001", Temporary),
            ("/srv/.data.csv.Ab12Cd", "/srv/.data.csv.9zZ0yX", Temporary),
            ("/usr/lib/libz.so.1.2.13", "/usr/lib/libz.so.1.3", Version),
            ("/usr/lib/libssl.so.3", "/usr/lib/libssl.so.1.1", Version),
            ("/usr/lib/python3.11/os.py", "/usr/lib/python3.12/os.py", Version),
            ("/a/__pycache__/os.cpython-311.pyc", "/a/__pycache__/os.cpython-312.pyc", Version),
            ("/opt/node-v18.2.0/bin/node", "/opt/node-v20.10.1/bin/node", Version),
            ("/w/main.3f2a9c1b.js", "/w/main.0d00aa42.js", Hash),
            ("/t/libserde-0a1b2c3d4e5f6071.rlib", "/t/libserde-ff1b2c3d4e5f60aa.rlib", Hash),
            ("/w/assets/index-BfX3k2Qa.js", "/w/assets/index-D9x_1kLz.js", Hash),
            (
                "/g/objects/3f/2a9c3f2a9c3f2a9c3f2a9c3f2a9c3f2a9c3f2a",
                "/g/objects/00/aaaa3f2a9c3f2a9c3f2a9c3f2a9c3f2a9c3f2a",
                Hash,
            ),
            (
                "/run/3b241101-e2bb-4255-8caf-4136c566a962",
                "/run/00000000-e2bb-4255-8caf-4136c566a962",
                Hash,
            ),
            ("/proc/17/maps", "/proc/9/maps", Pid),
            ("/run/app.4711.sock", "/run/app.4712.sock", Pid),
            ("/log/app-20261127.log", "/log/app-20261128.log", Date),
            ("/log/2026-11-27.log", "/log/2025-01-01.log", Date),
        ] {
            assert_eq!(by(a, b), Some(vec![differ]), "{a} and {b}");
            assert_eq!(by(a, a), Some(Vec::new()), "{a}");
        }
        let two = by("/tmp/tmpab12cd/a-1.2", "/tmp/tmpxy34zz/a-1.3");
        assert_eq!(two, Some(vec![Temporary, Version]));
    }

    #[test]
    fn names_that_differ_otherwise_are_two() {
        for (a, b) in [
            ("/data/1", "/data/2"),
            ("/data/part-00001", "/data/part-00002"),
            ("/data/chunk12", "/data/chunk13"),
            ("/etc/passwd", "/etc/group"),
            ("/run/app.4713.sock", "/run/app.4714.sock"),
            ("/usr/lib/libz.so.1", "/usr/lib/liby.so.1"),
            ("/w/feedface.js", "/w/deadbeef.js"),
            ("/tmp/orders", "/tmp/prices"),
            ("/usr/share/template", "/usr/share/tmpfiles"),
        ] {
            assert_eq!(by(a, b), None, "{a} and {b}");
        }
    }

    #[test]
    fn no_bytes_are_too_odd() {
        for odd in [&b""[..], b"/", b"//\xff\xfe", b"tmp", b".", b"a.so.", b"\0", b"/proc//"] {
            let normal = Normal::of(odd, &HashSet::new());
            assert_eq!(normal.differs_by(&normal), []);
        }
    }
}
