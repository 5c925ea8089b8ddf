//! Protocol buffers, as far as writing needs them (protobuf.dev/programming-guides/encoding).

/// A message while it is written.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

/// Wire types.
const VARINT: u64 = 0;
const BYTES: u64 = 2;

impl Message {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(u8::try_from(value & 0x7f).unwrap_or_default() | 0x80);
            value >>= 7;
        }
        self.0.push(u8::try_from(value).unwrap_or_default());
    }

    /// A number that is not below 0.
    pub(super) fn uint(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// A number of an int64 or int32 field.
    pub(super) fn int(&mut self, field: u64, value: i64) -> &mut Self {
        self.uint(field, value.cast_unsigned())
    }

    /// Text, bytes, or a message that is written already.
    pub(super) fn data(&mut self, field: u64, bytes: &[u8]) -> &mut Self {
        self.varint(field << 3 | BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(&mut self, field: u64, text: &str) -> &mut Self {
        self.data(field, text.as_bytes())
    }

    pub(super) fn message(&mut self, field: u64, message: &Self) -> &mut Self {
        self.data(field, &message.0)
    }

    /// Numbers of a repeated field, packed.
    pub(super) fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) -> &mut Self {
        let mut packed = Self::new();
        values.for_each(|value| packed.varint(value));
        self.message(field, &packed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_documentation() {
        assert_eq!(Message::new().uint(1, 150).bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::new().text(2, "testing").bytes(), *b"\x12\x07testing");
        let packed = [0x32, 0x06, 0x03, 0x8e, 0x02, 0x9e, 0xa7, 0x05];
        assert_eq!(Message::new().packed(6, [3, 270, 86942].into_iter()).bytes(), packed);
        let below = [&[0x08_u8][..], &[0xfe], &[0xff; 8], &[0x01]].concat();
        assert_eq!(Message::new().int(1, -2).bytes(), below);
    }
}
