//! The three programs, loaded, as functions.

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};

use hotset_sys::cgroup::outside_limits;
use libbpf_rs::{Map, MapCore, MapFlags, Object, ObjectBuilder, ProgramInput};

use super::record::{
    INODE_ROWS, Inode, InodePath, List, Superblock, WALK_COMPLETE, WALK_FULL, Walk,
};
use crate::ObserveError;
use crate::features::KernelFeatures;
use crate::filebytes::FileBytes;
use crate::load::keep_loader_words;
use crate::objects::{Packed, object};
use crate::record::{Plain, bytes_of_mut, read, zeroed};
use crate::tables::{find_map, value_of};

static OBJECT: Packed = object!("inodes.bpf.o");

/// How often a list that changes is read again.
const ATTEMPTS: u32 = 8;

pub(super) fn object_bytes() -> &'static [u8] {
    OBJECT.bytes()
}

/// The loaded programs. They hang on nothing and run only when called.
pub(super) struct Programs {
    object: Object,
}

impl Programs {
    pub(super) fn load() -> Result<Self, ObserveError> {
        keep_loader_words();
        let open = ObjectBuilder::default().open_memory(object_bytes());
        let (loaded, _) = outside_limits(|| open.and_then(libbpf_rs::OpenObject::load));
        match loaded {
            Ok(object) => Ok(Self { object }),
            Err(error) => Err(why_refused(&error)),
        }
    }

    /// All superblocks, and whether these are all.
    pub(super) fn superblocks(&mut self) -> Result<(Vec<Superblock>, bool), ObserveError> {
        // Any file system leads to all others; /proc is where this process is anyway.
        let start = File::open("/proc/self").map_err(|error| table("superblocks", error))?;
        let fd = u32::try_from(start.as_raw_fd()).unwrap_or(0);
        for _ in 0..ATTEMPTS {
            let mut list = List { fd, ..zeroed() };
            self.run("superblocks", &mut list)?;
            if matches!(list.status, WALK_COMPLETE | WALK_FULL) {
                let found = self.superblock_rows(list.count)?;
                return Ok((found, list.status == WALK_COMPLETE));
            }
        }
        Err(ObserveError::Unsettled("the kernel's list of file systems", ATTEMPTS))
    }

    fn superblock_rows(&self, count: u32) -> Result<Vec<Superblock>, ObserveError> {
        let map = self.map("table")?;
        let mut found = Vec::new();
        for key in 0..count {
            found.extend(value_of::<Superblock>(&map, "superblocks", &key)?);
        }
        Ok(found)
    }

    /// Goes on with a walk over one superblock's inodes.
    pub(super) fn inodes(&mut self, walk: &mut Walk) -> Result<(), ObserveError> {
        self.run("inodes", walk)
    }

    /// The rows that the walks left, the first `count` of them.
    pub(super) fn rows(&self, count: u64) -> Result<Vec<Inode>, ObserveError> {
        let count = usize::try_from(count.min(INODE_ROWS)).unwrap_or(0);
        if count == 0 {
            return Ok(Vec::new());
        }
        let map = self.map("rows")?;
        let bytes = FileBytes::of_array(map.as_fd(), count * size_of::<Inode>())
            .map_err(|error| table("inodes", error))?;
        Ok(bytes.as_slice().chunks_exact(size_of::<Inode>()).filter_map(read).collect())
    }

    /// The way up from an inode, and its names: the file's own first, each ended by a zero.
    pub(super) fn path(&mut self, inode: &Inode) -> Result<(InodePath, Vec<u8>), ObserveError> {
        let mut path = InodePath {
            inode: inode.pointer,
            superblock: inode.superblock,
            ino: inode.ino,
            ..zeroed()
        };
        self.run("path", &mut path)?;
        let names = self.map("names")?.lookup(&0_u32.to_ne_bytes(), MapFlags::ANY);
        let mut names = names.map_err(|error| table("names", error))?.unwrap_or_default();
        names.truncate(path.length as usize);
        Ok((path, names))
    }

    /// Calls a program with a context, which it changes.
    fn run<T: Plain>(&mut self, name: &'static str, context: &mut T) -> Result<(), ObserveError> {
        let bytes = bytes_of_mut(context);
        let input = ProgramInput { context_in: Some(bytes), ..ProgramInput::default() };
        let program = self.object.progs_mut().find(|program| program.name() == name);
        let program = program.ok_or_else(|| table(name, "no such program in the object"))?;
        program.test_run(input).map_err(|error| table(name, error))?;
        Ok(())
    }

    fn map(&self, name: &'static str) -> Result<Map<'_>, ObserveError> {
        find_map(&self.object, name)
    }
}

fn table(name: &'static str, error: impl std::fmt::Display) -> ObserveError {
    ObserveError::table(name, error)
}

/// An old kernel is told by what it lacks, not by libbpf's words about it.
fn why_refused(error: &libbpf_rs::Error) -> ObserveError {
    let refused = ObserveError::refused(error);
    match KernelFeatures::probe() {
        Err(error) => error,
        Ok(features) if !features.read_only_cast => {
            ObserveError::TooOld("bpf_rdonly_cast and bpf_rcu_read_lock (Linux 6.2)")
        }
        Ok(_) => refused,
    }
}
