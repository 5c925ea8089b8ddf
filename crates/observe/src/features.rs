//! What the running kernel offers a BPF program: facts only; [`crate::select`] decides what follows.

use std::collections::HashMap;
use std::ffi::OsStr;

use libbpf_rs::btf::types::{Enum, Func, FuncProto, Ptr, Typedef};
use libbpf_rs::btf::{Btf, BtfKind, BtfType, TypeId};

use crate::ObserveError;

/// The tracepoints that the sensor can use.
pub(crate) const TRACEPOINTS: [&str; 16] = [
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
    "task_newtask",
    "sched_process_exec",
    "sched_process_exit",
    "mm_filemap_get_pages",
];

/// What the kernel's own type information tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KernelFeatures {
    /// Tracepoints of [`TRACEPOINTS`] that exist, with the number of their arguments.
    pub(crate) tracepoints: HashMap<&'static str, usize>,
    /// `bpf_rdonly_cast` (6.2): kernel memory can be read by plain loads.
    pub(crate) read_only_cast: bool,
    /// Task local storage (5.11).
    pub(crate) task_storage: bool,
    /// `bpf_loop` (5.17).
    pub(crate) bounded_loop: bool,
}

impl KernelFeatures {
    /// Reads them from `/sys/kernel/btf/vmlinux`.
    ///
    /// # Errors
    /// [`ObserveError::NoBtf`] where the kernel was built without type information.
    pub(crate) fn probe() -> Result<Self, ObserveError> {
        let btf = Btf::from_vmlinux().map_err(|error| ObserveError::NoBtf(error.to_string()))?;
        let mut found = Self::default();
        for id in 1..btf.len() as u32 {
            if let Some(ty) = btf.type_by_id::<BtfType<'_>>(TypeId::from(id)) {
                found.look_at(&btf, ty);
            }
        }
        Ok(found)
    }

    fn look_at(&mut self, btf: &Btf<'_>, ty: BtfType<'_>) {
        let Some(name) = ty.name().and_then(OsStr::to_str) else { return };
        match ty.kind() {
            BtfKind::Typedef => {
                let Some(point) = name.strip_prefix("btf_trace_") else { return };
                let Some(known) = TRACEPOINTS.iter().find(|known| **known == point) else { return };
                if let Some(arguments) = argument_count(btf, ty) {
                    self.tracepoints.insert(known, arguments);
                }
            }
            BtfKind::Func if name == "bpf_rdonly_cast" => self.read_only_cast = Func::try_from(ty).is_ok(),
            BtfKind::Enum if name == "bpf_func_id" => {
                let Ok(helpers) = Enum::try_from(ty) else { return };
                for helper in helpers.iter().filter_map(|helper| helper.name?.to_str()) {
                    self.task_storage |= helper == "BPF_FUNC_task_storage_get";
                    self.bounded_loop |= helper == "BPF_FUNC_loop";
                }
            }
            _ => {}
        }
    }
}

/// The arguments of a tracepoint: `btf_trace_X` is a pointer to a function whose first parameter is the probe's own.
fn argument_count(btf: &Btf<'_>, ty: BtfType<'_>) -> Option<usize> {
    use libbpf_rs::ReferencesType;
    let pointer: Ptr<'_> = btf.type_by_id(Typedef::try_from(ty).ok()?.referenced_type_id())?;
    let function: FuncProto<'_> = btf.type_by_id(pointer.referenced_type_id())?;
    Some(function.len().saturating_sub(1))
}
