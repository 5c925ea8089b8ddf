//! What a process runs, and where the code of that is mapped.

use std::collections::HashMap;

use hotset_facts::Pid;
use hotset_sys::proc::maps::{self, CodeRegion};
use hotset_sys::proc::stat::{self, Stat};

/// Images whose mappings a reader of samples remembers at most; beyond, it begins anew.
const MAX_IMAGES: usize = 4_096;

/// A program that a process runs, from one exec to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Image {
    /// The process.
    pub pid: Pid,
    /// Where its first stack began (`mm->start_stack`): an exec chooses another address, unless nobody randomizes them.
    pub stack_start: u64,
}

impl Image {
    /// What `pid` runs now; nothing where it has exited, or the caller may not look.
    pub fn of(pid: Pid) -> Option<Self> {
        let stat = stat::of(pid).ok()?.filter(Stat::is_alive)?;
        stat.stack_start.map(|stack_start| Self { pid, stack_start })
    }
}

/// Where the code of an image was mapped at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mappings {
    pub(crate) regions: Vec<CodeRegion>,
}

impl Mappings {
    /// Those of an image, unless its process has exited or runs something else by now.
    pub fn read(image: Image) -> Option<Self> {
        let is_still = || Image::of(image.pid) == Some(image);
        if !is_still() {
            return None;
        }
        let regions = maps::code_of(image.pid).ok().flatten()?;
        // An exec between the two would have replaced what was read.
        (!regions.is_empty() && is_still()).then_some(Self { regions })
    }
}

/// What a reader of samples sees to while their processes live: mappings, which end with them. Names can be found later.
#[derive(Debug, Default)]
pub struct Images {
    /// Where code of each was mapped when it was read last.
    known: HashMap<Image, Vec<(u64, u64)>>,
}

impl Images {
    /// Reads the mappings of an image, unless they are known and have code at `address`. Hand what it returns to
    /// [`crate::Sites::resolve`] with the sample.
    pub fn look(&mut self, image: Image, address: u64) -> Option<Mappings> {
        let is_known = |ranges: &Vec<(u64, u64)>| {
            let behind = ranges.partition_point(|range| range.0 <= address);
            behind.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|at| address < at.1)
        };
        if self.known.get(&image).is_some_and(is_known) {
            return None;
        }
        let mappings = Mappings::read(image)?;
        if self.known.len() >= MAX_IMAGES {
            self.known.clear();
        }
        let ranges = mappings.regions.iter().map(|region| region.addresses).collect();
        self.known.insert(image, ranges);
        Some(mappings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_are_read_once_for_all_code_that_they_have() {
        let image = Image::of(std::process::id()).expect("this process");
        let mut images = Images::default();
        let mappings = images.look(image, 8).expect("read");
        let first = mappings.regions.first().expect("code").addresses.0;
        assert_eq!(images.look(image, first), None);
        assert!(images.look(image, 8).is_some(), "what is nowhere may be mapped by now");
    }

    #[test]
    fn of_another_image_nothing_is_read() {
        let image = Image::of(std::process::id()).expect("this process");
        let before_an_exec = Image { stack_start: image.stack_start + 16, ..image };
        assert_eq!(Mappings::read(before_an_exec), None);
        assert!(Mappings::read(image).is_some());
    }
}
