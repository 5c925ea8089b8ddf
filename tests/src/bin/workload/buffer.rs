//! Page-aligned memory that is resident before the measured loop begins.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Enough for any device's direct I/O.
const ALIGNMENT: usize = 4096;

/// A buffer of a fixed size.
pub(super) struct Buffer {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the buffer owns its memory and hands it out by the borrow rules only.
unsafe impl Send for Buffer {}

impl Buffer {
    /// `len` bytes (at least one) with a pattern, so that every page is there.
    pub(super) fn new(len: usize) -> Self {
        let layout = Layout::from_size_align(len.max(1), ALIGNMENT)
            .unwrap_or_else(|_| Layout::new::<[u8; ALIGNMENT]>());
        // SAFETY: the layout's size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        let mut buffer = Self { start, layout };
        buffer.fill(0xa5);
        buffer
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` is valid and initialised for the layout's size as long as `self` lives.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: allocated by `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}
