//! What crosses from the BPF programs: the mirror of `bpf/include/record.h`.
//!
//! A test compares every structure of it, here and in `event`, field by field, with the types that clang wrote into the object.

use hotset_facts::{Dev, FileId, HISTOGRAM_BOUNDS};

/// The inode number in the row of what was done to all file systems (sync).
pub(crate) const ALL_FILE_SYSTEMS: u64 = 1;
pub(crate) const HISTOGRAM_BUCKETS: usize = HISTOGRAM_BOUNDS.len() + 1;
pub(crate) const SYSCALLS: usize = 512;
pub(crate) const PLANES: usize = 8;
pub(crate) const PLANE_AHEAD: usize = 0;
pub(crate) const PLANE_UNFILLED: usize = 6;
pub(crate) const CHUNK_WORDS: usize = 4;

/// Types that are plain memory: any bytes of the right length are a valid value.
///
/// # Safety
/// Implement only for `repr(C)` types of integers and arrays of them, without padding.
pub(crate) unsafe trait Plain: Copy {}

// SAFETY: integers.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}

/// A value of zeros.
pub(crate) fn zeroed<T: Plain>() -> T {
    // SAFETY: any bytes are a `Plain` value.
    unsafe { std::mem::zeroed() }
}

/// Reads a value from the front of `bytes`; `None` where they are too few.
pub(crate) fn read<T: Plain>(bytes: &[u8]) -> Option<T> {
    let mut value = zeroed();
    bytes_of_mut(&mut value).copy_from_slice(bytes.get(..size_of::<T>())?);
    Some(value)
}

/// The slot of an owner in the sensor's table of processes; above it stands how often the slot was used before.
pub(crate) const OWNER_SLOTS: u32 = 32_768;
/// Marks a row that was released.
pub(crate) const NO_OWNER: u32 = u32::MAX;

/// The bytes of a value, for the kernel.
pub(crate) fn bytes_of<T: Plain>(value: &T) -> &[u8] {
    // SAFETY: `Plain` types are initialised memory of exactly this size.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}

/// The bytes of a value, for the kernel to write.
pub(crate) fn bytes_of_mut<T: Plain>(value: &mut T) -> &mut [u8] {
    // SAFETY: as above, and any bytes are a value again.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(value).cast(), size_of::<T>()) }
}

macro_rules! mirror {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $name {
            $(pub(crate) $field: $ty,)*
        }

        // The kernel is handed its bytes, so each has to belong to a field.
        const _: () = assert!(size_of::<$name>() == 0 $(+ size_of::<$ty>())*, "padding");

        // SAFETY: integers and arrays of integers only, and no padding between them.
        unsafe impl Plain for $name {}

        #[cfg(test)]
        impl $name {
            /// Name, offset and size of each field.
            pub(crate) fn layout() -> Vec<(&'static str, usize, usize)> {
                vec![$((stringify!($field), std::mem::offset_of!($name, $field), size_of::<$ty>()),)*]
            }
        }
    };
}

pub(crate) use mirror;

mirror! {
    /// The read-only configuration.
    Config {
        kinds: [u8; SYSCALLS],
        scope: u32,
        self_tgid: u32,
        max_rows: u32,
        pg_head: u32,
        pg_uptodate: u32,
        pg_writeback: u32,
        subvolume: i32,
        subvolume_dev: u32,
        live: u32,
        names: u32,
        preemptible: u32,
        cgroup_v1: u32,
        free_mask: u32,
        file_rows: u32,
        block_layer: u32,
        direct_told: u32,
        record: u32,
        record_pages: u32,
        wake_bytes: u32,
        stack_bytes: u32,
        stop_bytes: u32,
        code_told: u32,
        five_levels: u32,
        physical_bits: u32,
        sampling: u32,
        lookups: u32,
    }
}

mirror! {
    /// Losses and what could not be decoded.
    Globals {
        next_row: u64,
        rows_lost: u64,
        processes_lost: u64,
        chunks: u64,
        chunks_lost: u64,
        events_lost: u64,
        tasks_lost: u64,
        requests_lost: u64,
        compat_calls: u64,
        shared_copies: u64,
        uring_unknown: u64,
        uring_silent: u64,
        uring_paths: u64,
        aio_pending: u64,
        aio_unseen: u64,
        next_process: u64,
        free_rows_head: u64,
        free_rows_tail: u64,
        free_owners_head: u64,
        free_owners_tail: u64,
        evicted: u64,
        rescued: u64,
        marks_raced: u64,
        subvolumes_unknown: u64,
        delayed_reads: u64,
        ops_lost: u64,
        stacks_lost: u64,
        stops: u64,
        ops_pending: i64,
        direct_map: u64,
        sample_exponent: u64,
        samples_lost: u64,
        other_lookups: u64,
        other_lookups_failed: u64,
    }
}

mirror! {
    /// Which file: a number that is used again comes with another generation.
    #[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
    FileKey {
        ino: u64,
        dev: u32,
        generation: u32,
    }
}

impl FileKey {
    /// Stands for what has no file at hand.
    pub(crate) const NONE: Self = Self { ino: 0, dev: 0, generation: 0 };

    /// The file as facts know it.
    pub(crate) fn id(self) -> FileId {
        let is_file = self.dev != 0 && self.ino != 0;
        let generation = is_file.then_some(self.generation);
        FileId { dev: Dev::from_kernel(self.dev), ino: self.ino, generation }
    }
}

mirror! {
    /// A reference to a page that is in the sample.
    Sample {
        hash: u64,
        owner: u32,
        kind: u32,
    }
}

mirror! {
    /// Which process, which file.
    #[derive(PartialEq, Eq, Hash)]
    RowKey {
        file: FileKey,
        owner: u32,
        pad: u32,
    }
}

impl RowKey {
    /// Of the row of everything beyond the bound.
    pub(crate) const OTHERS: Self = Self { file: FileKey::NONE, owner: 0, pad: 0 };
}

mirror! {
    /// What one process did to one file.
    Row {
        owner: u32,
        mode: u16,
        named: u16,
        file: FileKey,
        read_calls: u64,
        read_bytes: u64,
        read_pages: u64,
        hit_ns: u64,
        read_sequential: u64,
        read_next: u64,
        read_histogram: [u32; HISTOGRAM_BUCKETS],
        opens: u64,
        read_misses: u64,
        read_ra_hits: u64,
        read_refaults: u64,
        wait_ns: u64,
        miss_ns: u64,
        ra_pages: u64,
        device_read_bytes: u64,
        device_write_bytes: u64,
        write_calls: u64,
        write_bytes: u64,
        write_pages: u64,
        write_new: u64,
        write_misses: u64,
        write_dirtied: u64,
        write_sequential: u64,
        write_next: u64,
        write_ns: u64,
        faults: u64,
        major_faults: u64,
        fault_pages: u64,
        fault_ns: u64,
        direct_read_calls: u64,
        direct_read_bytes: u64,
        direct_reread_bytes: u64,
        direct_write_calls: u64,
        direct_write_bytes: u64,
        direct_ns: u64,
        sync_calls: u64,
        sync_ns: u64,
        write_histogram: [u32; HISTOGRAM_BUCKETS],
        read_zeros: u64,
        fault_filled: u64,
        direct_reread_ns: u64,
        mounted: u32,
        past_cache: u32,
        pad: [u64; 1],
    }
}

mirror! {
    /// One process: who it is, its lookups and faults.
    Process {
        lookups: u64,
        lookups_failed: u64,
        lookup_ns: u64,
        lookup_failed_ns: u64,
        minor_faults: u64,
        major_faults: u64,
        cgroup: u64,
        referring_faults: u64,
        samples_lost: u64,
        tgid: u32,
        ppid: u32,
        uid: u32,
        ended: u32,
        comm: [u8; 16],
        owner: u32,
        pad: u32,
    }
}

mirror! {
    /// What became of a file's pages.
    File {
        evicted: u64,
        wasted: u64,
        dropped: u64,
        dropped_by_run: u64,
        last_writer: RowKey,
    }
}

mirror! {
    /// 256 pages of a file.
    #[derive(PartialEq, Eq, Hash)]
    ChunkKey {
        file: FileKey,
        chunk: u32,
        pad: u32,
    }
}

mirror! {
    /// A bit a page in each plane.
    Chunk {
        bits: [[u64; CHUNK_WORDS]; PLANES],
    }
}
