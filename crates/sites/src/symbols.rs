//! Functions by address, as the symbols of a file tell them.

use std::cmp::Reverse;
use std::sync::Arc;

use object::LittleEndian;
use object::elf::{SHN_UNDEF, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, Sym64};

use crate::elf::{Segment, SymbolSections};

/// A function: its first address, its length (0 if not known), and where its name begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Symbol {
    address: u64,
    size: u64,
    name: u32,
}

/// The functions of a file in order of address.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    functions: Vec<Symbol>,
    names: Arc<[u8]>,
}

impl Symbols {
    /// Those of the symbols that stand in code.
    pub(crate) fn new(sections: SymbolSections, code: &[Segment]) -> Self {
        let SymbolSections { symbols, names } = sections;
        let mut functions: Vec<Symbol> =
            symbols.iter().filter_map(|symbol| function(symbol, code)).collect();
        drop(symbols);
        // Of several names of one function, one that a programmer would write: pread, not __libc_pread.
        functions.sort_by_cached_key(|symbol| {
            let name = text(&names, symbol.name).unwrap_or_default();
            let underscores = name.iter().take_while(|&&byte| byte == b'_').count();
            let mangled = name.starts_with(b"_Z") || name.starts_with(b"_R");
            let rank = if mangled { 0 } else { underscores };
            (symbol.address, Reverse(symbol.size > 0), rank, name.len(), symbol.name)
        });
        functions.dedup_by_key(|symbol| symbol.address);
        functions.shrink_to_fit();
        Self { functions, names }
    }

    /// Functions that follow each other without a gap: their addresses, and where in `names` their names begin.
    pub(crate) fn of_functions(mut functions: Vec<(u64, u32)>, names: Arc<[u8]>) -> Self {
        functions.sort_unstable();
        let symbol = |(address, name)| Symbol { address, size: 0, name };
        Self { functions: functions.into_iter().map(symbol).collect(), names }
    }

    /// The name of the function that holds `address`, and how many bytes behind its beginning that is.
    pub(crate) fn find(&self, address: u64) -> Option<(&[u8], u64)> {
        let behind = self.functions.partition_point(|symbol| symbol.address <= address);
        let symbol = self.functions.get(behind.checked_sub(1)?)?;
        let offset = address - symbol.address;
        if symbol.size > 0 && offset >= symbol.size {
            return None;
        }
        Some((text(&self.names, symbol.name)?, offset))
    }

    /// Bytes of memory that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.functions.len() * size_of::<Symbol>() + self.names.len()
    }
}

fn function(symbol: &Sym64<LittleEndian>, code: &[Segment]) -> Option<Symbol> {
    let address = symbol.st_value.get(LittleEndian);
    let kind = symbol.st_info.st_type();
    let defined = symbol.st_shndx.get(LittleEndian) != SHN_UNDEF;
    let in_code = code
        .iter()
        .any(|segment| address.checked_sub(segment.address).is_some_and(|at| at < segment.length));
    let name = symbol.st_name.get(LittleEndian);
    (matches!(kind, STT_FUNC | STT_GNU_IFUNC | STT_NOTYPE) && defined && in_code && name != 0)
        .then_some(Symbol { address, size: symbol.st_size.get(LittleEndian), name })
}

fn text(names: &[u8], at: u32) -> Option<&[u8]> {
    let rest = names.get(at as usize..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    rest.get(..end).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use object::elf::{STB_GLOBAL, SymbolInfo, SymbolOther, SymbolSection};
    use object::{U16, U32, U64};

    use super::*;

    const CODE: [Segment; 1] = [Segment { offset: 0, length: 0x1000, address: 0x1000 }];

    fn symbol(name: u32, address: u64, size: u64) -> Sym64<LittleEndian> {
        Sym64 {
            st_name: U32::new(LittleEndian, name),
            st_info: SymbolInfo::new(STB_GLOBAL, STT_FUNC),
            st_other: SymbolOther(0),
            st_shndx: U16::new(LittleEndian, SymbolSection(1)),
            st_value: U64::new(LittleEndian, address),
            st_size: U64::new(LittleEndian, size),
        }
    }

    fn symbols(all: &[Sym64<LittleEndian>]) -> Symbols {
        let names = b"\0__libc_pread\0pread\0start\0".as_slice();
        Symbols::new(SymbolSections { symbols: all.to_vec(), names: names.into() }, &CODE)
    }

    #[test]
    fn the_name_that_a_programmer_writes() {
        let found = symbols(&[symbol(1, 0x1100, 16), symbol(14, 0x1100, 16)]);
        assert_eq!(found.find(0x110f), Some((b"pread".as_slice(), 15)));
    }

    #[test]
    fn nothing_behind_the_end_of_a_function_or_before_the_first() {
        let found = symbols(&[symbol(1, 0x1100, 16), symbol(20, 0x1200, 0), symbol(14, 0x9000, 8)]);
        assert_eq!(found.find(0x1110), None);
        assert_eq!(found.find(0x10ff), None);
        assert_eq!(found.find(0x1234), Some((b"start".as_slice(), 0x34)));
        assert_eq!(found.find(0x9000), Some((b"start".as_slice(), 0x7e00)));
    }

    #[test]
    fn a_name_that_does_not_end_is_none() {
        assert_eq!(symbols(&[symbol(900, 0x1100, 16)]).find(0x1100), None);
    }
}
