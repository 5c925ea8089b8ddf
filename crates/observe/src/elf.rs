//! Where the sections of an object are: 64-bit ELF of this machine's byte order, as clang makes it for BPF.

use std::ops::Range;

const SECTION_HEADERS: usize = 40;
const SECTION_COUNT: usize = 60;
const NAMES_SECTION: usize = 62;
const HEADER_BYTES: usize = 64;

/// The number of 32 bits at a place.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes))
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.first_chunk::<2>().map(|bytes| u16::from_le_bytes(*bytes).into())
}

fn address(bytes: &[u8], at: usize) -> Option<usize> {
    let bytes = bytes.get(at..)?.first_chunk::<8>()?;
    usize::try_from(u64::from_le_bytes(*bytes)).ok()
}

/// The section of a name, which is one of the object's bytes.
pub(crate) fn section(object: &[u8], name: &str) -> Option<Range<usize>> {
    let headers = object.get(address(object, SECTION_HEADERS)?..)?;
    let place = |index: usize| {
        let at = index * HEADER_BYTES;
        let start = address(headers, at + 24)?;
        let place = start..start.checked_add(address(headers, at + 32)?)?;
        object.get(place.clone()).map(|_| place)
    };
    let names = object.get(place(half(object, NAMES_SECTION)?)?)?;
    let wanted = (0..half(object, SECTION_COUNT)?).find(|index| {
        let from = word(headers, index * HEADER_BYTES).and_then(|at| names.get(at as usize..));
        from.and_then(|from| from.strip_prefix(name.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&0))
    });
    place(wanted?)
}
