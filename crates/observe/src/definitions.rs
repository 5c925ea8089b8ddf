//! The tables that an object declares, as its own types and sections tell: what libbpf says of them once it has opened it.

use libbpf_rs::{MapType, OpenMap, libbpf_sys};

use crate::btf::{
    ARRAY, Btf, ENUM, ENUM64, INT, MAX_DEPTH, PTR, Raw, STRUCT, TRANSPARENT, UNION, VAR,
};
use crate::elf;

/// A table's definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub(crate) name: String,
    pub(crate) kind: MapType,
    pub(crate) key_bytes: u32,
    pub(crate) value_bytes: u32,
    pub(crate) entries: u32,
    pub(crate) flags: u32,
}

impl Definition {
    /// What libbpf says of a table of an open object.
    pub(crate) fn of(map: &OpenMap<'_>) -> Self {
        Self {
            name: map.name().to_string_lossy().into_owned(),
            kind: map.map_type(),
            key_bytes: map.key_size(),
            value_bytes: map.value_size(),
            entries: map.max_entries(),
            flags: map.map_flags(),
        }
    }
}

/// The tables of an object that is not open yet, but for those that it declares by more than a [`Definition`] has; none where it
/// is not an object as clang makes it.
pub(crate) fn definitions(object: &[u8]) -> Vec<Definition> {
    let section = elf::section(object, ".BTF").and_then(|range| object.get(range));
    let Some(types) = section.and_then(Btf::parse) else { return Vec::new() };
    let (mut found, declared) = (Vec::new(), Declared { types: &types });
    for section in types.sections() {
        match section.name {
            b".maps" => {
                found.extend((0..section.members).filter_map(|i| declared.table(&section, i)))
            }
            name if name.starts_with(b".bss.") => found.extend(variables(object, name)),
            _ => {}
        }
    }
    found
}

/// The table of variables that are zero at the beginning, which stand in a section of their own.
fn variables(object: &[u8], section: &[u8]) -> Option<Definition> {
    let name = std::str::from_utf8(section).ok()?;
    Some(Definition {
        name: name.to_owned(),
        kind: MapType::Array,
        key_bytes: 4,
        value_bytes: u32::try_from(elf::length(object, name)?).ok()?,
        entries: 1,
        flags: libbpf_sys::BPF_F_MMAPABLE,
    })
}

/// An object's types.
struct Declared<'t, 'a> {
    types: &'t Btf<'a>,
}

impl<'a> Declared<'_, 'a> {
    /// A table is a variable, of a structure whose members tell by their types what it is like (`__uint`, `__type`).
    fn table(&self, section: &Raw<'a>, index: usize) -> Option<Definition> {
        let variable = self.types.raw(section.word(3 * index)?).filter(|raw| raw.kind == VAR)?;
        let structure = self.types.raw(variable.value).filter(|raw| raw.kind == STRUCT)?;
        let mut table = Definition {
            name: std::str::from_utf8(variable.name).ok()?.to_owned(),
            kind: MapType::Unspec,
            key_bytes: 0,
            value_bytes: 0,
            entries: 0,
            flags: 0,
        };
        for i in 0..structure.members {
            let name = self.types.name(structure.word(3 * i)?);
            let pointed =
                self.types.raw(structure.word(3 * i + 1)?).filter(|raw| raw.kind == PTR)?;
            match name {
                b"type" => table.kind = MapType::from(self.number(pointed.value)?),
                b"max_entries" => table.entries = self.number(pointed.value)?,
                b"map_flags" => table.flags = self.number(pointed.value)?,
                b"key_size" => table.key_bytes = self.number(pointed.value)?,
                b"value_size" => table.value_bytes = self.number(pointed.value)?,
                b"key" => table.key_bytes = self.bytes(pointed.value, 0)?,
                b"value" => table.value_bytes = self.bytes(pointed.value, 0)?,
                _ => return None,
            }
        }
        Some(table)
    }

    /// A number is the length of an array.
    fn number(&self, id: u32) -> Option<u32> {
        self.types.raw(id).filter(|raw| raw.kind == ARRAY)?.word(2)
    }

    /// What a value of a type takes.
    fn bytes(&self, id: u32, depth: u32) -> Option<u32> {
        let raw = self.types.raw(id).filter(|_| depth < MAX_DEPTH)?;
        match raw.kind {
            INT | STRUCT | UNION | ENUM | ENUM64 => Some(raw.value),
            PTR => Some(8),
            ARRAY => self.bytes(raw.word(0)?, depth + 1)?.checked_mul(raw.word(2)?),
            kind if TRANSPARENT.contains(&kind) => self.bytes(raw.value, depth + 1),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::ObjectBuilder;

    use super::*;
    use crate::load::{every_object, object_bytes};
    use crate::select::Build;

    /// libbpf reads the same objects.
    #[test]
    fn definitions_are_those_that_libbpf_reads() {
        for (build, atomics, records) in every_object() {
            let object = object_bytes(build, atomics, records);
            let found = definitions(object);
            let open = ObjectBuilder::default().open_memory(object).expect("opened");
            let known: Vec<Definition> = open.maps().map(|map| Definition::of(&map)).collect();
            // The sections of constants, and of variables that share one, have no name before they are open.
            // A table of rings says of what, and is small.
            let named = |table: &&Definition| {
                !table.name.ends_with(".rodata")
                    && !table.name.ends_with(".bss")
                    && table.name != "op_rings"
            };
            for table in known.iter().filter(named) {
                assert!(found.contains(table), "{build:?}: {table:?} in {found:#?}");
            }
            assert!(found.iter().all(|table| known.contains(table)), "{build:?}");
        }
    }

    #[test]
    fn what_is_no_object_declares_nothing() {
        assert_eq!(definitions(b""), []);
        let object = object_bytes(Build::Full, true, false);
        assert_eq!(definitions(&object[..object.len() / 2]), []);
    }
}
