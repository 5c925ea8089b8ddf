//! Numbers for open file descriptions.

use std::collections::HashMap;

use crate::record::FileKey;

/// By where the kernel has what open(2) made: the number, and the file that it is of. The place is another's once it was closed.
#[derive(Debug, Default)]
pub(super) struct Descriptions {
    known: HashMap<u64, (u64, FileKey)>,
    count: u64,
    /// The place and file that were asked for last, and their number: most records are of the same.
    last: Option<(u64, FileKey, u64)>,
}

impl Descriptions {
    /// The number of what stands at `place`, a new one if it was just opened, or is of another file than what stood there before:
    /// whoever opened that is not recorded. Of one that is of the same file nothing tells it.
    pub(super) fn number(&mut self, place: u64, file: FileKey, opens: bool) -> u64 {
        if let Some((_, _, number)) =
            self.last.filter(|last| !opens && (last.0, last.1) == (place, file))
        {
            return number;
        }
        let number = self.find(place, file, opens);
        self.last = Some((place, file, number));
        number
    }

    fn find(&mut self, place: u64, file: FileKey, opens: bool) -> u64 {
        let known = self.known.get_mut(&place).filter(|(_, of)| {
            let is_same = *of == file || *of == FileKey::NONE || file == FileKey::NONE;
            is_same && !opens
        });
        if let Some((number, of)) = known {
            if *of == FileKey::NONE {
                *of = file;
            }
            return *number;
        }
        self.count += 1;
        self.known.insert(place, (self.count, file));
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_another_file_has_is_another_description() {
        let file = |ino| FileKey { ino, dev: 1, generation: 0 };
        let mut all = Descriptions::default();
        assert_eq!(all.number(0x10, file(1), true), 1);
        assert_eq!(all.number(0x10, file(1), false), 1);
        assert_eq!(all.number(0x10, FileKey::NONE, false), 1);
        assert_eq!(all.number(0x20, FileKey::NONE, false), 2);
        assert_eq!(all.number(0x20, file(2), false), 2);
        assert_eq!(all.number(0x20, file(3), false), 3, "nobody saw it opened");
        assert_eq!(all.number(0x10, file(1), true), 4, "opened again");
    }
}
