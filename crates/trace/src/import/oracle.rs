//! Requests as libCacheSim's oracleGeneral has them: 24 bytes each, little endian.
//!
//! | bytes | what |
//! |---|---|
//! | 0-3 | time, seconds, u32 |
//! | 4-11 | object, u64 |
//! | 12-15 | its size in bytes, u32 |
//! | 16-23 | the number of the next request of the object, i64; -1 where there is none |
//!
//! Nothing in it says what it is, so the sniffer looks at what a few records must satisfy. Objects
//! become pages as the exporter makes objects of pages: `file << 40 | page`. That is a different
//! page for each object, whatever the objects were. Memory: a table of distinct files. Files are
//! usually compressed by zstd: unpack them first.

use std::collections::HashMap;
use std::io::{self, BufRead};

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Operation, TraceBatch, TraceFile, TraceHead, TraceRecord, TraceSource,
};

use super::batch::BatchBuilder;
use super::summary::RefusedLine;
use super::{ImportError, ImportSummary, Importer, head_of};

/// Bytes of a request (libCacheSim, traceReader/customizedReader/oracle/oracleGeneralBin.h).
pub(crate) const RECORD: usize = 24;

/// Bits of an object that say the page; those above say the file.
pub(crate) const PAGE_BITS: u32 = 40;

/// Bytes of a page.
pub(crate) const PAGE: u64 = 4096;

/// Sizes beyond which a record is taken for something else: libCacheSim's own traces hold objects
/// up to some GiB.
const LARGEST: u32 = 1 << 31;

/// Requests that no trace has so many of. Eight characters of text, and most other bytes, are beyond it.
const MOST: i64 = 1 << 48;

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) time_s: u32,
    pub(crate) object: u64,
    pub(crate) size: u32,
    pub(crate) next: i64,
}

impl Request {
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (time, rest) = bytes.split_first_chunk::<4>()?;
        let (object, rest) = rest.split_first_chunk::<8>()?;
        let (size, rest) = rest.split_first_chunk::<4>()?;
        let (next, _) = rest.split_first_chunk::<8>()?;
        Some(Self {
            time_s: u32::from_le_bytes(*time),
            object: u64::from_le_bytes(*object),
            size: u32::from_le_bytes(*size),
            next: i64::from_le_bytes(*next),
        })
    }

    pub(crate) fn encode(self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let fields = self.time_s.to_le_bytes().into_iter();
        let fields = fields.chain(self.object.to_le_bytes()).chain(self.size.to_le_bytes());
        let fields = fields.chain(self.next.to_le_bytes());
        bytes.iter_mut().zip(fields).for_each(|(to, from)| *to = from);
        bytes
    }

    /// What is wrong with it as the request of a number, if anything.
    fn fault(self, number: u64) -> Option<String> {
        if self.size == 0 || self.size > LARGEST {
            return Some(format!("size {}: expected 1 to {LARGEST} bytes", self.size));
        }
        let is_later = u64::try_from(self.next).is_ok_and(|next| next > number);
        // Some writers say "never" by the largest number.
        let is_near = self.next < MOST || self.next == i64::MAX;
        (self.next != -1 && !(is_later && is_near))
            .then(|| format!("next request {}: expected -1 or more than {number}", self.next))
    }
}

/// Whether the first bytes can be requests: sizes above zero, times that grow, next requests that
/// are later. Text can't.
pub fn looks_like(first: &[u8]) -> bool {
    let requests: Vec<Request> =
        first.chunks_exact(RECORD).filter_map(Request::decode).take(100).collect();
    let is_right = |(number, request): (u64, &Request)| request.fault(number).is_none();
    !requests.is_empty()
        && (0..).zip(&requests).all(is_right)
        && requests.is_sorted_by_key(|request| request.time_s)
}

/// An importer of requests.
pub struct OracleImport<R> {
    input: R,
    out: BatchBuilder,
    files: HashMap<u32, FileIndex>,
    summary: ImportSummary,
    is_done: bool,
}

const EXPECTED: &str =
    "records of 24 bytes: u32 seconds, u64 object, u32 size, i64 next request or -1";

impl<R: BufRead> OracleImport<R> {
    /// Reads from the first byte on.
    pub fn new(input: R) -> Self {
        Self {
            input,
            out: BatchBuilder::default(),
            files: HashMap::new(),
            summary: ImportSummary::default(),
            is_done: false,
        }
    }

    /// The bytes of the next record: fewer at the end.
    fn bytes(&mut self) -> Result<Vec<u8>, ImportError> {
        let mut bytes = Vec::with_capacity(RECORD);
        let limit = RECORD as u64;
        let read = io::Read::read_to_end(&mut io::Read::take(&mut self.input, limit), &mut bytes);
        read.map_err(|source| ImportError::Read { line: self.summary.lines, source })?;
        Ok(bytes)
    }

    fn add(&mut self, request: Request) {
        let number = u32::try_from(request.object >> PAGE_BITS).unwrap_or(u32::MAX);
        let out = &mut self.out;
        let file = *self.files.entry(number).or_insert_with(|| {
            let kind = FileKind::Regular;
            out.add_file(TraceFile {
                path: None,
                kind,
                id: None,
                size_bytes: None,
                cached_pages: None,
            })
        });
        let page = request.object & ((1 << PAGE_BITS) - 1);
        out.push(TraceRecord {
            file: Some(file),
            offset: Some(page * PAGE),
            asked_bytes: Some(u64::from(request.size)),
            ..TraceRecord::new(u64::from(request.time_s) * 1_000_000_000, Operation::Read)
        });
    }

    fn advance(&mut self) -> Result<bool, ImportError> {
        let bytes = self.bytes()?;
        let number = self.summary.lines + 1;
        let Some(request) = Request::decode(&bytes) else {
            if !bytes.is_empty() {
                let (at, found) = (self.summary.lines * RECORD as u64, bytes.len());
                let reason = format!("byte {at}: {found} bytes; expected {RECORD}");
                self.summary.cut_at_end = Some(RefusedLine { line: number, reason });
            }
            return Ok(false);
        };
        self.summary.lines = number;
        match request.fault(number - 1) {
            None => {
                self.summary.readable += 1;
                self.add(request);
            }
            Some(fault) => {
                let fault = format!("byte {}: {fault}", (number - 1) * RECORD as u64);
                if self.summary.refuse(number, fault) {
                    self.check_format()?;
                }
            }
        }
        Ok(true)
    }

    fn check_format(&self) -> Result<(), ImportError> {
        let first = self.summary.first_refused.first().or(self.summary.cut_at_end.as_ref());
        match first {
            _ if self.summary.readable > 0 => Ok(()),
            Some(first) => Err(ImportError::WrongFormat {
                unit: "record",
                line: first.line,
                reason: first.reason.clone(),
                expected: EXPECTED,
            }),
            None => Err(ImportError::Empty { expected: EXPECTED }),
        }
    }
}

impl<R: BufRead> Importer for OracleImport<R> {
    fn next_batch(&mut self) -> Result<Option<TraceBatch>, ImportError> {
        while !self.is_done && !self.out.is_full() {
            if !self.advance()? {
                self.is_done = true;
                self.check_format()?;
            }
        }
        Ok(self.out.take())
    }

    fn head(&self) -> TraceHead {
        let lacks = [
            "paths, processes, operations and results: each request is taken for a read",
            "times are whole seconds",
            "objects are taken for pages, whose file is the upper 24 bits; sizes are kept",
        ];
        head_of(TraceSource::Oracle, lacks.map(str::to_owned).to_vec())
    }

    fn summary(&self) -> ImportSummary {
        ImportSummary { records: self.out.records(), ..self.summary.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_24_bytes_in_a_given_order() {
        let request = Request { time_s: 1, object: 0x0203, size: 4, next: -1 };
        let bytes = request.encode();
        let expected = [1, 0, 0, 0, 3, 2, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0];
        assert_eq!(bytes.get(..16), Some(expected.as_slice()));
        assert_eq!(bytes.get(16..), Some([255; 8].as_slice()));
        assert_eq!(Request::decode(&bytes), Some(request));
        assert!(looks_like(&bytes) && !looks_like(b"1700000000.1 read(3, 4, 5) = 6\n"));
        assert!(!looks_like(&[0; 48]) && !looks_like(b""));
    }
}
