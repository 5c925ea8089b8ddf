//! Memory for reads, aligned as O_DIRECT wants it.

use std::alloc::Layout;

use super::JobError;

/// Enough for every device: O_DIRECT asks for 512 or 4096 bytes.
const ALIGNMENT: usize = 4096;

/// Zeroed and touched memory that begins at a page.
#[derive(Debug)]
pub struct AlignedBuffer {
    start: *mut u8,
    layout: Layout,
}

impl AlignedBuffer {
    /// So many bytes. Nothing for 0 bytes, and where there is no memory.
    pub fn new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, ALIGNMENT).ok().filter(|_| bytes > 0)?;
        // SAFETY: the layout is not of size 0.
        let start = unsafe { std::alloc::alloc(layout) };
        if start.is_null() {
            return None;
        }
        // Written, so that no page of it is first touched between the clock's answers.
        // SAFETY: `bytes` bytes were allocated there.
        unsafe { start.write_bytes(0x5a, bytes) };
        Some(Self { start, layout })
    }

    /// The same for a job.
    pub(super) fn for_job(bytes: usize) -> Result<Self, JobError> {
        Self::new(bytes).ok_or_else(|| JobError::Argument(format!("no memory for {bytes} bytes")))
    }

    /// No bytes, and no memory.
    pub(crate) fn empty() -> Self {
        Self { start: std::ptr::without_provenance_mut(ALIGNMENT), layout: Layout::new::<()>() }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: allocated with this size, and written by `new`; or of no bytes, aligned and not null.
        unsafe { std::slice::from_raw_parts(self.start, self.layout.size()) }
    }

    /// Its bytes, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed as a whole.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.layout.size()) }
    }

    /// Where it begins, for calls that write to it.
    pub(crate) fn start(&mut self) -> *mut u8 {
        self.start
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if self.layout.size() > 0 {
            // SAFETY: allocated by `new` with this layout.
            unsafe { std::alloc::dealloc(self.start, self.layout) };
        }
    }
}
