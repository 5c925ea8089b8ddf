//! Which processes have a file open or mapped: the other way round than [`super::fds`] and [`super::maps`].

use std::collections::{HashMap, HashSet};

use hotset_facts::{FileId, Holder, Pid};

use super::{fds, maps, stat};

/// Processes that are named for one file.
const MAX_HOLDERS: usize = 100;

/// The processes that hold each of `files`, by id. Those of other users are seen by root only.
pub fn of(files: &HashSet<FileId>) -> HashMap<FileId, Vec<Holder>> {
    let mut found: HashMap<FileId, Vec<Holder>> = HashMap::new();
    if files.is_empty() {
        return found;
    }
    let mut pids = all_pids();
    pids.sort_unstable();
    for pid in pids {
        let open = fds::of(pid).ok().flatten().unwrap_or_default();
        let mapped = maps::of(pid).ok().flatten().unwrap_or_default();
        let held: HashSet<FileId> = open
            .iter()
            .map(|file| file.id)
            .chain(mapped.iter().map(|file| file.id))
            .filter(|id| files.contains(id))
            .collect();
        if held.is_empty() {
            continue;
        }
        let Some(stat) = stat::of(pid).ok().flatten() else { continue };
        for id in held {
            let holders = found.entry(id).or_default();
            if holders.len() < MAX_HOLDERS {
                holders.push(Holder { pid, name: stat.comm.clone() });
            }
        }
    }
    found
}

fn all_pids() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::test_support::ScratchFile;

    fn id_of(fd: impl AsFd) -> FileId {
        crate::file_id(&rustix::fs::fstat(fd).expect("fstat"))
    }

    #[test]
    fn this_process_holds_what_it_has_open_and_its_own_program() {
        let scratch = ScratchFile::with(b"abc");
        std::fs::remove_file(&scratch.path).expect("remove");
        let open = id_of(&scratch.file);
        let program = id_of(std::fs::File::open("/proc/self/exe").expect("exe"));
        let unheld = FileId { ino: u64::MAX, ..open };
        let found = of(&HashSet::from([open, program, unheld]));
        let own = std::process::id();
        for id in [open, program] {
            assert!(found[&id].iter().any(|holder| holder.pid == own && !holder.name.is_empty()));
        }
        assert!(!found.contains_key(&unheld));
    }
}
