//! Just enough of BTF to ask which tracepoints, helpers and kernel functions exist, in one pass over the raw bytes.
//!
//! libbpf's own parser checks and indexes all 180,000 types of a kernel, 10 ms a time; this looks at each header once.
//! The format is Documentation/bpf/btf.rst.

use std::collections::HashSet;

#[cfg(test)]
mod tests;

const MAGIC: u16 = 0xeb9f;
const TYPE_BYTES: usize = 12;

// The kinds of types, `BTF_KIND_...` of include/uapi/linux/btf.h.
pub(crate) const INT: u32 = 1;
pub(crate) const PTR: u32 = 2;
pub(crate) const ARRAY: u32 = 3;
pub(crate) const STRUCT: u32 = 4;
pub(crate) const UNION: u32 = 5;
pub(crate) const ENUM: u32 = 6;
const FWD: u32 = 7;
const TYPEDEF: u32 = 8;
const VOLATILE: u32 = 9;
const CONST: u32 = 10;
const RESTRICT: u32 = 11;
const FUNC: u32 = 12;
const FUNC_PROTO: u32 = 13;
pub(crate) const VAR: u32 = 14;
const DATASEC: u32 = 15;
const FLOAT: u32 = 16;
const DECL_TAG: u32 = 17;
const TYPE_TAG: u32 = 18;
pub(crate) const ENUM64: u32 = 19;

/// Names for another type, and qualifiers of one.
pub(crate) const TRANSPARENT: [u32; 5] = [TYPEDEF, VOLATILE, CONST, RESTRICT, TYPE_TAG];

/// Types within types of real kernels are a tenth of it. What is deeper is damaged, such as a name for itself.
pub(crate) const MAX_DEPTH: u32 = 128;

/// The kinds that are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Ptr,
    Struct,
    Enum,
    Typedef,
    Func,
    FuncProto,
    Other,
}

/// One type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Type<'a> {
    /// Its number; they begin at 1.
    pub(crate) id: u32,
    pub(crate) kind: Kind,
    pub(crate) name: &'a [u8],
    /// The type that this one refers to.
    pub(crate) referenced: u32,
    /// Its members, parameters or enumerators.
    pub(crate) members: usize,
    /// Where what follows the header begins.
    rest: usize,
}

/// One type of any kind, as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a> {
    /// `BTF_KIND_...`.
    pub(crate) kind: u32,
    pub(crate) name: &'a [u8],
    /// The kind, and how many members there are.
    pub(crate) info: u32,
    /// Its size, or the type that it refers to.
    pub(crate) value: u32,
    pub(crate) members: usize,
    rest: &'a [u8],
}

impl Raw<'_> {
    /// One of the words behind the header.
    pub(crate) fn word(&self, index: usize) -> Option<u32> {
        word(self.rest, 4 * index)
    }

    /// The words behind the header.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.rest.len() / 4).filter_map(|index| self.word(index))
    }
}

/// A kernel's types.
#[derive(Debug)]
pub(crate) struct Btf<'a> {
    types: &'a [u8],
    strings: &'a [u8],
    /// The strings of the kernel itself, for a module's types: its own come after these.
    base: &'a [u8],
    /// Where each 16th type begins, to reach one by its number.
    offsets: Vec<usize>,
    /// Types that were looked for while all were passed: where they begin, and their numbers.
    known: Vec<(usize, u32)>,
    known_names: Names,
}

const STRIDE: u32 = 16;

/// The kinds that are looked for by name.
const NAMED: u32 = 1 << STRUCT | 1 << UNION | 1 << ENUM | 1 << TYPEDEF | 1 << FUNC | 1 << ENUM64;

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

fn kind_of(number: u32) -> Kind {
    match number {
        PTR => Kind::Ptr,
        STRUCT => Kind::Struct,
        ENUM => Kind::Enum,
        TYPEDEF => Kind::Typedef,
        FUNC => Kind::Func,
        FUNC_PROTO => Kind::FuncProto,
        _ => Kind::Other,
    }
}

/// Bytes that follow the header of a type; `None` for a kind that is not in the format.
fn rest_bytes(kind: u32, members: usize) -> Option<usize> {
    Some(match kind {
        INT | VAR | DECL_TAG => 4,
        PTR | FWD..=FUNC | FLOAT | TYPE_TAG => 0,
        ARRAY => 12,
        STRUCT | UNION | DATASEC | ENUM64 => 12 * members,
        ENUM | FUNC_PROTO => 8 * members,
        _ => return None,
    })
}

fn until_zero(from: &[u8]) -> &[u8] {
    &from[..from.iter().position(|&byte| byte == 0).unwrap_or(from.len())]
}

/// A type may have another name in an object than in the kernel, with three underscores and anything behind it.
pub(crate) fn plain_name(name: &[u8]) -> &[u8] {
    let end = name.windows(3).position(|three| three == b"___").filter(|&at| at > 0);
    &name[..end.unwrap_or(name.len())]
}

/// Names that are looked for among the 160,000 of a kernel. Most of those are told by how they begin not to be among them,
/// without a look at the rest.
#[derive(Debug)]
pub(crate) struct Names {
    all: HashSet<Box<[u8]>>,
    beginnings: [u64; 64],
}

impl Names {
    pub(crate) fn new<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        let mut all: HashSet<Box<[u8]>> = HashSet::new();
        for name in names.into_iter().map(plain_name) {
            // An object names the same few types again and again.
            if !all.contains(name) {
                all.insert(name.into());
            }
        }
        let mut beginnings = [0; 64];
        for name in &all {
            match beginning(name) {
                Some((word, bit)) => beginnings[word] |= bit,
                None => beginnings = [u64::MAX; 64],
            }
        }
        Self { all, beginnings }
    }

    /// Whether the name that these strings begin with is one of them.
    fn begin(&self, strings: &[u8]) -> bool {
        beginning(strings).is_none_or(|(word, bit)| self.beginnings[word] & bit != 0)
            && self.all.contains(plain_name(until_zero(strings)))
    }
}

/// A hash of the first three bytes, as a place among 4,096 bits.
fn beginning(name: &[u8]) -> Option<(usize, u64)> {
    let [a, b, c] = *name.first_chunk::<3>()?;
    let place = (usize::from(a) << 7) ^ (usize::from(b) << 4) ^ usize::from(c);
    Some((place >> 6 & 63, 1 << (place & 63)))
}

impl<'a> Btf<'a> {
    /// Parses the header and finds the types; `None` where the bytes are not BTF.
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        Self::parse_for(bytes, Names::new([]))
    }

    /// The same, and finds those of these names on the way: there is no better time to ask for a few of 160,000.
    pub(crate) fn parse_for(bytes: &'a [u8], names: Names) -> Option<Self> {
        if bytes.first_chunk::<2>().map(|magic| u16::from_le_bytes(*magic)) != Some(MAGIC) {
            return None;
        }
        let header = word(bytes, 4)? as usize;
        let section = |offset: usize, length: usize| {
            let start = header.checked_add(word(bytes, offset)? as usize)?;
            bytes.get(start..start.checked_add(word(bytes, length)? as usize)?)
        };
        let mut btf = Self {
            types: section(8, 12)?,
            strings: section(16, 20)?,
            base: &[],
            offsets: Vec::new(),
            known: Vec::new(),
            known_names: names,
        };
        let (mut at, mut id) = (0, 1_u32);
        while at < btf.types.len() {
            if id % STRIDE == 1 {
                btf.offsets.push(at);
            }
            if !btf.known_names.all.is_empty() && btf.is_named(at, &btf.known_names)? {
                btf.known.push((at, id));
            }
            at = btf.after(at)?;
            id += 1;
        }
        Some(btf)
    }

    fn after(&self, at: usize) -> Option<usize> {
        let info = word(self.types, at + 4)?;
        let next = at + TYPE_BYTES + rest_bytes((info >> 24) & 0x1f, (info & 0xffff) as usize)?;
        (next <= self.types.len()).then_some(next)
    }

    fn at(&self, at: usize, id: u32) -> Option<Type<'a>> {
        let info = word(self.types, at + 4)?;
        Some(Type {
            id,
            kind: kind_of((info >> 24) & 0x1f),
            name: self.name(word(self.types, at)?),
            referenced: word(self.types, at + 8)?,
            members: (info & 0xffff) as usize,
            rest: at + TYPE_BYTES,
        })
    }

    /// The types of a module beside those of its kernel; types of the kernel can't be reached from here by their number.
    pub(crate) fn parse_module(bytes: &'a [u8], kernel: &Self) -> Option<Self> {
        Some(Self { base: kernel.strings, ..Self::parse(bytes)? })
    }

    /// The string at an offset.
    pub(crate) fn name(&self, offset: u32) -> &'a [u8] {
        until_zero(self.from(offset))
    }

    /// The strings from an offset on.
    fn from(&self, offset: u32) -> &'a [u8] {
        let (offset, base) = (offset as usize, self.base);
        let own = || self.strings.get(offset.checked_sub(base.len())?..);
        base.get(offset..).filter(|from| !from.is_empty()).or_else(own).unwrap_or_default()
    }

    /// The types of these names. A name that goes on with three underscores is the same to a relocation.
    pub(crate) fn named(&self, names: &Names) -> Vec<Type<'a>> {
        if names.all.is_subset(&self.known_names.all) {
            let known = self.known.iter().filter(|(at, _)| self.is_named(*at, names) == Some(true));
            return known.filter_map(|&(at, id)| self.at(at, id)).collect();
        }
        let (mut found, mut at) = (Vec::new(), 0);
        for id in 1.. {
            match self.is_named(at, names) {
                Some(true) => found.extend(self.at(at, id)),
                Some(false) => {}
                None => break,
            }
            let Some(next) = self.after(at) else { break };
            at = next;
        }
        found
    }

    /// Whether the type at a place is one of these names, if there is a type.
    fn is_named(&self, at: usize, names: &Names) -> Option<bool> {
        let kind = (word(self.types, at + 4)? >> 24) & 0x1f;
        Some(NAMED >> kind & 1 != 0 && names.begin(self.from(word(self.types, at)?)))
    }

    /// The sections of an object that its variables stand in.
    pub(crate) fn sections(&self) -> impl Iterator<Item = Raw<'a>> + '_ {
        let mut at = 0;
        let types = std::iter::from_fn(move || {
            let here = self.raw_at(at)?;
            at = self.after(at)?;
            Some(here)
        });
        types.filter(|raw| raw.kind == DATASEC)
    }

    /// A type by its number; numbers begin at 1.
    pub(crate) fn get(&self, id: u32) -> Option<Type<'a>> {
        self.at(self.place_of(id)?, id)
    }

    fn place_of(&self, id: u32) -> Option<usize> {
        let index = id.checked_sub(1)?;
        let mut at = *self.offsets.get((index / STRIDE) as usize)?;
        for _ in 0..index % STRIDE {
            at = self.after(at)?;
        }
        (at < self.types.len()).then_some(at)
    }

    /// A type by its number, of any kind.
    pub(crate) fn raw(&self, id: u32) -> Option<Raw<'a>> {
        self.raw_at(self.place_of(id)?)
    }

    fn raw_at(&self, at: usize) -> Option<Raw<'a>> {
        let info = word(self.types, at + 4)?;
        Some(Raw {
            kind: (info >> 24) & 0x1f,
            name: self.name(word(self.types, at)?),
            info,
            value: word(self.types, at + 8)?,
            members: (info & 0xffff) as usize,
            rest: self.types.get(at + TYPE_BYTES..self.after(at)?)?,
        })
    }

    /// Where a member of a structure begins, in bytes.
    pub(crate) fn offset_of(&self, ty: &Type<'a>, member: &[u8]) -> Option<u32> {
        (0..ty.members).find_map(|i| {
            let at = ty.rest + 12 * i;
            // The upper byte is the width of a bit field, and 0 for all others.
            let bits = word(self.types, at + 8)? & 0xff_ffff;
            (self.name(word(self.types, at)?) == member).then_some(bits / 8)
        })
    }

    /// The names and values of an enumeration.
    pub(crate) fn enumerators(&self, ty: &Type<'a>) -> impl Iterator<Item = (&'a [u8], u32)> + '_ {
        let rest = ty.rest;
        (0..ty.members).filter_map(move |i| {
            let at = rest + 8 * i;
            Some((self.name(word(self.types, at)?), word(self.types, at + 4)?))
        })
    }
}
