//! What occupies the cache of the whole machine: by the kernel's own list of inodes, else by a walk over what is mounted.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use hotset_facts::{
    CacheSource, CachedFile, CachedFileSystem, FileId, Holder, Reason, SystemCache,
};
use hotset_sys::proc::{meminfo, users};

use crate::ControlFailure;

/// What to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SystemOptions {
    /// Files at most.
    pub top: usize,
    /// The size in bytes that a listed file has at least. All files are counted, whatever their size.
    pub min_size_bytes: u64,
    /// Walk even where the kernel's own list can be read.
    pub walk: bool,
}

/// What the kernel's list of inodes says.
#[derive(Debug)]
pub struct InodeList {
    /// All file systems that have pages, or could not be seen whole.
    pub file_systems: Vec<CachedFileSystem>,
    /// The files with most pages.
    pub files: Vec<CachedFile>,
    /// Why the list of file systems is not whole, where it isn't.
    pub gap: Option<Reason>,
    /// True where it was stopped.
    pub interrupted: bool,
}

/// Lists what occupies the cache. `inode_list` reads the kernel's own list, or says why it can't be read here.
///
/// # Errors
/// Where neither that list nor what is mounted can be read.
pub fn system_cache(
    options: &SystemOptions,
    stop: &AtomicBool,
    inode_list: impl FnOnce() -> Result<InodeList, String>,
) -> Result<SystemCache, ControlFailure> {
    let mut cache = if options.walk {
        by_walk(options, "as --walk asks for".to_owned(), stop)?
    } else {
        by_inode_list(inode_list).or_else(|why| by_walk(options, why, stop))?
    };
    name_holders(&mut cache.files, users::holders_of);
    Ok(cache)
}

fn by_inode_list(
    inode_list: impl FnOnce() -> Result<InodeList, String>,
) -> Result<SystemCache, String> {
    let before = meminfo::now().map_err(|error| error.to_string())?;
    let list = inode_list()?;
    let after = meminfo::now().map_err(|error| error.to_string())?;
    Ok(SystemCache {
        source: CacheSource::InodeList,
        fallback: None,
        page_size: hotset_sys::page_size(),
        file_systems: list.file_systems,
        files: list.files,
        gap: list.gap,
        unreadable: Vec::new(),
        unreadable_count: 0,
        unknown_files: 0,
        interrupted: list.interrupted,
        before,
        after,
    })
}

fn by_walk(
    options: &SystemOptions,
    why: String,
    stop: &AtomicBool,
) -> Result<SystemCache, ControlFailure> {
    let before = meminfo::now()?;
    let scan = hotset_sys::system::scan(options.top, options.min_size_bytes, stop)?;
    Ok(SystemCache {
        source: CacheSource::Walk,
        fallback: Some(why),
        page_size: hotset_sys::page_size(),
        file_systems: scan.file_systems,
        files: scan.files,
        gap: None,
        unreadable: scan.unreadable,
        unreadable_count: scan.unreadable_count,
        unknown_files: scan.unknown_files,
        interrupted: scan.interrupted,
        before,
        after: meminfo::now()?,
    })
}

/// Deleted files go only when those go that hold them.
fn name_holders(
    files: &mut [CachedFile],
    holders_of: impl FnOnce(&HashSet<FileId>) -> std::collections::HashMap<FileId, Vec<Holder>>,
) {
    let deleted: HashSet<_> =
        files.iter().filter(|file| file.deleted).map(|file| file.id).collect();
    let mut holders = holders_of(&deleted);
    for file in files.iter_mut().filter(|file| file.deleted) {
        file.holders = holders.remove(&file.id).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use hotset_facts::{Observed, PageHolder};

    use super::*;
    use crate::testing::GO;

    const OPTIONS: SystemOptions = SystemOptions { top: 3, min_size_bytes: 0, walk: false };

    fn file(ino: u64, deleted: bool) -> CachedFile {
        let unknown = Reason::not_measured("a test");
        CachedFile {
            id: FileId { ino, ..FileId::default() },
            file_system: 0,
            holder: PageHolder::Regular,
            device: None,
            size_bytes: 4096,
            cached_pages: 1,
            deleted,
            path: Observed::Missing(unknown),
            reachable: !deleted,
            state: Observed::Missing(unknown),
            holders: Vec::new(),
            mapped: None,
        }
    }

    fn list() -> Result<InodeList, String> {
        let files = vec![file(1, false), file(2, true)];
        Ok(InodeList { file_systems: Vec::new(), files, gap: None, interrupted: true })
    }

    #[test]
    fn the_kernels_list_comes_first_and_a_walk_says_why_it_does_not() {
        let listed = system_cache(&OPTIONS, &GO, list).expect("listed");
        assert_eq!(
            (listed.source, listed.fallback, listed.files.len()),
            (CacheSource::InodeList, None, 2)
        );
        assert!(listed.interrupted && listed.before.total_bytes > 0);
        // Told to stop at once, a walk of the whole host ends before it begins.
        let stop = AtomicBool::new(true);
        let refused = system_cache(&OPTIONS, &stop, || Err("no BPF".to_owned())).expect("walked");
        assert_eq!(
            (refused.source, refused.fallback.as_deref()),
            (CacheSource::Walk, Some("no BPF"))
        );
        let walk = SystemOptions { walk: true, ..OPTIONS };
        let asked = system_cache(&walk, &stop, || panic!("not asked")).expect("walked");
        assert!(asked.source == CacheSource::Walk && asked.interrupted);
    }

    #[test]
    fn only_deleted_files_are_looked_for_and_named_with_their_holders() {
        let mut files = vec![file(1, false), file(2, true), file(3, true)];
        name_holders(&mut files, |asked| {
            let mut inodes: Vec<u64> = asked.iter().map(|id| id.ino).collect();
            inodes.sort_unstable();
            assert_eq!(inodes, [2, 3]);
            let holder = Holder { pid: 7, name: "db".to_owned() };
            HashMap::from([(files_id(2), vec![holder.clone()]), (files_id(1), vec![holder])])
        });
        assert_eq!(files.iter().map(|file| file.holders.len()).collect::<Vec<_>>(), [0, 1, 0]);
    }

    fn files_id(ino: u64) -> FileId {
        FileId { ino, ..FileId::default() }
    }
}
