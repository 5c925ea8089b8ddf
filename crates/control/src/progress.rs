//! How far a command came, for whoever watches it.

/// Hears how far a command came. All of it may be called from any thread.
pub trait Progress: Sync {
    /// The work begins: at most so many bytes.
    fn begin(&self, total_bytes: u64);
    /// So many more bytes are done.
    fn advance(&self, bytes: u64);
}

/// Nobody watches.
impl Progress for () {
    fn begin(&self, _: u64) {}
    fn advance(&self, _: u64) {}
}
