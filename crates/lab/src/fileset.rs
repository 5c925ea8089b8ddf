//! The files that states are set on.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

use hotset_facts::{FileId, FileSet, LearnedBy, SetMember, Unreadable};
use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::candidates::Candidate;
use crate::pages::{OpenFile, mtime_ns};

/// Makes a set of what is there and can be opened, each file once. What the command only writes is none of its inputs, nor
/// is what it writes and what was born after `began`, the moment before it was learned.
pub fn build(
    learned_by: LearnedBy,
    candidates: &[Candidate],
    began: Option<SystemTime>,
) -> FileSet {
    let mut set = FileSet { learned_by, members: Vec::new(), unreadable: Vec::new() };
    let mut places: HashMap<FileId, usize> = HashMap::new();
    for candidate in candidates.iter().filter(|candidate| candidate.read || candidate.mapped) {
        if began.is_some_and(|began| is_made(candidate, began))
            || !candidate.path.exists() && candidate.written
        {
            continue;
        }
        match OpenFile::open(&candidate.path) {
            Ok(file) => match places.get(&file.id) {
                Some(&place) => add(&mut set.members[place], candidate),
                None => {
                    places.insert(file.id, set.members.len());
                    set.members.push(member(candidate, &file));
                }
            },
            Err(reason) => {
                set.unreadable.push(Unreadable { path: candidate.path.clone(), reason });
            }
        }
    }
    set
}

fn member(candidate: &Candidate, file: &OpenFile<'_>) -> SetMember {
    let stored = file.stored();
    SetMember {
        path: candidate.path.clone(),
        id: file.id,
        size_bytes: file.size_bytes,
        mtime_ns: file.mtime_ns,
        hole_bytes: stored.hole_bytes,
        may_be_compressed: stored.may_be_compressed,
        read: candidate.read,
        mapped: candidate.mapped,
        written: candidate.written,
        cannot_evict: None,
    }
}

fn add(member: &mut SetMember, candidate: &Candidate) {
    member.read |= candidate.read;
    member.mapped |= candidate.mapped;
    member.written |= candidate.written;
}

/// Whether the command made files, after `began`, that are still there: its next run may read them.
pub fn leaves_files(candidates: &[Candidate], began: SystemTime) -> bool {
    candidates.iter().any(|candidate| is_made(candidate, began))
}

fn is_made(candidate: &Candidate, began: SystemTime) -> bool {
    candidate.written && is_born_after(candidate, began)
}

/// False where the file system keeps no times of birth.
fn is_born_after(candidate: &Candidate, began: SystemTime) -> bool {
    birth(&candidate.path).is_some_and(|born| born >= began)
}

fn birth(path: &Path) -> Option<SystemTime> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::BTIME).ok()?;
    if stat.stx_mask & StatxFlags::BTIME.bits() == 0 {
        return None;
    }
    let since = Duration::new(u64::try_from(stat.stx_btime.tv_sec).ok()?, stat.stx_btime.tv_nsec);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// Members whose size, time of change or identity is another than at the last call, or that are gone; by index. Remembers
/// what it found, so that each change is told once; a file that is gone is told each time.
pub fn changed(set: &mut FileSet) -> Vec<usize> {
    let mut changed = Vec::new();
    for (place, member) in set.members.iter_mut().enumerate() {
        let Ok(stat) = rustix::fs::stat(&member.path) else {
            changed.push(place);
            continue;
        };
        let size_bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let now = (hotset_sys::file_id(&stat), size_bytes, mtime_ns(&stat));
        if now != (member.id, member.size_bytes, member.mtime_ns) {
            changed.push(place);
            (member.id, member.size_bytes, member.mtime_ns) = now;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::test_support::Scratch;

    fn read(path: PathBuf) -> Candidate {
        Candidate { path, read: true, mapped: false, written: false }
    }

    #[test]
    fn each_file_is_a_member_once_whatever_its_names() {
        let scratch = Scratch::new();
        let path = scratch.file("a", b"x");
        let (link, soft) = (scratch.path("b"), scratch.path("c"));
        std::fs::hard_link(&path, &link).expect("link");
        std::os::unix::fs::symlink(&path, &soft).expect("symlink");
        let mapped = Candidate { mapped: true, ..read(link) };
        let missing = read(scratch.path("missing"));
        let set = build(
            LearnedBy::Given,
            &[read(path.clone()), mapped, read(soft), missing.clone()],
            None,
        );
        assert_eq!(set.members.len(), 1);
        assert_eq!((&set.members[0].path, set.members[0].mapped), (&path, true));
        assert_eq!(set.unreadable.len(), 1);
        assert_eq!(set.unreadable[0].path, missing.path);
    }

    #[test]
    fn what_the_command_makes_or_only_writes_is_no_input() {
        let scratch = Scratch::new();
        let old = scratch.file("old", b"x");
        // Times of birth are those of the kernel's clock tick.
        std::thread::sleep(Duration::from_millis(20));
        let began = SystemTime::now();
        std::thread::sleep(Duration::from_millis(20));
        let (made, compiled) = (scratch.file("made", b"x"), scratch.file("compiled", b"x"));
        let both = |path| Candidate { written: true, ..read(path) };
        let log = Candidate { read: false, ..both(scratch.file("log", b"x")) };
        let gone = both(scratch.path("gone"));
        assert!(!leaves_files(&[both(old.clone()), read(made.clone()), gone.clone()], began));
        assert!(leaves_files(&[gone.clone(), log.clone()], began));
        let candidates = [both(old.clone()), both(made), log, gone, read(compiled.clone())];
        let set = build(LearnedBy::Trace, &candidates, Some(began));
        let paths: Vec<_> = set.members.iter().map(|member| member.path.clone()).collect();
        assert_eq!(paths, [old, compiled]);
        assert!(set.unreadable.is_empty(), "{:?}", set.unreadable);
    }

    #[test]
    fn a_change_is_told_once_and_a_loss_each_time() {
        let scratch = Scratch::new();
        let paths = ["a", "b", "c"].map(|name| scratch.file(name, b"x"));
        let mut set = build(LearnedBy::Given, &paths.clone().map(read), None);
        assert!(changed(&mut set).is_empty());
        std::fs::write(&paths[1], b"longer").expect("write");
        std::fs::remove_file(&paths[2]).expect("remove");
        assert_eq!(changed(&mut set), [1, 2]);
        assert_eq!(changed(&mut set), [2]);
    }
}
