//! Where copies are: writes and syncs cost what they cost on the device of the recorded files, so there if that can be.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use hotset_facts::replay::{FileRole, ReplayPlan};

/// The devices of the files that a plan changes, or of the directories that they are to be in; each as often as there are files.
fn devices(plan: &ReplayPlan) -> impl Iterator<Item = u64> {
    let written = plan.files.iter().filter(|file| file.role == FileRole::Copy);
    let paths = written.filter_map(|file| plan.paths.get(file.path? as usize));
    paths.filter_map(|path| {
        let path = PathBuf::from(OsString::from_vec(path.bytes.clone()));
        let there = path.ancestors().find_map(|above| std::fs::metadata(above).ok());
        there.map(|there| there.dev())
    })
}

/// Of these directories, the first that is on a device of files that the plan changes.
pub fn directory_for(plan: &ReplayPlan, candidates: &[PathBuf]) -> Option<PathBuf> {
    let wanted: Vec<u64> = devices(plan).collect();
    let is_wanted = |directory: &&PathBuf| {
        std::fs::metadata(directory).is_ok_and(|there| wanted.contains(&there.dev()))
    };
    candidates.iter().find(is_wanted).cloned()
}

/// How many files that the plan changes are on another device than this directory.
pub(super) fn elsewhere(plan: &ReplayPlan, directory: &Path) -> u64 {
    let Ok(here) = std::fs::metadata(directory).map(|there| there.dev()) else { return 0 };
    devices(plan).filter(|device| *device != here).count() as u64
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::{PlanFile, PlanPath};

    use super::*;
    use crate::test_support::Scratch;

    #[test]
    fn copies_go_where_the_files_are() {
        let scratch = Scratch::new();
        let mut plan = ReplayPlan::default();
        let new = scratch.path("not/there/yet").into_os_string().into_vec();
        for (place, bytes) in (0..).zip([new, b"/dev/shm/file".to_vec()]) {
            plan.paths.push(PlanPath { bytes, role: FileRole::Copy });
            plan.files.push(PlanFile {
                index: place,
                path: Some(place),
                role: FileRole::Copy,
                is_changed: true,
                is_there: false,
                size_bytes: 0,
                cached: Vec::new(),
                touched: Vec::new(),
                parts: Vec::new(),
            });
        }
        let here = scratch.path("");
        let candidates = ["/proc".into(), here.clone(), "/dev/shm".into()];
        assert_eq!(directory_for(&plan, &candidates), Some(here.clone()));
        assert_eq!(directory_for(&plan, &["/proc".into()]), None);
        assert_eq!(elsewhere(&plan, &here), 1, "one is in memory");
        assert_eq!(elsewhere(&plan, Path::new("/proc")), 2);
    }
}
