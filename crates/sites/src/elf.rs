//! What is read of an ELF file, without mapping it: a file that is cut while it is read is an error and not a SIGBUS.

use std::io::{Read, Seek};
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};
use object::elf::{PF_X, PT_LOAD, Sym64};
use object::read::ReadCache;
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{CompressionFormat, LittleEndian, Object, ObjectSection};

/// A section at most: larger ones (the debug information of a browser) are left out. A length in a file is not believed beyond.
const MAX_SECTION: u64 = 512 << 20;

/// Part of a file that is mapped to be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Its first byte in the file.
    pub(crate) offset: u64,
    /// How many bytes of the file.
    pub(crate) length: u64,
    /// The address of its first byte, as the file states it.
    pub(crate) address: u64,
}

/// A section of symbols, with the names that it points to.
pub(crate) struct SymbolSections {
    pub(crate) symbols: Vec<Sym64<LittleEndian>>,
    pub(crate) names: Arc<[u8]>,
}

/// An ELF file of 64 bits, opened.
pub(crate) struct Elf<'a, F: Read + Seek> {
    file: ElfFile64<'a, LittleEndian, &'a ReadCache<F>>,
}

impl<'a, F: Read + Seek> Elf<'a, F> {
    /// Reads the headers; nothing if it is no ELF file of 64 bits, or a damaged one.
    pub(crate) fn parse(cache: &'a ReadCache<F>) -> Option<Self> {
        Some(Self { file: ElfFile64::parse(cache).ok()? })
    }

    /// The segments that code is run from.
    pub(crate) fn code(&self) -> Vec<Segment> {
        let headers = self.file.elf_program_headers().iter();
        headers
            .filter(|header| header.p_type(LittleEndian) == PT_LOAD)
            .filter(|header| header.p_flags(LittleEndian).0 & PF_X.0 != 0)
            .map(|header| Segment {
                offset: header.p_offset(LittleEndian),
                length: header.p_filesz(LittleEndian),
                address: header.p_vaddr(LittleEndian),
            })
            .collect()
    }

    /// Where a process begins to run it; nothing for a library.
    pub(crate) fn entry(&self) -> Option<u64> {
        Some(self.file.entry()).filter(|&entry| entry != 0)
    }

    /// The number that its linker gave to it.
    pub(crate) fn build_id(&self) -> Option<Vec<u8>> {
        Some(self.file.build_id().ok()??.to_vec())
    }

    /// The name of its debug file, and the CRC-32 that this has.
    pub(crate) fn debug_link(&self) -> Option<(Vec<u8>, u32)> {
        let (name, crc) = self.file.gnu_debuglink().ok()??;
        Some((name.to_vec(), crc))
    }

    /// The path of the file that holds what several debug files have in common (dwz), and its build ID.
    pub(crate) fn shared_debug(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let (path, id) = self.file.gnu_debugaltlink().ok()??;
        Some((path.to_vec(), id.to_vec()))
    }

    /// The address and length that a section has in memory.
    pub(crate) fn range(&self, name: &str) -> Option<std::ops::Range<u64>> {
        let section = self.file.section_by_name(name)?;
        Some(section.address()..section.address().checked_add(section.size())?)
    }

    /// The bytes of a section.
    pub(crate) fn section(&self, name: &str) -> Option<Arc<[u8]>> {
        let section = self.file.section_by_name(name)?;
        let (_, stored) = section.file_range()?;
        if stored > MAX_SECTION {
            return None;
        }
        let data = section.compressed_data().ok()?;
        match data.format {
            CompressionFormat::None => Some(data.data.into()),
            CompressionFormat::Zlib => inflate(data.data, data.uncompressed_size),
            _ => None,
        }
    }

    /// Whether it has all of its symbols.
    pub(crate) fn has_all_symbols(&self) -> bool {
        self.file.section_by_name(".symtab").is_some()
    }

    /// Its symbols: all of them, or those that it shows to others where the rest was stripped.
    pub(crate) fn symbols(&self) -> Option<SymbolSections> {
        self.symbols_of(".symtab", ".strtab").or_else(|| self.symbols_of(".dynsym", ".dynstr"))
    }

    fn symbols_of(&self, symbols: &str, names: &str) -> Option<SymbolSections> {
        let bytes = self.section(symbols)?;
        let whole = bytes.len() - bytes.len() % size_of::<Sym64<LittleEndian>>();
        let symbols = object::pod::slice_from_all_bytes(bytes.get(..whole)?).ok()?;
        if symbols.len() < 2 {
            return None;
        }
        Some(SymbolSections { symbols: symbols.to_vec(), names: self.section(names)? })
    }
}

/// Inflates what must become `size` bytes.
fn inflate(data: &[u8], size: u64) -> Option<Arc<[u8]>> {
    // No stream of deflate becomes more than 1,032 times as long.
    if size > MAX_SECTION || size / 1_032 > data.len() as u64 {
        return None;
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
    let status = Decompress::new(true).decompress_vec(data, &mut bytes, FlushDecompress::Finish);
    (status.ok()? == Status::StreamEnd && bytes.len() as u64 == size).then(|| bytes.into())
}
