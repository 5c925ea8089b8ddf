//! The few types of the kernel that an object's relocations name.
//!
//! For each of some 30 types libbpf looks at all 160,000 of a kernel, a millisecond a time. So it is given these, and what is in
//! them, as BTF of their own. Their numbers there are not the kernel's: what a program says by the number of a type, as to
//! `bpf_rdonly_cast`, is filled in here.

use std::collections::HashMap;

use crate::btf::{
    ARRAY, Btf, ENUM, ENUM64, MAX_DEPTH, Names, PTR, Raw, STRUCT, TRANSPARENT, UNION, plain_name,
};
use crate::elf;

#[cfg(test)]
mod tests;

/// `BPF_CORE_TYPE_ID_TARGET` of `enum bpf_core_relo_kind`.
const TYPE_NUMBER: u32 = 7;

/// An object that is ready to be opened, and the types to relocate it by.
pub(crate) struct Relevant {
    /// The object, with the numbers of types filled in.
    pub(crate) object: Vec<u64>,
    /// The types as BTF.
    pub(crate) types: Vec<u8>,
}

/// What of a kernel's types an object needs; `None` where it is not an object as clang makes it.
pub(crate) fn relevant(object: &[u8], kernel: &Btf<'_>) -> Option<Relevant> {
    let own_types = Btf::parse(elf::section(object, ".BTF").and_then(|range| object.get(range))?)?;
    let relocations = Relocations::parse(object, &own_types)?;
    let names = Names::new(relocations.type_names());
    let mut excerpt = Excerpt::new(kernel);
    let mut numbers: HashMap<(u32, &[u8]), u32> = HashMap::new();
    for ty in kernel.named(&names) {
        let raw = kernel.raw(ty.id)?;
        if matches!(raw.kind, STRUCT | UNION | ENUM | ENUM64) {
            numbers.entry((raw.kind, raw.name)).or_insert(ty.id);
            excerpt.copy(ty.id)?;
        }
    }
    let number = |one: &Relocation| {
        let own = own_types.raw(one.ty).filter(|_| one.kind == TYPE_NUMBER)?;
        numbers.get(&(own.kind, plain_name(own.name))).copied()
    };
    Some(Relevant { object: relocations.fill_in(object, number)?, types: excerpt.finish() })
}

/// The types that an object's relocations name; none where it is not an object as clang makes it.
pub(crate) fn names(object: &[u8]) -> Vec<&[u8]> {
    let own = || {
        let types = Btf::parse(elf::section(object, ".BTF").and_then(|range| object.get(range))?)?;
        let relocations = Relocations::parse(object, &types)?;
        Some(relocations.type_names().collect())
    };
    own().unwrap_or_default()
}

/// One place in a program that depends on a type of the kernel: `struct bpf_core_relo`.
struct Relocation {
    section: u32,
    /// Where the instruction begins in its section, in bytes.
    at: u32,
    /// By its number in the object's own types.
    ty: u32,
    access: u32,
    kind: u32,
}

/// All of an object, and where they stand.
struct Relocations<'t, 'a> {
    all: Vec<Relocation>,
    types: &'t Btf<'a>,
    /// Of the section `.BTF.ext`.
    extension: usize,
    start: usize,
}

/// In the header of `.BTF.ext`, the place and the length of the relocations, counted from its end.
const CORE_OFFSET: usize = 24;
const CORE_LENGTH: usize = 28;
const RECORD_BYTES: u32 = 16;

impl<'t, 'a> Relocations<'t, 'a> {
    fn parse(object: &[u8], types: &'t Btf<'a>) -> Option<Self> {
        let extension = elf::section(object, ".BTF.ext")?.start;
        let word = |at: usize| elf::word(object, at);
        let start =
            extension + word(extension + 4)? as usize + word(extension + CORE_OFFSET)? as usize;
        let end = start + word(extension + CORE_LENGTH)? as usize;
        if word(start)? != RECORD_BYTES {
            return None;
        }
        let (mut all, mut at) = (Vec::new(), start + 4);
        while at < end {
            let (section, count) = (word(at)?, word(at + 4)?);
            at += 8;
            for _ in 0..count {
                let [place, ty, access, kind] =
                    [word(at)?, word(at + 4)?, word(at + 8)?, word(at + 12)?];
                all.push(Relocation { section, at: place, ty, access, kind });
                at += RECORD_BYTES as usize;
            }
        }
        Some(Self { all, types, extension, start })
    }

    fn type_names(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.all.iter().filter_map(|one| Some(self.types.raw(one.ty)?.name))
    }

    /// The object in which the numbers that are known stand, and are no relocations any more.
    fn fill_in(
        &self,
        object: &[u8],
        number: impl Fn(&Relocation) -> Option<u32>,
    ) -> Option<Vec<u64>> {
        let mut filled = object.to_vec();
        let mut sections: HashMap<u32, usize> = HashMap::new();
        let mut left: Vec<&Relocation> = Vec::new();
        for one in &self.all {
            let Some(number) = number(one) else {
                left.push(one);
                continue;
            };
            let section = match sections.get(&one.section) {
                Some(section) => *section,
                None => {
                    let name = std::str::from_utf8(self.types.name(one.section)).ok()?;
                    let section = elf::section(object, name)?.start;
                    sections.insert(one.section, section);
                    section
                }
            };
            // The immediate operand is the second half of an instruction.
            let operand = section + one.at as usize + 4;
            filled.get_mut(operand..operand + 4)?.copy_from_slice(&number.to_le_bytes());
        }
        let mut records = Vec::from(RECORD_BYTES.to_le_bytes());
        for of_section in left.chunk_by(|a, b| a.section == b.section) {
            push(&mut records, &[of_section[0].section, of_section.len() as u32]);
            for one in of_section {
                push(&mut records, &[one.at, one.ty, one.access, one.kind]);
            }
        }
        let length = if left.is_empty() { 0 } else { records.len() as u32 };
        filled.get_mut(self.start..self.start + records.len())?.copy_from_slice(&records);
        let place = self.extension + CORE_LENGTH;
        filled.get_mut(place..place + 4)?.copy_from_slice(&length.to_le_bytes());
        Some(words_of(&filled))
    }
}

/// The same bytes, aligned as libbpf needs them, which reads the structures of an object in place.
fn words_of(bytes: &[u8]) -> Vec<u64> {
    let chunks = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    });
    chunks.collect()
}

fn push(bytes: &mut Vec<u8>, words: &[u32]) {
    words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
}

/// BTF in the making.
struct Excerpt<'a> {
    kernel: &'a Btf<'a>,
    /// By the kernel's number of a type, the one here.
    copied: HashMap<u32, u32>,
    types: Vec<u8>,
    strings: Vec<u8>,
    count: u32,
    /// A pointer to anything: what is behind one is a type of its own for a relocation.
    pointer: u32,
    /// In so many types stands the one that is copied now.
    depth: u32,
}

impl<'a> Excerpt<'a> {
    fn new(kernel: &'a Btf<'a>) -> Self {
        let mut new = Self {
            kernel,
            copied: HashMap::new(),
            types: Vec::new(),
            strings: vec![0],
            count: 0,
            pointer: 0,
            depth: 0,
        };
        new.pointer = new.add(&[0, PTR << 24, 0]);
        new
    }

    /// Adds a type of the kernel with all that is in it, unless it is there; its number here. After a `None` nothing is added.
    fn copy(&mut self, id: u32) -> Option<u32> {
        if id == 0 {
            return Some(0);
        }
        if let Some(&known) = self.copied.get(&id) {
            return Some(known);
        }
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let new = self.copy_anew(id)?;
        self.depth -= 1;
        self.copied.insert(id, new);
        Some(new)
    }

    fn copy_anew(&mut self, id: u32) -> Option<u32> {
        let raw = self.kernel.raw(id)?;
        Some(match raw.kind {
            PTR => self.pointer,
            kind if TRANSPARENT.contains(&kind) => self.copy(raw.value)?,
            ARRAY => {
                let [element, index, length] = [raw.word(0)?, raw.word(1)?, raw.word(2)?];
                let (element, index) = (self.copy(element)?, self.copy(index)?);
                self.add(&[0, raw.info, 0, element, index, length])
            }
            STRUCT | UNION => self.members(&raw)?,
            ENUM | ENUM64 => self.enumerators(&raw)?,
            _ => {
                let mut words = vec![self.string(raw.name), raw.info, raw.value];
                words.extend(raw.words());
                self.add(&words)
            }
        })
    }

    fn members(&mut self, raw: &Raw<'a>) -> Option<u32> {
        let mut words = vec![self.string(raw.name), raw.info, raw.value];
        for i in 0..raw.members {
            let [name, ty, place] = [raw.word(3 * i)?, raw.word(3 * i + 1)?, raw.word(3 * i + 2)?];
            let name = self.string(self.kernel.name(name));
            words.extend([name, self.copy(ty)?, place]);
        }
        Some(self.add(&words))
    }

    fn enumerators(&mut self, raw: &Raw<'a>) -> Option<u32> {
        let each = if raw.kind == ENUM { 2 } else { 3 };
        let mut words = vec![self.string(raw.name), raw.info, raw.value];
        for i in 0..raw.members {
            words.push(self.string(self.kernel.name(raw.word(each * i)?)));
            words.extend((1..each).filter_map(|part| raw.word(each * i + part)));
        }
        Some(self.add(&words))
    }

    fn string(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(name);
        self.strings.push(0);
        at
    }

    fn add(&mut self, words: &[u32]) -> u32 {
        push(&mut self.types, words);
        self.count += 1;
        self.count
    }

    fn finish(self) -> Vec<u8> {
        let (types, strings) = (self.types.len() as u32, self.strings.len() as u32);
        let mut bytes = Vec::from([0x9f, 0xeb, 1, 0]);
        push(&mut bytes, &[24, 0, types, types, strings]);
        bytes.extend(self.types);
        bytes.extend(self.strings);
        bytes
    }
}
