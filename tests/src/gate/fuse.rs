//! As much of the FUSE protocol (<linux/fuse.h>, version 7) as a mount needs whose root is one regular file.

/// The root of every FUSE mount.
const ROOT: u64 = 1;
const HEADER_IN: usize = 40;
/// The largest read or write that the kernel may ask for.
pub(super) const MAX_TRANSFER: usize = 1 << 20;
/// The kernel hands out a request whole or not at all.
pub(super) const BUFFER_BYTES: usize = MAX_TRANSFER + 4096;
/// Answers are kept for a day: nobody else changes the file.
const VALID_SECONDS: u64 = 86_400;
/// `FOPEN_DIRECT_IO`: no cache between the kernel's caller and this side, so that each request arrives here.
const DIRECT_IO: u32 = 1;
/// `FUSE_BIG_WRITES | FUSE_MAX_PAGES`.
const INIT_FLAGS: u32 = 1 << 5 | 1 << 22;

/// What the kernel wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted<'a> {
    Init,
    Attributes,
    Open,
    Read {
        offset: u64,
        len: usize,
    },
    Write {
        offset: u64,
        data: &'a [u8],
    },
    Sync,
    /// Nothing to do but to say so.
    Acknowledge,
    /// Wants no answer.
    Silence,
    Other,
}

/// One request.
pub(super) struct Request<'a> {
    pub(super) unique: u64,
    pub(super) wanted: Wanted<'a>,
}

/// Decodes one request; panics on a truncated one, which the kernel never sends.
pub(super) fn decode(bytes: &[u8]) -> Request<'_> {
    let body = &bytes[HEADER_IN..];
    let wanted = match u32_at(bytes, 4) {
        2 | 36 | 42 => Wanted::Silence,
        3 => Wanted::Attributes,
        14 => Wanted::Open,
        15 => Wanted::Read { offset: u64_at(body, 8), len: u32_at(body, 16) as usize },
        16 => {
            let len = u32_at(body, 16) as usize;
            Wanted::Write { offset: u64_at(body, 8), data: &body[40..40 + len] }
        }
        18 | 25 | 38 => Wanted::Acknowledge,
        20 => Wanted::Sync,
        26 => Wanted::Init,
        _ => Wanted::Other,
    };
    Request { unique: u64_at(bytes, 8), wanted }
}

/// An answer with a body.
pub(super) fn answer(unique: u64, body: &[u8]) -> Vec<u8> {
    reply(unique, 0, body)
}

/// A refusal.
pub(super) fn refusal(unique: u64, errno: i32) -> Vec<u8> {
    reply(unique, -errno, &[])
}

fn reply(unique: u64, error: i32, body: &[u8]) -> Vec<u8> {
    let len = (16 + body.len()) as u32;
    let mut out = Vec::with_capacity(len as usize);
    out.extend(len.to_ne_bytes());
    out.extend(error.to_ne_bytes());
    out.extend(unique.to_ne_bytes());
    out.extend(body);
    out
}

/// `struct fuse_init_out`: version 7.31, which Linux 5.4 and all later ones speak.
pub(super) fn init_body() -> Vec<u8> {
    let mut body = Vec::new();
    for word in [7, 31, 0, INIT_FLAGS] {
        body.extend(u32::to_ne_bytes(word));
    }
    // Requests in flight, and when that counts as congested.
    body.extend([64_u16, 48].iter().flat_map(|word| word.to_ne_bytes()));
    body.extend((MAX_TRANSFER as u32).to_ne_bytes());
    // The grain of times in nanoseconds.
    body.extend(1_u32.to_ne_bytes());
    body.extend(((MAX_TRANSFER / 4096) as u16).to_ne_bytes());
    body.resize(64, 0);
    body
}

/// `struct fuse_attr_out` of a regular file that root may read and write.
pub(super) fn attributes_body(size_bytes: u64) -> Vec<u8> {
    let mut body = Vec::new();
    for word in [VALID_SECONDS, 0, ROOT, size_bytes, size_bytes.div_ceil(512)] {
        body.extend(word.to_ne_bytes());
    }
    // Times, to the second and to the nanosecond.
    body.resize(body.len() + 3 * 8 + 3 * 4, 0);
    // Mode, links, owner, group, device, block size, flags.
    for word in [0o100_600, 1, 0, 0, 0, 4096, 0] {
        body.extend(u32::to_ne_bytes(word));
    }
    body
}

/// `struct fuse_open_out`.
pub(super) fn open_body() -> Vec<u8> {
    let mut body = vec![0; 16];
    body[8..12].copy_from_slice(&DIRECT_IO.to_ne_bytes());
    body
}

/// `struct fuse_write_out`.
pub(super) fn written_body(bytes: usize) -> Vec<u8> {
    let mut body = (bytes as u32).to_ne_bytes().to_vec();
    body.resize(8, 0);
    body
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
