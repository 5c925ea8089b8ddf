//! Which programs to load on a kernel, and what can't be measured then. Pure.

use hotset_facts::Feature;

use crate::again::{behind, original};
use crate::direct_map;
use crate::features::KernelFeatures;

/// Which of the two ways to keep state and to read memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// Plain loads, task storage: 6.2 and later.
    Full,
    /// Probe reads, a hash of tasks: 5.8 to 6.1.
    Compat,
}

impl Build {
    /// The one that a kernel of a release will most likely run, to begin by before its types are read. Of those before Linux 6.2
    /// some have what the full build needs all the same.
    pub(crate) fn expected(release: Option<(u32, u32)>) -> Option<Self> {
        (release? >= (6, 2)).then_some(Self::Full)
    }
}

/// What to load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The object.
    pub(crate) build: Build,
    /// Of the compat builds, the one that marks pages by atomic operations (5.12).
    pub(crate) atomics: bool,
    /// Programs to load and attach, by name, in this order.
    pub(crate) programs: Vec<&'static str>,
    /// Those that stand behind them where a program can be preempted.
    pub(crate) again: Vec<&'static str>,
    /// Programs are preempted (7.0).
    pub(crate) preemptible: bool,
    /// Mappings of processes are walked (6.7).
    pub(crate) mappings: bool,
    /// What this kernel lacks, and so can't be counted.
    pub(crate) missing: Vec<Feature>,
}

/// Tracepoints of direct I/O, with their programs (6.5); all or none.
pub(crate) const DIRECT: [(&str, &str); 3] = [
    ("iomap_dio_rw_begin", "direct_begun"),
    ("iomap_dio_complete", "direct_ended"),
    ("iomap_dio_invalidate_fail", "direct_given_up"),
];

const FAULT_PROGRAMS: [&str; 3] = ["fault_lookup", "fault_around", "major_fault_end"];

impl Selection {
    /// The same for a kernel that refuses this build; none is simpler than the one for 5.10.
    pub(crate) fn simpler(&self) -> Option<Self> {
        if self.programs.contains(&direct_map::PROGRAM) {
            let mut without = self.clone();
            without.leave_out(&[direct_map::PROGRAM]);
            return Some(without);
        }
        if !self.again.is_empty() {
            return Some(Self { again: Vec::new(), ..self.clone() });
        }
        if self.mappings {
            return Some(Self { mappings: false, ..self.clone() });
        }
        match (self.build, self.atomics) {
            (Build::Full, _) => Some(Self { build: Build::Compat, ..self.clone() }),
            (Build::Compat, true) => Some(Self { atomics: false, ..self.clone() }),
            (Build::Compat, false) => None,
        }
    }

    /// Leaves out the counting of faults.
    pub(crate) fn drop_faults(&mut self) {
        if !self.missing.contains(&Feature::FileFaults) {
            self.missing.push(Feature::FileFaults);
        }
        self.leave_out(&FAULT_PROGRAMS);
    }

    /// Leaves out programs, and those behind them.
    pub(crate) fn leave_out(&mut self, programs: &[&str]) {
        self.programs.retain(|program| !programs.contains(program));
        self.again.retain(|program| !programs.contains(&original(program)));
    }
}

/// Tracepoints without which nothing can be counted, with what each one tells.
const ESSENTIAL: [(&str, &str); 6] = [
    ("sys_enter", "what is requested"),
    ("sys_exit", "what was returned"),
    ("mm_filemap_add_to_page_cache", "misses"),
    ("mm_filemap_delete_from_page_cache", "evictions"),
    ("task_newtask", "children"),
    ("sched_process_exit", "exits"),
];

/// Chooses programs for a kernel.
///
/// # Errors
/// Names the essential tracepoint that is missing.
pub(crate) fn select(features: &KernelFeatures) -> Result<Selection, String> {
    let arguments = |name: &str| features.tracepoints.get(name).map(|point| point.arguments);
    if let Some((missing, why)) = ESSENTIAL.iter().find(|(name, _)| arguments(name).is_none()) {
        return Err(format!("the tracepoint {missing}, which tells {why}"));
    }
    let full = features.read_only_cast && features.task_storage && features.bounded_loop;
    let mut programs =
        vec!["sys_enter", "sys_exit", "page_added", "page_deleted", "task_new", "task_exit"];
    if arguments("sched_process_exec").is_some() {
        programs.push("task_exec");
    }
    let faults =
        arguments("mm_filemap_fault").is_some() && arguments("mm_filemap_map_pages").is_some();
    if faults {
        programs.extend(FAULT_PROGRAMS);
    }
    let dirty = match (arguments("writeback_dirty_folio"), arguments("writeback_dirty_page")) {
        (Some(_), _) => Some("folio_dirtied"),
        (None, Some(_)) => Some("page_dirtied"),
        (None, None) => None,
    };
    programs.extend(dirty);
    // (bio) since 5.11, (queue, bio) before.
    let block =
        arguments("block_bio_queue").map(|n| if n >= 2 { "bio_queued_old" } else { "bio_queued" });
    programs.extend(block);
    let uring = uring_programs(features);
    programs.extend(uring.into_iter().flatten());
    let direct = DIRECT.iter().all(|(point, _)| arguments(point).is_some());
    if direct {
        programs.extend(DIRECT.map(|(_, program)| program));
    }
    let found = [
        (Feature::FileFaults, faults),
        (Feature::IoUring, uring.is_some()),
        (Feature::DirtyTracepoint, dirty.is_some()),
        (Feature::BlockLayer, block.is_some()),
    ];
    Ok(Selection {
        build: if full { Build::Full } else { Build::Compat },
        atomics: full || features.atomics,
        again: if full && features.preemptible { behind(&programs) } else { Vec::new() },
        programs,
        preemptible: features.preemptible,
        mappings: full && features.mappings,
        missing: found
            .into_iter()
            .filter(|(_, found)| !found)
            .map(|(feature, _)| feature)
            .collect(),
    })
}

/// The submit and complete programs that fit; both or none.
fn uring_programs(features: &KernelFeatures) -> Option<[&'static str; 2]> {
    let arguments = |name: &str| features.tracepoints.get(name).map(|point| point.arguments);
    let submit = if arguments("io_uring_submit_req").is_some() {
        "uring_submit"
    } else if arguments("io_uring_submit_sqe") == Some(2) {
        // (request, flag) since 6.0; before, the request's fields were arguments.
        "uring_submit_old"
    } else {
        return None;
    };
    let complete = match arguments("io_uring_complete")? {
        3 => "uring_complete",
        7 => "uring_complete_old",
        _ => return None,
    };
    Some([submit, complete])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::{FUNCTIONS, Layout, TRACEPOINTS, Tracepoint};

    fn point(arguments: usize) -> Tracepoint {
        Tracepoint { arguments, ..Tracepoint::default() }
    }

    fn kernel(missing: &[&str], cast: bool) -> KernelFeatures {
        let tracepoints = TRACEPOINTS
            .iter()
            .filter(|name| !missing.contains(name))
            .map(|&name| (name, point(if name == "io_uring_complete" { 3 } else { 1 })))
            .collect();
        KernelFeatures {
            tracepoints,
            read_only_cast: cast,
            functions: [None; FUNCTIONS.len()],
            task_storage: true,
            bounded_loop: true,
            atomics: true,
            preemptible: false,
            mappings: cast,
            layout: Layout { pg_head: 6, ..Layout::default() },
        }
    }

    #[test]
    fn a_current_kernel_gets_everything() {
        let selection = select(&kernel(&[], true)).unwrap();
        assert_eq!(selection.build, Build::Full);
        assert_eq!(selection.missing, []);
        assert!(selection.programs.contains(&"folio_dirtied"));
        assert!(!selection.programs.contains(&"page_dirtied"));
    }

    #[test]
    fn preempted_programs_have_others_behind_them() {
        let linux_7 = KernelFeatures { preemptible: true, ..kernel(&["mm_filemap_fault"], true) };
        let mut selection = select(&linux_7).unwrap();
        assert!(selection.again.contains(&"sys_exit_again2"));
        assert!(!selection.again.contains(&"fault_around_again1"));
        selection.leave_out(&["task_new"]);
        assert!(!selection.again.contains(&"task_new_again1"));
        let simpler = selection.simpler().unwrap();
        assert_eq!((simpler.build, simpler.again.len()), (Build::Full, 0));
        // They need what only the full build has.
        let compat = KernelFeatures { read_only_cast: false, ..linux_7 };
        assert_eq!(select(&compat).unwrap().again, [] as [&str; 0]);
    }

    #[test]
    fn direct_io_is_told_by_all_of_its_tracepoints_or_by_none() {
        let told = |missing: &[&str]| {
            let selection = select(&kernel(missing, true)).unwrap();
            DIRECT.map(|(_, program)| selection.programs.contains(&program))
        };
        assert_eq!(told(&[]), [true; 3]);
        assert_eq!(told(&["iomap_dio_invalidate_fail"]), [false; 3]);
    }

    #[test]
    fn linux_6_1_counts_no_faults() {
        let old =
            kernel(&["mm_filemap_fault", "mm_filemap_map_pages", "io_uring_submit_req"], false);
        let mut selection = select(&old).unwrap();
        assert_eq!(selection.build, Build::Compat);
        // Of io_uring the request is not the first of two arguments here.
        assert_eq!(selection.missing, [Feature::FileFaults, Feature::IoUring]);
        selection.drop_faults();
        assert_eq!(selection.missing.len(), 2, "said once");
    }

    #[test]
    fn marks_without_atomic_operations_are_the_last_resort() {
        let linux_6_1 = select(&kernel(&[], false)).unwrap();
        assert_eq!((linux_6_1.build, linux_6_1.atomics), (Build::Compat, true));
        let oldest = linux_6_1.simpler().unwrap();
        assert_eq!((oldest.build, oldest.atomics), (Build::Compat, false));
        assert_eq!(oldest.simpler(), None);
        let linux_5_10 = KernelFeatures { atomics: false, ..kernel(&[], false) };
        assert_eq!(select(&linux_5_10).unwrap(), oldest);
        let full = select(&kernel(&[], true)).unwrap();
        let unwalked = full.simpler().expect("without what 6.7 has");
        assert_eq!((unwalked.build, unwalked.mappings), (Build::Full, false));
        assert_eq!(unwalked.simpler(), Some(linux_6_1));
    }

    #[test]
    fn one_program_for_each_signature() {
        let mut kernel = kernel(&["writeback_dirty_folio"], false);
        kernel.tracepoints.insert("block_bio_queue", point(2));
        kernel.tracepoints.insert("io_uring_complete", point(7));
        let selection = select(&kernel).unwrap();
        assert!(
            selection.programs.contains(&"bio_queued_old")
                && !selection.programs.contains(&"bio_queued")
        );
        assert!(selection.programs.contains(&"page_dirtied"));
        assert!(selection.programs.contains(&"uring_complete_old"));
    }

    #[test]
    fn a_build_is_expected_only_where_it_is_sure() {
        for (release, build) in [
            (Some((6, 2)), Some(Build::Full)),
            (Some((7, 0)), Some(Build::Full)),
            (Some((6, 1)), None),
            (Some((5, 14)), None),
            (None, None),
        ] {
            assert_eq!(Build::expected(release), build, "{release:?}");
        }
    }

    #[test]
    fn an_essential_tracepoint_is_named() {
        assert!(select(&kernel(&["sys_exit"], true)).unwrap_err().contains("sys_exit"));
    }
}
