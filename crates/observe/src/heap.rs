//! For tests: what a thread holds on the heap, and the most that it held.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static COUNTED: Counted = Counted;

struct Counted;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// What glibc takes for a block: 8 bytes before it, and multiples of 16, 32 at least.
fn block(bytes: usize) -> isize {
    (bytes + 8).next_multiple_of(16).max(32).cast_signed()
}

fn grow(by: isize) {
    // A thread that ends frees without being counted.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + by);
        MOST.with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: all is done by the system's allocator; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(block(layout.size()));
        // SAFETY: what holds for the caller of this holds for the system's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        grow(-block(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        grow(block(size) - block(layout.size()));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// The most bytes that this thread held on the heap while `run` ran, beyond what it held before.
pub(crate) fn peak_of<T>(run: impl FnOnce() -> T) -> (usize, T) {
    let before = HELD.get();
    MOST.set(before);
    let result = run();
    ((MOST.get() - before).unsigned_abs(), result)
}
