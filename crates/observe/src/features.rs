//! What the running kernel offers a BPF program: facts only; [`crate::select`] decides what follows.

use std::collections::HashMap;

use crate::ObserveError;
use crate::btf::{Btf, Kind, Names, Type};
use crate::filebytes::FileBytes;

/// From this kernel on tasks are preempted in the middle of tracepoints (SRCU in place of disabled preemption).
const PREEMPTIBLE_SINCE: u32 = 7;

/// Where the kernel shows its own types.
const VMLINUX: &str = "/sys/kernel/btf/vmlinux";

/// The tracepoints that the sensor can use.
pub(crate) const TRACEPOINTS: [&str; 18] = [
    "sys_enter",
    "sys_exit",
    "mm_filemap_add_to_page_cache",
    "mm_filemap_delete_from_page_cache",
    "mm_filemap_fault",
    "mm_filemap_map_pages",
    "writeback_dirty_folio",
    "writeback_dirty_page",
    "block_bio_queue",
    "io_uring_submit_req",
    "io_uring_submit_sqe",
    "io_uring_complete",
    "iomap_dio_rw_begin",
    "iomap_dio_complete",
    "iomap_dio_invalidate_fail",
    "task_newtask",
    "sched_process_exec",
    "sched_process_exit",
];

/// What a tracepoint's type is called by, before its own name.
const TRACEPOINT_TYPE: &str = "btf_trace_";

/// Functions of the kernel that the full build calls; `enum hs_function` has the same order.
pub(crate) const FUNCTIONS: [&str; 6] = [
    "bpf_rdonly_cast",
    "bpf_preempt_disable",
    "bpf_preempt_enable",
    "bpf_iter_task_vma_new",
    "bpf_iter_task_vma_next",
    "bpf_iter_task_vma_destroy",
];

/// Those of [`FUNCTIONS`] by which the mappings of a process are walked: from here on, in Linux 6.7 and later.
const MAPPINGS_FROM: usize = 3;

/// A tracepoint of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tracepoint {
    pub(crate) arguments: usize,
    /// The number of its type, `btf_trace_X`.
    pub(crate) type_id: u32,
}

/// What the kernel's own type information tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelFeatures {
    /// Tracepoints of [`TRACEPOINTS`] that exist.
    pub(crate) tracepoints: HashMap<&'static str, Tracepoint>,
    /// The numbers of those of [`FUNCTIONS`] that exist.
    pub(crate) functions: [Option<u32>; FUNCTIONS.len()],
    /// `bpf_rdonly_cast` (6.2): kernel memory can be read by plain loads.
    pub(crate) read_only_cast: bool,
    /// Task local storage (5.11).
    pub(crate) task_storage: bool,
    /// Iterating over a task's mappings (6.7).
    pub(crate) mappings: bool,
    /// `bpf_loop` (5.17).
    pub(crate) bounded_loop: bool,
    /// Atomic operations that say what was there before (5.12); told by a helper that came with them.
    pub(crate) atomics: bool,
    /// Whether a task can be preempted in the middle of a program (7.0); the types don't tell, so the release does.
    pub(crate) preemptible: bool,
    /// Where things are that no kernel promises.
    pub(crate) layout: Layout,
}

/// Numbers of page flags, and where btrfs keeps a file's subvolume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// `PG_head`, which marks large folios.
    pub(crate) pg_head: u32,
    /// `PG_uptodate`: its content is there.
    pub(crate) pg_uptodate: u32,
    /// `PG_writeback`: it is being written.
    pub(crate) pg_writeback: u32,
    /// From `btrfs_inode.vfs_inode` to `btrfs_inode.root`, and `btrfs_root.anon_dev`; none where btrfs is not there.
    pub(crate) subvolume: Option<(i32, u32)>,
}

/// Where a module of this name shows its types.
const BTRFS: &str = "/sys/kernel/btf/btrfs";

/// `btrfs_inode` and `btrfs_root`, where they are seen.
#[derive(Debug, Default)]
struct Subvolumes {
    root: Option<i32>,
    dev: Option<u32>,
}

impl Subvolumes {
    fn see(&mut self, btf: &Btf<'_>, ty: &Type<'_>) {
        match ty.name {
            b"btrfs_inode" => {
                let places = ["root", "vfs_inode"].map(|name| btf.offset_of(ty, name.as_bytes()));
                if let [Some(root), Some(inode)] = places {
                    self.root = Some(root.wrapping_sub(inode).cast_signed());
                }
            }
            b"btrfs_root" => self.dev = btf.offset_of(ty, b"anon_dev"),
            _ => {}
        }
    }

    fn of_module(kernel: &Btf<'_>) -> Self {
        let mut found = Self::default();
        let Ok(bytes) = FileBytes::open(BTRFS) else { return found };
        if let Some(module) = Btf::parse_module(bytes.as_slice(), kernel) {
            let names = Names::new([b"btrfs_inode".as_slice(), b"btrfs_root"]);
            let structs = module.named(&names).into_iter().filter(|ty| ty.kind == Kind::Struct);
            structs.for_each(|ty| found.see(&module, &ty));
        }
        found
    }

    fn complete(self) -> Option<(i32, u32)> {
        self.root.zip(self.dev)
    }
}

/// The bytes of the kernel's types.
///
/// # Errors
/// [`ObserveError::NoBtf`] where the kernel was built without type information.
pub(crate) fn kernel_types() -> Result<FileBytes, ObserveError> {
    FileBytes::open(VMLINUX).map_err(|error| ObserveError::NoBtf(format!("{VMLINUX}: {error}")))
}

/// The types in these bytes.
///
/// # Errors
/// [`ObserveError::NoBtf`] where that is not what they are.
pub(crate) fn decode(bytes: &[u8]) -> Result<Btf<'_>, ObserveError> {
    decode_for(bytes, &[])
}

/// The same where beside [`KernelFeatures`] types of these names will be asked for: to find all takes no longer than a few.
pub(crate) fn decode_for<'a>(bytes: &'a [u8], others: &[&[u8]]) -> Result<Btf<'a>, ObserveError> {
    let names = names();
    let names = Names::new(names.iter().map(String::as_bytes).chain(others.iter().copied()));
    Btf::parse_for(bytes, names)
        .ok_or_else(|| ObserveError::NoBtf(format!("{VMLINUX} can't be decoded")))
}

/// The types that are looked at.
fn names() -> Vec<String> {
    let points = TRACEPOINTS.map(|point| format!("{TRACEPOINT_TYPE}{point}"));
    let others = ["pageflags", "bpf_func_id", "btrfs_inode", "btrfs_root"];
    points.into_iter().chain(others.into_iter().chain(FUNCTIONS).map(str::to_owned)).collect()
}

impl KernelFeatures {
    /// Reads them from `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// [`ObserveError::NoBtf`] where the kernel was built without type information.
    pub(crate) fn probe() -> Result<Self, ObserveError> {
        Ok(Self::of(&decode(kernel_types()?.as_slice())?))
    }

    /// What the types of the running kernel tell.
    pub(crate) fn of(btf: &Btf<'_>) -> Self {
        let mut found = Self::from_btf(btf);
        found.preemptible = release().is_some_and(|(major, _)| major >= PREEMPTIBLE_SINCE);
        found
    }

    fn from_btf(btf: &Btf<'_>) -> Self {
        let (mut found, mut subvolumes) = (Self::default(), Subvolumes::default());
        let names = names();
        for ty in btf.named(&Names::new(names.iter().map(String::as_bytes))) {
            match ty.kind {
                Kind::Typedef => {
                    let point = ty.name.strip_prefix(TRACEPOINT_TYPE.as_bytes());
                    let Some(point) = point else { continue };
                    let Some(known) = TRACEPOINTS.iter().find(|known| known.as_bytes() == point)
                    else {
                        continue;
                    };
                    if let Some(arguments) = argument_count(btf, ty.referenced) {
                        found.tracepoints.insert(known, Tracepoint { arguments, type_id: ty.id });
                    }
                }
                Kind::Func => {
                    let known = FUNCTIONS.iter().position(|known| known.as_bytes() == ty.name);
                    let Some(known) = known else { continue };
                    found.functions[known].get_or_insert(ty.id);
                }
                Kind::Enum if ty.name == b"pageflags" => {
                    found.layout = page_flags(btf, &ty);
                }
                Kind::Enum if ty.name == b"bpf_func_id" => {
                    for (helper, _) in btf.enumerators(&ty) {
                        found.task_storage |= helper == b"BPF_FUNC_task_storage_get";
                        found.bounded_loop |= helper == b"BPF_FUNC_loop";
                        found.atomics |= helper == b"BPF_FUNC_check_mtu";
                    }
                }
                Kind::Struct => subvolumes.see(btf, &ty),
                _ => {}
            }
        }
        found.read_only_cast = found.functions[0].is_some();
        found.mappings = found.functions[MAPPINGS_FROM..].iter().all(Option::is_some);
        found.layout.subvolume =
            subvolumes.complete().or_else(|| Subvolumes::of_module(btf).complete());
        found
    }
}

/// The first two numbers of the running kernel's release.
pub(crate) fn release() -> Option<(u32, u32)> {
    numbers(&rustix::system::uname().release().to_string_lossy())
}

/// The first two numbers of a release, such as 6 and 12 of `6.12.9-amd64`.
fn numbers(release: &str) -> Option<(u32, u32)> {
    let (major, rest) = release.split_once('.')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((major.parse().ok()?, rest[..end].parse().ok()?))
}

fn page_flags(btf: &Btf<'_>, ty: &Type<'_>) -> Layout {
    let mut layout = Layout::default();
    for (name, value) in btf.enumerators(ty) {
        match name {
            b"PG_head" => layout.pg_head = value,
            b"PG_uptodate" => layout.pg_uptodate = value,
            b"PG_writeback" => layout.pg_writeback = value,
            _ => {}
        }
    }
    layout
}

/// The arguments of a tracepoint: `btf_trace_X` is a pointer to a function whose first parameter is the probe's own.
fn argument_count(btf: &Btf<'_>, pointer: u32) -> Option<usize> {
    let pointer = btf.get(pointer).filter(|ty| ty.kind == Kind::Ptr)?;
    let function = btf.get(pointer.referenced).filter(|ty| ty.kind == Kind::FuncProto)?;
    Some(function.members.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_kernel_has_the_essential_ones() {
        let features = KernelFeatures::probe().expect("this kernel has BTF");
        let arguments = |name| features.tracepoints.get(name).map(|point| point.arguments);
        assert_eq!(arguments("sys_enter"), Some(2));
        assert_eq!(arguments("mm_filemap_add_to_page_cache"), Some(1));
        assert_eq!(arguments("task_newtask"), Some(2));
        let Layout { pg_head, pg_uptodate, pg_writeback, .. } = features.layout;
        assert!(pg_head > 0 && pg_uptodate > 0 && pg_writeback > 0, "{features:?}");
    }

    #[test]
    fn a_release_begins_with_two_numbers() {
        assert_eq!(numbers("7.2.13+deb14-cloud-amd64"), Some((7, 2)));
        assert_eq!(numbers("10.0"), Some((10, 0)));
        assert_eq!(numbers("7.0-rc3"), Some((7, 0)));
        assert_eq!(numbers("6.17+deb14-amd64"), Some((6, 17)));
        assert_eq!(numbers("generic"), None);
        assert_eq!(numbers("7.generic"), None);
    }

    #[test]
    fn garbage_is_no_kernel() {
        assert!(decode(b"not BTF").is_err());
    }
}
