//! What a sample must show to count.

/// What a sample must show to count. `None` asks nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expects {
    /// Exactly so many bytes moved (`wrong-count`).
    pub bytes: Option<u64>,
    /// Exactly so many operations (`wrong-count`).
    pub operations: Option<u64>,
    /// Exactly these counts of what the probe believes to have called, by name (`wrong-count`).
    pub calls: Vec<(&'static str, u64)>,
    /// Bounds of the read calls that the kernel counted (`syscr`), both inclusive (`calls-not-confirmed`). Shows that a
    /// method really happened: that a library used the buffer that it was given.
    pub read_calls: Option<(u64, u64)>,
    /// The same for write calls (`syscw`).
    pub write_calls: Option<(u64, u64)>,
    /// At least so many bytes from the device (`too-few-device-bytes`): cold cells.
    pub min_device_bytes: Option<u64>,
    /// At most so many bytes from the device (`device-reads-while-warm`): 0 in warm cells.
    pub max_device_bytes: Option<u64>,
    /// At most so many major faults (`major-faults-while-warm`): 0 in warm cells.
    pub max_major_faults: Option<u64>,
    /// Pages that a sample brings into the cache at least; where its CPU time is more than twice that of the cell's median
    /// sample, the guest's memory was probably not backed by its host yet (`slow-pages`).
    pub inserted_pages: Option<u64>,
}

impl Expects {
    /// Warm: nothing from the device, no fault that reads.
    pub fn warm() -> Self {
        Self { max_device_bytes: Some(0), max_major_faults: Some(0), ..Self::default() }
    }

    /// Cold: at least 95 % of these bytes come from the device.
    pub fn cold(bytes: u64) -> Self {
        let min_device_bytes = Some(bytes / 100 * 95);
        let inserted_pages = Some(hotset_sys::pages_of(bytes));
        Self { min_device_bytes, inserted_pages, ..Self::default() }
    }
}
