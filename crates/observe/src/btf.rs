//! Just enough of BTF to ask which tracepoints, helpers and kernel functions exist, in one pass over the raw bytes.
//!
//! libbpf's own parser checks and indexes all 180,000 types of a kernel, 10 ms a time; this looks at each header once.
//! The format is Documentation/bpf/btf.rst.

use std::collections::HashSet;

const MAGIC: u16 = 0xeb9f;
const TYPE_BYTES: usize = 12;

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
    /// Where each 64th type begins, to reach one by its number.
    offsets: Vec<usize>,
}

const STRIDE: u32 = 64;

/// The kinds that are looked for by name: STRUCT, UNION, ENUM, TYPEDEF, FUNC, ENUM64.
const NAMED: u32 = 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8 | 1 << 12 | 1 << 19;

const DATASEC: u32 = 15;

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

fn kind_of(number: u32) -> Kind {
    match number {
        2 => Kind::Ptr,
        4 => Kind::Struct,
        6 => Kind::Enum,
        8 => Kind::Typedef,
        12 => Kind::Func,
        13 => Kind::FuncProto,
        _ => Kind::Other,
    }
}

/// Bytes that follow the header of a type; `None` for a kind that is not in the format.
fn rest_bytes(kind: u32, members: usize) -> Option<usize> {
    Some(match kind {
        1 | 14 | 17 => 4,                // INT, VAR, DECL_TAG
        2 | 7..=12 | 16 | 18 => 0,       // PTR, FWD … FUNC, FLOAT, TYPE_TAG
        3 => 12,                         // ARRAY
        4 | 5 | 15 | 19 => 12 * members, // STRUCT, UNION, DATASEC, ENUM64
        6 | 13 => 8 * members,           // ENUM, FUNC_PROTO
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
pub(crate) struct Names<'n> {
    all: HashSet<&'n [u8]>,
    beginnings: [u64; 64],
}

impl<'n> Names<'n> {
    pub(crate) fn new(names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        let all: HashSet<&[u8]> = names.into_iter().map(plain_name).collect();
        let mut beginnings = [0; 64];
        for name in &all {
            match beginning(name) {
                Some((word, bit)) => beginnings[word] |= bit,
                None => beginnings = [u64::MAX; 64],
            }
        }
        Self { all, beginnings }
    }

    fn may_begin(&self, name: &[u8]) -> bool {
        beginning(name).is_none_or(|(word, bit)| self.beginnings[word] & bit != 0)
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
        };
        let (mut at, mut id) = (0, 1_u32);
        while at < btf.types.len() {
            if id % STRIDE == 1 {
                btf.offsets.push(at);
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
    pub(crate) fn named<'b>(&'b self, names: &'b Names<'_>) -> impl Iterator<Item = Type<'a>> + 'b {
        let (mut at, mut id) = (0, 0);
        std::iter::from_fn(move || {
            while at < self.types.len() {
                let here = at;
                at = self.after(here)?;
                id += 1;
                if NAMED >> ((word(self.types, here + 4)? >> 24) & 0x1f) & 1 == 0 {
                    continue;
                }
                let from = self.from(word(self.types, here)?);
                if names.may_begin(from) && names.all.contains(plain_name(until_zero(from))) {
                    return self.at(here, id);
                }
            }
            None
        })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `enum e { A, B }`, `typedef fn *t`, with `fn` of three parameters.
    fn sample() -> Vec<u8> {
        let strings = b"\0e\0A\0B\0t\0";
        let mut types: Vec<u32> = Vec::new();
        types.extend([1, 6 << 24 | 2, 4, 3, 0, 5, 1]); // 1: enum e
        types.extend([7, 8 << 24, 3]); // 2: typedef t -> 3
        types.extend([0, 2 << 24, 4]); // 3: pointer -> 4
        types.extend([0, 13 << 24 | 3, 0, 0, 1, 0, 1, 0, 1]); // 4: function prototype
        let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, types.len() as u32, types.len() as u32, strings.len() as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(types);
        bytes.extend(strings);
        bytes
    }

    #[test]
    fn types_are_found_by_walking_and_by_number() {
        let bytes = sample();
        let btf = Btf::parse(&bytes).unwrap();
        let names = Names::new([b"e".as_slice(), b"t", b"A", b"none"]);
        let found: Vec<_> = btf.named(&names).collect();
        assert_eq!(found.len(), 2);
        assert_eq!(
            btf.enumerators(&found[0]).collect::<Vec<_>>(),
            [(b"A".as_slice(), 0), (b"B".as_slice(), 1)]
        );
        assert_eq!((found[1].name, found[1].referenced), (b"t".as_slice(), 3));
        assert_eq!(btf.get(4).map(|ty| (ty.kind, ty.members)), Some((Kind::FuncProto, 3)));
        assert_eq!(btf.get(5), None);
        assert_eq!(btf.get(0), None);
    }

    #[test]
    fn names_are_found_whole_and_before_three_underscores() {
        let strings = b"\0page\0page___whole\0pager\0pag\0";
        let types = [1_u32, 6, 19, 25].map(|name| [name, 4 << 24, 8]).concat();
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, 48, 48, strings.len() as u32].into_iter().chain(types) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(strings);
        let btf = Btf::parse(&bytes).expect("BTF");
        let found = |names: &[&'static [u8]]| -> Vec<u32> {
            let names = Names::new(names.iter().copied());
            btf.named(&names).map(|ty| ty.id).collect()
        };
        assert_eq!(found(&[b"page", b"none"]), [1, 2]);
        assert_eq!(found(&[b"page___other"]), [1, 2]);
        assert_eq!(found(&[b"pager", b"pag", b"p"]), [3, 4]);
        assert!(found(&[]).is_empty());
        let names: [&[u8]; 4] = [b"page___whole", b"page", b"___x", b"a__b"];
        assert_eq!(names.map(plain_name), [b"page".as_slice(), b"page", b"___x", b"a__b"]);
    }

    #[test]
    fn a_module_names_its_types_after_those_of_the_kernel() {
        let (kernel, strings) = (sample(), b"s\0own\0");
        let kernel = Btf::parse(&kernel).expect("the kernel");
        let base = kernel.strings.len() as u32;
        // struct s { A at byte 4; own at byte 16 }, of which the kernel has the name A.
        let types = [base, 4 << 24 | 2, 24, 3, 1, 32, base + 2, 1, 128];
        let mut bytes = vec![0x9f, 0xeb, 1, 0];
        for word in [24, 0, 36, 36, strings.len() as u32].into_iter().chain(types) {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(strings);
        let module = Btf::parse_module(&bytes, &kernel).expect("a module");
        let names = Names::new([b"s".as_slice()]);
        let ty = module.named(&names).next().expect("a type");
        assert_eq!((ty.kind, ty.name), (Kind::Struct, b"s".as_slice()));
        assert_eq!(module.offset_of(&ty, b"A"), Some(4));
        assert_eq!(module.offset_of(&ty, b"own"), Some(16));
        assert_eq!(module.offset_of(&ty, b"none"), None);
    }

    proptest! {
        #[test]
        fn damaged_bytes_never_panic(at in 0_usize..130, value in any::<u8>(), cut in 0_usize..130) {
            let mut bytes = sample();
            let length = bytes.len();
            bytes[at % length] = value;
            bytes.truncate(length - cut % length);
            if let Some(btf) = Btf::parse(&bytes) {
                for ty in btf.named(&Names::new([b"e".as_slice(), b"t"])) {
                    let _ = btf.enumerators(&ty).count();
                    let _ = btf.offset_of(&ty, b"A");
                    let _ = btf.get(ty.referenced);
                }
            }
        }
    }
}
