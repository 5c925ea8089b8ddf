//! The records of the ring, and their pure decoding.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::record::{FileKey, Plain, mirror, read};

mirror! {
    NodeHead {
        r#type: u32,
        name_len: u32,
        id: u64,
        parent: u64,
        dev: u32,
        pad: u32,
    }
}

mirror! {
    FirstHead {
        r#type: u32,
        name_len: u32,
        parent: u64,
        file: FileKey,
        size_bytes: u64,
        cached_pages: u64,
        tgid: u32,
        mode: u32,
        nlink: u32,
        unhashed: u32,
        used: u32,
        mounted: u32,
    }
}

mirror! {
    FailedHead {
        r#type: u32,
        path_len: u32,
        tgid: u32,
        error: i32,
        base: u64,
    }
}

mirror! {
    TaskHead {
        r#type: u32,
        argv_len: u32,
        pid: u32,
        ppid: u32,
        exit_code: i32,
        owner: u32,
        time_ns: u64,
        comm: [u8; 16],
    }
}

/// One decoded ring record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// A directory was seen for the first time.
    Node { id: u64, parent: u64, dev: u32, name: Vec<u8> },
    /// A process touched a file for the first time.
    File { key: FileKey, file: NamedFile },
    /// A path was not found.
    Failed { tgid: u32, base: u64, path: Vec<u8> },
    /// A process was created.
    Fork { owner: u32, pid: u32, ppid: u32, comm: String, time_ns: u64 },
    /// A process runs another program.
    Exec { owner: u32, pid: u32, comm: String, argv: Vec<OsString>, time_ns: u64 },
    /// The last thread of a process ended.
    Exit { owner: u32, pid: u32, comm: String, wait_status: i32 },
}

/// A file's name, and what it was at first sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedFile {
    pub(crate) parent: u64,
    pub(crate) name: Box<[u8]>,
    pub(crate) size_bytes: u64,
    pub(crate) cached_pages: u64,
    pub(crate) mode: u32,
    pub(crate) deleted: bool,
    /// The name is the one that the process used, and not just some link to the inode.
    pub(crate) used: bool,
    /// The device by which its file system is mounted: on btrfs not that of its subvolume.
    pub(crate) mounted: u32,
}

const EVENT_NODE: u32 = 1;
const EVENT_FILE: u32 = 2;
const EVENT_FAILED: u32 = 3;
const EVENT_FORK: u32 = 4;
const EVENT_EXEC: u32 = 5;
const EVENT_EXIT: u32 = 6;

/// A record that is shorter than it says, or of an unknown type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a ring record of {length} bytes and type {kind} can't be decoded")]
pub(crate) struct Malformed {
    kind: u32,
    length: usize,
}

/// Decodes one ring record.
pub(crate) fn decode(bytes: &[u8]) -> Result<Event, Malformed> {
    let kind = bytes.first_chunk::<4>().map_or(0, |b| u32::from_ne_bytes(*b));
    let malformed = Malformed { kind, length: bytes.len() };
    match kind {
        EVENT_NODE => decode_node(bytes),
        EVENT_FILE => decode_file(bytes),
        EVENT_FAILED => decode_failed(bytes),
        EVENT_FORK | EVENT_EXEC | EVENT_EXIT => decode_task(kind, bytes),
        _ => None,
    }
    .ok_or(malformed)
}

/// `length` bytes that follow the fixed part.
fn tail<T>(bytes: &[u8], length: u32) -> Option<&[u8]> {
    bytes.get(size_of::<T>()..)?.get(..length as usize)
}

fn decode_node(bytes: &[u8]) -> Option<Event> {
    let head: NodeHead = read(bytes)?;
    let name = tail::<NodeHead>(bytes, head.name_len)?.to_vec();
    Some(Event::Node { id: head.id, parent: head.parent, dev: head.dev, name })
}

fn decode_file(bytes: &[u8]) -> Option<Event> {
    let head: FirstHead = read(bytes)?;
    let file = NamedFile {
        parent: head.parent,
        name: tail::<FirstHead>(bytes, head.name_len)?.into(),
        size_bytes: head.size_bytes,
        cached_pages: head.cached_pages,
        mode: head.mode,
        deleted: head.nlink == 0,
        used: head.used != 0,
        mounted: head.mounted,
    };
    Some(Event::File { key: head.file, file })
}

fn decode_failed(bytes: &[u8]) -> Option<Event> {
    let head: FailedHead = read(bytes)?;
    let path = tail::<FailedHead>(bytes, head.path_len)?.to_vec();
    Some(Event::Failed { tgid: head.tgid, base: head.base, path })
}

fn decode_task(kind: u32, bytes: &[u8]) -> Option<Event> {
    let head: TaskHead = read(bytes)?;
    let comm = comm_of(&head.comm);
    let (owner, pid) = (head.owner, head.pid);
    Some(match kind {
        EVENT_FORK => Event::Fork { owner, pid, ppid: head.ppid, comm, time_ns: head.time_ns },
        EVENT_EXIT => Event::Exit { owner, pid, comm, wait_status: head.exit_code },
        _ => {
            let argv = split_argv(tail::<TaskHead>(bytes, head.argv_len)?);
            Event::Exec { owner, pid, comm, argv, time_ns: head.time_ns }
        }
    })
}

/// The name of a program, which ends at the first zero.
pub(crate) fn comm_of(comm: &[u8; 16]) -> String {
    let end = comm.iter().position(|&b| b == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end]).into_owned()
}

/// Words as the kernel keeps them: each ended by a NUL, the last one perhaps cut.
fn split_argv(bytes: &[u8]) -> Vec<OsString> {
    let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|&b| b == 0).map(|word| OsString::from_vec(word.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::bytes_of;

    fn node_record(name: &[u8]) -> Vec<u8> {
        let head = NodeHead {
            r#type: EVENT_NODE,
            name_len: name.len() as u32,
            id: 7,
            parent: 9,
            dev: 0,
            pad: 0,
        };
        [bytes_of(&head), name].concat()
    }

    #[test]
    fn a_node_decodes() {
        let event = decode(&node_record(b"with\nnewline\xff")).unwrap();
        assert_eq!(
            event,
            Event::Node { id: 7, parent: 9, dev: 0, name: b"with\nnewline\xff".to_vec() }
        );
    }

    #[test]
    fn a_record_shorter_than_it_says_is_refused() {
        let record = node_record(b"name");
        assert!(decode(&record[..record.len() - 1]).is_err());
        assert!(decode(&[]).is_err());
    }

    #[test]
    fn argv_splits_at_nul_and_keeps_empty_words() {
        assert_eq!(split_argv(b"sh\0-c\0\0last\0"), ["sh", "-c", "", "last"]);
        assert_eq!(split_argv(b"cut off"), ["cut off"]);
        assert!(split_argv(b"").is_empty());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0_u32..8) {
            let _ = decode(&bytes);
            let mut typed = kind.to_ne_bytes().to_vec();
            typed.extend(bytes);
            let _ = decode(&typed);
        }
    }
}
