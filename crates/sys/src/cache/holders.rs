//! Who has files mapped or locked: what the kernel doesn't say when it refuses to evict.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use hotset_facts::{FileHolder, FileId, Observed, Pid, Reason};

use crate::proc::maps::{self, MappedFile};
use crate::proc::{smaps, stat, users};

/// What was seen of all processes at one time.
#[derive(Debug, Default)]
pub struct Holders {
    by_file: HashMap<FileId, Vec<FileHolder>>,
    /// Processes whose mappings this user may not see.
    pub hidden_processes: u64,
}

impl Holders {
    /// Who maps this file, those that have locked it first.
    pub fn of(&self, id: FileId) -> &[FileHolder] {
        self.by_file.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// Looks through /proc once, for these files; the path is how a file is told that /proc names by another device than
/// stat(2) does (btrfs, overlayfs). One's own mappings count.
pub fn holders(files: &[(FileId, PathBuf)]) -> Holders {
    let mut found = Holders::default();
    if files.is_empty() {
        return found;
    }
    let inodes: HashSet<u64> = files.iter().map(|(id, _)| id.ino).collect();
    for pid in users::all_pids() {
        match maps::of(pid) {
            Ok(Some(mapped)) => {
                let mapped: Vec<(&MappedFile, FileId)> = mapped
                    .iter()
                    .filter(|file| inodes.contains(&file.id.ino))
                    .filter_map(|file| Some((file, wanted(file, files)?)))
                    .collect();
                if !mapped.is_empty() {
                    add(&mut found, pid, &mapped);
                }
            }
            Ok(None) => {}
            Err(_) => found.hidden_processes += 1,
        }
    }
    for holders in found.by_file.values_mut() {
        holders.sort_by_key(|holder| (!holder.locked, holder.pid));
    }
    found
}

/// Which of the files this one is.
fn wanted(mapped: &MappedFile, files: &[(FileId, PathBuf)]) -> Option<FileId> {
    files
        .iter()
        .filter(|(id, _)| id.ino == mapped.id.ino)
        .find(|(id, path)| *id == mapped.id || is_same_path(path, &mapped.path))
        .map(|(id, _)| *id)
}

fn is_same_path(path: &Path, mapped: &Path) -> bool {
    path == mapped || std::fs::canonicalize(path).is_ok_and(|path| path == mapped)
}

fn add(found: &mut Holders, pid: Pid, mapped: &[(&MappedFile, FileId)]) {
    let comm = stat::of(pid).ok().flatten().map(|stat| stat.comm).unwrap_or_default();
    let sizes = smaps::of(pid);
    for (file, id) in mapped {
        let (pages, locked) = match &sizes {
            Ok(Some(sizes)) => {
                let of_file = sizes.iter().filter(|area| area.id == file.id);
                let (bytes, locked) = of_file.fold((0, false), |(bytes, locked), area| {
                    (bytes + area.resident_bytes, locked | area.locked)
                });
                (Observed::Value(crate::pages_of(bytes)), locked)
            }
            _ => (Observed::Missing(Reason::denied("its smaps may not be read")), false),
        };
        let holder = FileHolder { pid, comm: comm.clone(), pages, locked };
        found.by_file.entry(*id).or_default().push(holder);
    }
}

#[cfg(test)]
mod tests {
    use rustix::mm::{MapFlags, ProtFlags};

    use super::*;
    use crate::test_support::ScratchFile;

    #[test]
    fn a_mapping_and_a_lock_are_seen_with_their_process() {
        let page = crate::page_size() as usize;
        let file = ScratchFile::with(&vec![7; 4 * page]);
        let id = crate::file_id(&rustix::fs::fstat(&file.file).expect("fstat"));
        let asked = [(id, file.path.clone())];
        assert!(holders(&asked).of(id).is_empty());
        // SAFETY: a view of a file that nobody truncates, unmapped below.
        let map = unsafe {
            let flags = MapFlags::SHARED | MapFlags::POPULATE;
            rustix::mm::mmap(std::ptr::null_mut(), 2 * page, ProtFlags::READ, flags, &file.file, 0)
        }
        .expect("mmap");
        let mapped = holders(&asked).of(id).to_vec();
        // SAFETY: one page of the view made above.
        unsafe { rustix::mm::mlock(map, page) }.expect("mlock");
        let locked = holders(&asked).of(id).to_vec();
        // SAFETY: the view made above.
        unsafe { rustix::mm::munmap(map, 2 * page) }.expect("munmap");
        let pid = std::process::id();
        assert_eq!(mapped.len(), 1);
        assert_eq!((mapped[0].pid, mapped[0].locked), (pid, false));
        assert!(!mapped[0].comm.is_empty());
        assert_eq!(mapped[0].pages, Observed::Value(2));
        assert_eq!((locked[0].pages, locked[0].locked), (Observed::Value(2), true));
    }
}
