//! The files that a replay reads where they are: are they as they were when they were recorded?

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use hotset_facts::replay::{FileRole, ReplayPlan, SinceRecorded, UnfitFile};

/// Those that are not.
pub(super) fn unfit(plan: &ReplayPlan) -> Vec<UnfitFile> {
    let originals = plan.files.iter().filter(|file| file.role == FileRole::Original);
    originals
        .filter_map(|file| {
            let path = plan.paths.get(file.path? as usize)?;
            let path = PathBuf::from(OsString::from_vec(path.bytes.clone()));
            let needed_bytes = file.touched.last().map_or(0, |range| range.1);
            let (since_recorded, size_bytes) = match std::fs::metadata(&path) {
                Ok(now) if !now.is_file() && !now.is_dir() => {
                    (SinceRecorded::Special, Some(now.len()))
                }
                Ok(now) if now.is_dir() || now.len() == file.size_bytes => return None,
                Ok(now) if now.len() < file.size_bytes.min(needed_bytes) => {
                    (SinceRecorded::Shorter, Some(now.len()))
                }
                Ok(now) => (SinceRecorded::OtherSize, Some(now.len())),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    (SinceRecorded::Denied, None)
                }
                Err(_) => (SinceRecorded::Missing, None),
            };
            let recorded_bytes = file.size_bytes;
            Some(UnfitFile { path, since_recorded, recorded_bytes, size_bytes })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::{PlanFile, PlanPath};

    use super::*;
    use crate::test_support::Scratch;

    #[test]
    fn each_way_of_not_being_as_recorded_has_a_word() {
        let scratch = Scratch::new();
        scratch.file("same", &[1; 100]);
        scratch.file("short", &[1; 50]);
        scratch.file("long", &[1; 500]);
        // Shorter than it was, but not than what was asked for.
        scratch.file("cut", &[1; 90]);
        let mut plan = ReplayPlan::default();
        let names = ["same", "short", "long", "cut", "gone"];
        for (place, name) in (0..).zip(names.map(|name| scratch.path(name))) {
            let bytes = name.into_os_string().into_vec();
            plan.paths.push(PlanPath { bytes, role: FileRole::Original });
            plan.files.push(PlanFile {
                index: place,
                path: Some(place),
                role: FileRole::Original,
                is_changed: false,
                is_there: true,
                size_bytes: 100,
                cached: Vec::new(),
                touched: vec![(0, 80)],
                parts: Vec::new(),
            });
        }
        plan.paths.push(PlanPath { bytes: b"/dev/null".to_vec(), role: FileRole::Original });
        let mut null = plan.files[0].clone();
        null.path = Some(5);
        plan.files.push(null);
        let found: Vec<_> =
            unfit(&plan).into_iter().map(|file| (file.since_recorded, file.size_bytes)).collect();
        let wanted = [
            (SinceRecorded::Shorter, Some(50)),
            (SinceRecorded::OtherSize, Some(500)),
            (SinceRecorded::OtherSize, Some(90)),
            (SinceRecorded::Missing, None),
            (SinceRecorded::Special, Some(0)),
        ];
        assert_eq!(found, wanted);
    }
}
