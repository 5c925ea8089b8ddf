//! In which order files of a recording are best read.

use std::ffi::OsString;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use hotset_facts::replay::{FileRole, PlanFile, ReplayPlan};
use hotset_sys::extents;

use super::ReplaySource;
use super::copies::Origin;

/// Of each file of a plan, where on its device the first byte is that steps read: the largest number where it has no place there, the
/// file system does not tell, or a replay reads a copy.
pub fn device_order(plan: &ReplayPlan, source: &ReplaySource) -> Vec<u64> {
    let Ok(origin) = source.origin() else { return Vec::new() };
    plan.files.iter().map(|file| place(file, plan, &origin).unwrap_or(u64::MAX)).collect()
}

fn place(file: &PlanFile, plan: &ReplayPlan, origin: &Origin) -> Option<u64> {
    let &(begin, end) = file.touched.first().filter(|_| file.role == FileRole::Original)?;
    let path = plan.paths.get(file.path? as usize)?;
    let path = PathBuf::from(OsString::from_vec(path.bytes.clone()));
    let opened = origin.open(&path)?;
    let mut first = None;
    let look = |extent: extents::Extent| {
        let into = begin.saturating_sub(extent.offset);
        first = extent.physical.map(|physical| physical.saturating_add(into));
        ControlFlow::Break(())
    };
    extents::visit(&opened, begin, end.saturating_sub(begin), look).ok()?;
    first
}

#[cfg(test)]
mod tests {
    use hotset_facts::replay::PlanPath;

    use super::*;
    use crate::test_support::Scratch;

    #[test]
    fn files_without_a_place_come_last() {
        let scratch = Scratch::new();
        let mut plan = ReplayPlan::default();
        for (place, name) in (0..).zip(["one", "gone", "two", "copy"]) {
            if name != "gone" {
                scratch.file(name, &[1; 20_000]);
                let written = std::fs::File::open(scratch.path(name)).expect("a file");
                written.sync_all().expect("synced: it has a place now");
            }
            let role = if name == "copy" { FileRole::Copy } else { FileRole::Original };
            let bytes = scratch.path(name).into_os_string().into_vec();
            plan.paths.push(PlanPath { bytes, role });
            plan.files.push(PlanFile {
                index: place,
                path: Some(place),
                role,
                is_changed: false,
                is_there: true,
                size_bytes: 20_000,
                cached: Vec::new(),
                touched: vec![(8192, 9000)],
                parts: Vec::new(),
            });
        }
        let order = device_order(&plan, &ReplaySource::Below("/".into()));
        assert_eq!((order[1], order[3]), (u64::MAX, u64::MAX));
        assert!(order[0] < u64::MAX && order[2] < u64::MAX && order[0] != order[2], "{order:?}");
        assert_eq!(device_order(&plan, &ReplaySource::Nowhere), [u64::MAX; 4]);
    }
}
