//! The BPF objects, which the binary carries compressed.

use std::io::Read as _;
use std::sync::OnceLock;

use flate2::read::DeflateDecoder;

/// libbpf reads ELF structures in place.
const ALIGNMENT: usize = 8;

/// An object as `build.rs` writes it: its length in bytes (little-endian, 32 bits), and its bytes by DEFLATE. Unpacked when it is first asked for.
pub(crate) struct Packed {
    packed: &'static [u8],
    unpacked: OnceLock<Unpacked>,
}

/// An object in memory, from the first aligned byte on.
#[derive(Default)]
struct Unpacked {
    memory: Vec<u8>,
    start: usize,
}

impl Packed {
    pub(crate) const fn new(packed: &'static [u8]) -> Self {
        Self { packed, unpacked: OnceLock::new() }
    }

    /// The object; nothing if it was damaged in the binary, which libbpf then refuses.
    pub(crate) fn bytes(&'static self) -> &'static [u8] {
        let unpacked = self.unpacked.get_or_init(|| unpack(self.packed).unwrap_or_default());
        &unpacked.memory[unpacked.start..]
    }
}

fn unpack(packed: &[u8]) -> Option<Unpacked> {
    let (length, packed) = packed.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let mut memory = vec![0; length + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT);
    memory.truncate(start + length);
    DeflateDecoder::new(packed).read_exact(memory.get_mut(start..)?).ok()?;
    Some(Unpacked { memory, start })
}

/// The object with this name in `objects/`.
macro_rules! object {
    ($name:literal) => {
        $crate::objects::Packed::new(include_bytes!(concat!(env!("OUT_DIR"), "/", $name)))
    };
}
pub(crate) use object;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_out_as_it_went_in() {
        static SENSOR: Packed = object!("sensor.bpf.o");
        let bytes = SENSOR.bytes();
        assert_eq!(bytes, include_bytes!("../objects/sensor.bpf.o"));
        assert!(bytes.as_ptr().addr().is_multiple_of(ALIGNMENT));
        assert!(SENSOR.packed.len() * 3 < bytes.len(), "{} bytes packed", SENSOR.packed.len());
    }

    #[test]
    fn a_damaged_object_is_none() {
        static SENSOR: Packed = object!("sensor.bpf.o");
        assert!(unpack(&SENSOR.packed[..SENSOR.packed.len() / 2]).is_none());
        assert!(unpack(&[]).is_none());
        static NONE: Packed = Packed::new(&[1, 0, 0]);
        assert!(NONE.bytes().is_empty());
    }
}
