//! What a file tells of its functions: how to unwind them, their names, their lines. The same for all processes that run it.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use hotset_facts::trace::Frame;
use object::read::ReadCache;

use crate::debug;
use crate::elf::{Elf, Segment};
use crate::go;
use crate::lines::{Lines, Place};
use crate::names::readable;
use crate::open::Roots;
use crate::symbols::Symbols;
use crate::unwind::Steps;

/// Bytes behind a file's entry in which a chain ends even if no table says so. The dynamic linker's first instructions, 60 bytes
/// of them in glibc 2.36, have none.
const ENTRY_BYTES: u64 = 128;

/// A program or a library.
pub(crate) struct Binary {
    code: Vec<Segment>,
    entry: Option<u64>,
    names: Names,
    /// What names are read from when the first is asked for: unwinding has no time for that.
    unread: Option<Unread>,
    /// How its functions are left.
    pub(crate) steps: Steps,
    /// A program by Go's own linker: its functions have frame pointers but for those that make system calls.
    pub(crate) is_go: bool,
}

/// What its functions are called, and where they stand in the source.
#[derive(Default)]
pub(crate) struct Names {
    symbols: Symbols,
    lines: Option<Lines>,
}

/// A file whose names were not read yet.
pub(crate) struct Unread {
    file: File,
    path: PathBuf,
    roots: Roots,
    code: Vec<Segment>,
}

impl Unread {
    pub(crate) fn read(self) -> Names {
        let Self { file, path, roots, code } = self;
        let cache = ReadCache::new(file);
        let elf = Elf::parse(&cache);
        elf.map_or_else(Names::default, |elf| Names::read(&elf, &path, &roots, &code))
    }
}

impl Binary {
    /// Reads what unwinds a file that a process has mapped from `path`; nothing where that is no ELF file of 64 bits.
    pub(crate) fn of_file(file: File, path: &Path, roots: Roots) -> Option<Self> {
        let again = file.try_clone().ok()?;
        let cache = ReadCache::new(file);
        let elf = Elf::parse(&cache)?;
        let binary = Self::of(&elf);
        let (path, code) = (path.to_owned(), binary.code.clone());
        Some(Self { unread: Some(Unread { file: again, path, roots, code }), ..binary })
    }

    /// Reads the image of an ELF file.
    pub(crate) fn of_image(bytes: Vec<u8>) -> Option<Self> {
        let cache = ReadCache::new(Cursor::new(bytes));
        let elf = Elf::parse(&cache)?;
        let mut binary = Self::of(&elf);
        binary.names.symbols = symbols(&elf, &binary.code);
        Some(binary)
    }

    fn of<F: Read + Seek>(elf: &Elf<'_, F>) -> Self {
        let code = elf.code();
        Self {
            names: Names::default(),
            unread: None,
            steps: Steps::of(elf, &code),
            is_go: elf.range(".gopclntab").is_some(),
            entry: elf.entry(),
            code,
        }
    }

    /// What its names are to be read from, where nobody has done or taken that yet.
    pub(crate) fn take_unread(&mut self) -> Option<Unread> {
        self.unread.take()
    }

    /// Takes names that were read of it.
    pub(crate) fn put_names(&mut self, names: Names) {
        self.names = names;
    }

    /// The address that the file states for a byte of it, where that is code.
    pub(crate) fn address_of(&self, offset: u64) -> Option<u64> {
        self.code.iter().find_map(|segment| {
            let at = offset.checked_sub(segment.offset).filter(|at| *at < segment.length)?;
            segment.address.checked_add(at)
        })
    }

    /// Whether nothing can have called the code at `address`: a process begins there.
    pub(crate) fn begins_at(&self, address: u64) -> bool {
        let behind = self.entry.and_then(|entry| address.checked_sub(entry));
        behind.is_some_and(|bytes| bytes < ENTRY_BYTES)
    }

    /// The calls that one address stands for, innermost first: several where functions were inlined. Of a return address
    /// (`returns`), the call before it is meant.
    pub(crate) fn frames(&mut self, address: u64, returns: bool, module: &str) -> Vec<Frame> {
        if let Some(unread) = self.unread.take() {
            self.names = unread.read();
        }
        let Names { symbols, lines } = &self.names;
        let call = address.saturating_sub(u64::from(returns));
        // A signal handler returns to the first instruction of a trampoline, which no call stands before.
        let (symbol, call) = match symbols.find(call) {
            None if returns => match symbols.find(address) {
                Some((name, 0)) => (Some((name, 0)), address),
                _ => (None, call),
            },
            found => (found.map(|(name, at)| (name, at + (address - call))), call),
        };
        let mut places = lines.as_ref().map_or_else(Vec::new, |lines| lines.find(call));
        if places.is_empty() {
            places.push(Place { function: None, source: None, line: None });
        }
        let name = symbol.map(|(name, _)| readable(name));
        let offset = symbol.map_or(address, |(_, offset)| offset);
        let last = places.len() - 1;
        let frame = |(at, place): (usize, Place)| Frame {
            // The symbol of the function itself is whole, where debug information may tell its name without its class.
            function: (at == last)
                .then(|| name.clone())
                .flatten()
                .or_else(|| place.function.as_deref().map(readable)),
            module: Some(module.to_owned()),
            offset,
            source: place.source,
            line: place.line.filter(|&line| line > 0),
        };
        places.into_iter().enumerate().map(frame).collect()
    }

    /// Bytes of memory that it takes, at least.
    pub(crate) fn bytes(&self) -> usize {
        let Names { symbols, lines } = &self.names;
        symbols.bytes() + lines.as_ref().map_or(0, Lines::bytes) + self.steps.bytes()
    }
}

impl Names {
    fn read(elf: &Elf<'_, File>, path: &Path, roots: &Roots, code: &[Segment]) -> Self {
        let mut names = Self { symbols: symbols(elf, code), lines: None };
        match debug::find(elf, path, roots).map(ReadCache::new) {
            Some(cache) => {
                if let Some(debug) = Elf::parse(&cache) {
                    if let Some(sections) = debug.symbols() {
                        names.symbols = Symbols::new(sections, code);
                    }
                    names.add_lines(&debug, roots);
                }
            }
            None => names.add_lines(elf, roots),
        }
        names
    }

    fn add_lines(&mut self, elf: &Elf<'_, File>, roots: &Roots) {
        let shared = debug::find_shared(elf, roots).map(ReadCache::new);
        let shared = shared.as_ref().and_then(Elf::parse);
        self.lines = Lines::read(elf, shared.as_ref());
    }
}

fn symbols<F: Read + Seek>(elf: &Elf<'_, F>, code: &[Segment]) -> Symbols {
    let of_go = if elf.has_all_symbols() { None } else { go::functions(elf) };
    of_go.or_else(|| elf.symbols().map(|sections| Symbols::new(sections, code))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use framehop::FrameAddress;
    use proptest::prelude::*;

    use super::*;
    use crate::unwind::{Registers, Stack};

    /// The kernel's own small library, as this process has it.
    fn vdso() -> Vec<u8> {
        let pid = std::process::id();
        let regions = hotset_sys::proc::maps::code_of(pid).expect("maps").expect("this process");
        let of_kernel = regions.iter().find(|region| region.file.path == Path::new("[vdso]"));
        crate::open::memory_of(pid, of_kernel.expect("a vdso")).expect("its bytes")
    }

    /// Asks for everything at an address.
    fn ask(binary: &mut Binary, address: u64) -> Option<String> {
        let stack = Stack { begin: 0x7000, bytes: &[0x70; 256] };
        let mut registers = Registers::new(address, 0x7000, 0x7010);
        binary.steps.step(FrameAddress::from_instruction_pointer(address), &mut registers, &stack);
        binary.frames(address, false, "m").pop()?.function
    }

    #[test]
    fn the_kernels_library_names_its_functions() {
        let mut binary = Binary::of_image(vdso()).expect("an ELF file");
        let segment = binary.code[0];
        let mut names: Vec<String> =
            (0..segment.length).filter_map(|at| ask(&mut binary, segment.address + at)).collect();
        names.dedup();
        assert!(names.iter().any(|name| name.contains("clock_gettime")), "{names:?}");
        assert!(binary.steps.has_tables());
    }

    proptest! {
        #[test]
        fn damaged_files_are_no_harm(
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
            cut in any::<prop::sample::Index>(),
            cuts in any::<bool>(),
            addresses in prop::collection::vec(0u64..0x3000, 1..8),
        ) {
            let mut bytes = vdso();
            for (at, value) in damage {
                // Half of it in the headers, which lead to all else.
                let at = at.index(if value % 2 == 0 { 0x400 } else { bytes.len() });
                bytes[at] = value;
            }
            if cuts {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(mut binary) = Binary::of_image(bytes) {
                for address in addresses {
                    ask(&mut binary, address);
                }
            }
        }
    }
}
