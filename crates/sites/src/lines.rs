//! Functions, inlined ones among them, and source lines by address, as debug information (DWARF) tells them.

use std::io::{Read, Seek};
use std::sync::Arc;

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian, Reader};

use crate::elf::Elf;

/// Bytes of one file's debug information at most: that of a browser is not read.
const MAX_BYTES: usize = 512 << 20;

type Slice = EndianArcSlice<LittleEndian>;

/// A function that holds an address, inlined or not, and the place in its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its name as it was compiled; nothing where debug information tells the line only.
    pub(crate) function: Option<Vec<u8>>,
    /// The source file.
    pub(crate) source: Option<String>,
    /// The line in it.
    pub(crate) line: Option<u32>,
}

/// The debug information of a file.
pub(crate) struct Lines {
    context: Context<Slice>,
    bytes: usize,
}

impl Lines {
    /// Reads all of it; nothing where a file has none. `shared` has what dwz moved out of it.
    pub(crate) fn read<F: Read + Seek>(
        elf: &Elf<'_, F>,
        shared: Option<&Elf<'_, F>>,
    ) -> Option<Self> {
        elf.range(".debug_info")?;
        let mut bytes = 0;
        let mut dwarf = load(elf, &mut bytes)?;
        if let Some(shared) = shared {
            dwarf.set_sup(load(shared, &mut bytes)?);
        }
        Some(Self { context: Context::from_dwarf(dwarf).ok()?, bytes })
    }

    /// The functions that hold `address`, innermost first.
    pub(crate) fn find(&self, address: u64) -> Vec<Place> {
        let mut places = Vec::new();
        let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() else {
            return places;
        };
        while let Ok(Some(frame)) = frames.next() {
            let location = frame.location.as_ref();
            places.push(Place {
                function: frame
                    .function
                    .and_then(|function| Some(function.name.to_slice().ok()?.into_owned())),
                source: location.and_then(|location| location.file).map(str::to_owned),
                line: location.and_then(|location| location.line),
            });
        }
        places
    }

    /// Bytes of memory that it takes, but for what is parsed of it.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

fn load<F: Read + Seek>(elf: &Elf<'_, F>, bytes: &mut usize) -> Option<Dwarf<Slice>> {
    Dwarf::load(|section| {
        let data = elf.section(section.name()).unwrap_or_else(|| Arc::from([]));
        *bytes += data.len();
        if *bytes > MAX_BYTES { Err(()) } else { Ok(EndianArcSlice::new(data, LittleEndian)) }
    })
    .ok()
}
