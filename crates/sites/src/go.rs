//! The names that Go programs keep when they are stripped: the runtime's own table of functions, `.gopclntab`
//! (Go's debug/gosym/pclntab.go and internal/abi/symtab.go; of Go 1.18 and later).

use std::io::{Read, Seek};
use std::sync::Arc;

use crate::elf::Elf;
use crate::symbols::Symbols;

/// The first bytes of the table: Go 1.18 and 1.19, Go 1.20 and later.
const MAGICS: [u32; 2] = [0xffff_fff0, 0xffff_fff1];

/// Numbers of the header, in words behind its first 8 bytes.
const FUNCTIONS: usize = 0;
const TEXT_START: usize = 2;
const NAMES: usize = 3;
const TABLE: usize = 7;

/// The functions of a Go program of 64 bits; nothing where the table is another's, or what its addresses count from is unknown.
pub(crate) fn functions<F: Read + Seek>(elf: &Elf<'_, F>) -> Option<Symbols> {
    let table = elf.section(".gopclntab")?;
    let text = elf.range(".text")?;
    // Linked by Go alone, its code begins where .text does; else the C library's start comes first, and only programs of Go 1.25 and
    // earlier say where theirs begins.
    let start = match word(&table, TEXT_START)? {
        stated if text.contains(&stated) => stated,
        _ if elf.range(".init").is_none() => text.start,
        _ => return None,
    };
    let found = parse(&table, start)?;
    Some(Symbols::of_functions(found, table))
}

/// Address and place of the name in the table, by function.
fn parse(table: &Arc<[u8]>, start: u64) -> Option<Vec<(u64, u32)>> {
    if !MAGICS.contains(&half(table, 0)?) || table.get(7) != Some(&8) {
        return None;
    }
    let (names, functions) = (word(table, NAMES)?, usize::try_from(word(table, TABLE)?).ok()?);
    let count = usize::try_from(word(table, FUNCTIONS)?).ok()?;
    // Each takes eight bytes of the table at least: what a count says beyond that is not believed.
    let count = count.min(table.len() / 8);
    let function = |at: usize| {
        let entry = functions.checked_add(at * 8)?;
        let about = functions.checked_add(half(table, entry.checked_add(4)?)? as usize)?;
        let name = names.checked_add(u64::from(half(table, about.checked_add(4)?)?))?;
        Some((start.checked_add(u64::from(half(table, entry)?))?, u32::try_from(name).ok()?))
    };
    (0..count).map(function).collect()
}

fn word(table: &[u8], number: usize) -> Option<u64> {
    let at = 8 + number * 8;
    Some(u64::from_le_bytes(table.get(at..at + 8)?.try_into().ok()?))
}

fn half(table: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(table.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A table of two functions, `a.b` and `main.main`, at 0x10 and 0x40.
    fn table() -> Vec<u8> {
        let mut bytes = vec![0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8];
        for word in [2u64, 0, 0, 72, 0, 0, 0, 96] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(b"a.b\0main.main\0\0\0\0\0\0\0\0\0\0\0");
        for half in [0x10u32, 20, 0x40, 28, 0x80, 0x10, 0, 0x40, 4] {
            bytes.extend(half.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn functions_have_their_names() {
        let table: Arc<[u8]> = table().into();
        let symbols = Symbols::of_functions(parse(&table, 0x1000).expect("functions"), table);
        assert_eq!(symbols.find(0x1011), Some((b"a.b".as_slice(), 1)));
        assert_eq!(symbols.find(0x1048), Some((b"main.main".as_slice(), 8)));
        assert_eq!(symbols.find(0x100f), None);
    }

    #[test]
    fn tables_of_other_versions_are_left_alone() {
        for (at, value) in [(0, 0xfb), (7, 4)] {
            let mut bytes = table();
            bytes[at] = value;
            assert_eq!(parse(&bytes.into(), 0x1000), None);
        }
    }

    proptest! {
        #[test]
        fn damage_is_no_harm(at in 0usize..128, value in any::<u8>(), length in 0usize..=132, address in 0u64..0x2000) {
            let mut bytes = table();
            bytes[at] = value;
            bytes.truncate(length);
            let table: Arc<[u8]> = bytes.into();
            if let Some(found) = parse(&table, 0x1000) {
                Symbols::of_functions(found, table).find(address);
            }
        }
    }
}
