//! Records as the sensor sends them.

use crate::record::{FileKey, Plain, mirror, read, zeroed};

mirror! {
    /// What the sensor says of a request.
    Op {
        r#type: u32,
        call: u16,
        flags: u16,
        start_ns: u64,
        ns: u64,
        tid: u32,
        owner: u32,
        tgid: u32,
        pad: u32,
        file: FileKey,
        open_file: u64,
        offset: u64,
        asked: u64,
        result: i64,
        device_read_bytes: u64,
        device_write_bytes: u64,
        pages: u32,
        misses: u32,
        ahead_hits: u32,
        zeros: u32,
        created: u32,
        read_ahead: u32,
        how: u64,
        site: u64,
    }
}

mirror! {
    /// Code that asked for the first time; bytes of its thread's stack, from `sp` up, follow.
    StackHead {
        r#type: u32,
        tid: u32,
        tgid: u32,
        owner: u32,
        site: u64,
        time_ns: u64,
        place: u64,
        ip: u64,
        sp: u64,
        bp: u64,
        stack_start: u64,
        bytes: u32,
        pad: u32,
    }
}

mirror! {
    /// Where a process has code; `count` of [`RawMapping`] follow.
    CodeHead {
        r#type: u32,
        tid: u32,
        tgid: u32,
        count: u32,
        stack_start: u64,
        vdso: u64,
    }
}

mirror! {
    /// A mapping that code runs from.
    RawMapping {
        begin: u64,
        end: u64,
        offset: u64,
        file: FileKey,
    }
}

/// `HS_CHAIN_CALLS`, `HS_CHAIN_BYTES`, `HS_CHAINS` and `HS_PENDING`.
pub(super) const CHAIN_CALLS: usize = 12;
pub(super) const CHAIN_BYTES: u64 = 2_048;
pub(super) const CHAINS: usize = 8;
const PENDING: usize = 4;

mirror! {
    /// A chain of calls that leads to a place.
    Chain {
        site: u64,
        calls: u32,
        bytes: u32,
        at: [u16; CHAIN_CALLS],
        from: [u64; CHAIN_CALLS],
    }
}

mirror! {
    /// A stack whose chain is not told yet.
    Pending {
        site: u64,
        guess: u64,
    }
}

mirror! {
    /// All of them that are known.
    ChainsValue {
        count: u32,
        bytes: u32,
        pending: [Pending; PENDING],
        chain: [Chain; CHAINS],
    }
}

mirror! {
    /// What stands behind an [`Op`] with paths, and before these.
    PathsHead {
        op: Op,
        base: u64,
        new_base: u64,
        path_len: u32,
        new_path_len: u32,
    }
}

mirror! {
    /// Records of a thread that found no room.
    Lost {
        r#type: u32,
        tid: u32,
        from_ns: u64,
        to_ns: u64,
        records: u64,
    }
}

/// `enum hs_event`.
const EVENT_OP: u32 = 7;
const EVENT_PATHS: u32 = 8;
pub(super) const EVENT_LOST: u32 = 9;
const EVENT_STACK: u32 = 10;
const EVENT_CODE: u32 = 11;

/// How a request was made, what came of it, and what is not known (`HS_OP_*`).
pub(super) mod flag {
    pub(in crate::recording) const DIRECT: u16 = 1;
    pub(in crate::recording) const APPEND: u16 = 2;
    pub(in crate::recording) const SYNC: u16 = 4;
    pub(in crate::recording) const NOWAIT: u16 = 8;
    pub(in crate::recording) const DONTCACHE: u16 = 16;
    pub(in crate::recording) const POSITION: u16 = 32;
    pub(in crate::recording) const WAITED: u16 = 64;
    pub(in crate::recording) const TARGET: u16 = 256;
    pub(in crate::recording) const NO_TIME: u16 = 512;
    pub(in crate::recording) const UNCOUNTED: u16 = 1024;
    pub(in crate::recording) const NO_RANGE: u16 = 2048;
}

/// A path as it was asked for, and the node of the directory that it starts from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RawPath {
    pub(super) base: u64,
    pub(super) bytes: Vec<u8>,
}

/// A request with what paths it asked for.
#[derive(Debug)]
pub(super) struct WithPaths {
    pub(super) op: Op,
    pub(super) path: RawPath,
    pub(super) new_path: Option<RawPath>,
}

/// One record of a ring.
#[derive(Debug)]
pub(super) enum Raw {
    Op(Op),
    /// In a box: most records have none, and are moved with less.
    Paths(Box<WithPaths>),
    Lost(Lost),
    Stack(StackHead, Vec<u8>),
    Code(CodeHead, Vec<RawMapping>),
}

impl Op {
    /// When it ended, by the monotonic clock.
    pub(super) fn end_ns(&self) -> u64 {
        self.start_ns.saturating_add(self.ns)
    }
}

impl Raw {
    /// When it ended, by the monotonic clock.
    pub(super) fn end_ns(&self) -> u64 {
        match self {
            Self::Op(op) => op.end_ns(),
            Self::Paths(paths) => paths.op.end_ns(),
            Self::Lost(lost) => lost.to_ns,
            // Before all that was asked from there.
            Self::Stack(..) | Self::Code(..) => 0,
        }
    }

    /// Takes it, and leaves another that says nothing.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Lost(zeroed()))
    }
}

/// Decodes a record; `None` where it is shorter than it says, or of an unknown type.
pub(super) fn decode(bytes: &[u8]) -> Option<Raw> {
    match bytes.first_chunk::<4>().map(|kind| u32::from_ne_bytes(*kind))? {
        EVENT_OP => read(bytes).map(Raw::Op),
        EVENT_LOST => read(bytes).map(Raw::Lost),
        EVENT_STACK => {
            let head: StackHead = read(bytes)?;
            let stack = bytes.get(size_of::<StackHead>()..)?.get(..head.bytes as usize)?;
            Some(Raw::Stack(head, stack.to_vec()))
        }
        EVENT_CODE => {
            let head: CodeHead = read(bytes)?;
            let rest = bytes.get(size_of::<CodeHead>()..)?;
            let (all, _) = rest.as_chunks::<{ size_of::<RawMapping>() }>();
            let mappings = all.get(..head.count as usize)?.iter().filter_map(|one| read(one));
            Some(Raw::Code(head, mappings.collect()))
        }
        EVENT_PATHS => {
            let head: PathsHead = read(bytes)?;
            let paths = bytes.get(size_of::<PathsHead>()..)?;
            let (first, rest) = paths.split_at_checked(head.path_len as usize)?;
            let second = rest.get(..head.new_path_len as usize)?;
            let path = RawPath { base: head.base, bytes: first.to_vec() };
            let new_path = (head.new_path_len > 0)
                .then(|| RawPath { base: head.new_base, bytes: second.to_vec() });
            Some(Raw::Paths(Box::new(WithPaths { op: head.op, path, new_path })))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::bytes_of;

    #[test]
    fn paths_stand_one_behind_the_other() {
        let op = Op { call: 82, ..zeroed() };
        let head = PathsHead { op, base: 7, new_base: 0, path_len: 1, new_path_len: 2 };
        let mut bytes = [bytes_of(&head), b"a/b"].concat();
        bytes[..4].copy_from_slice(&EVENT_PATHS.to_ne_bytes());
        let Some(Raw::Paths(paths)) = decode(&bytes) else { panic!("{bytes:?}") };
        let WithPaths { op, path, new_path: Some(new) } = *paths else { panic!("{paths:?}") };
        assert_eq!((op.call, path.base, path.bytes.as_slice()), (82, 7, &b"a"[..]));
        assert_eq!((new.base, new.bytes.as_slice()), (0, &b"/b"[..]));
        assert!(decode(&bytes[..bytes.len() - 1]).is_none());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0_u32..12) {
            let _ = decode(&bytes);
            let mut typed = kind.to_ne_bytes().to_vec();
            typed.extend(bytes);
            let _ = decode(&typed);
        }
    }
}
