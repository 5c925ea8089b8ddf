//! Where the sections of an object are: 64-bit ELF of this machine's byte order, as clang makes it for BPF.

use std::ops::Range;

const SECTION_HEADERS: usize = 40;
const SECTION_COUNT: usize = 60;
const NAMES_SECTION: usize = 62;
const HEADER_BYTES: usize = 64;
/// In the header of a section.
const SECTION_START: usize = 24;
const SECTION_LENGTH: usize = 32;

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
    let place = place(header(object, name)?)?;
    object.get(place.clone()).map(|_| place)
}

/// How long a section is, of which an object need not have the bytes: those that are zero at the beginning it leaves out.
pub(crate) fn length(object: &[u8], name: &str) -> Option<usize> {
    Some(place(header(object, name)?)?.len())
}

/// The header of the section of a name.
fn header<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let headers = object.get(address(object, SECTION_HEADERS)?..)?;
    let header = |index: usize| headers.get(index * HEADER_BYTES..)?.get(..HEADER_BYTES);
    let names = object.get(place(header(half(object, NAMES_SECTION)?)?)?)?;
    (0..half(object, SECTION_COUNT)?).map_while(header).find(|header| {
        let from = word(header, 0).and_then(|at| names.get(at as usize..));
        from.and_then(|from| from.strip_prefix(name.as_bytes()))
            .is_some_and(|rest| rest.first() == Some(&0))
    })
}

fn place(header: &[u8]) -> Option<Range<usize>> {
    let start = address(header, SECTION_START)?;
    Some(start..start.checked_add(address(header, SECTION_LENGTH)?)?)
}
