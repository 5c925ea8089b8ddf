//! What an exporter counts of a program that reads a file, against what the program saw.

use std::path::Path;

use hotset_tests::{Evictions, PAGE};

/// What one run of the program was, in pages.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    /// That it requested.
    pub(crate) requested: f64,
    /// Of them from the device.
    pub(crate) device: f64,
    /// That the device read while it read the file, by its own account.
    pub(crate) of_file: f64,
}

/// How far they may differ, in pages.
pub(crate) struct Tolerance {
    /// Of the program's own: evicted, they are read for whoever executes it, and booked to it.
    code: f64,
    /// Of the file: evicted, the device reads them once more.
    file: f64,
}

impl Tolerance {
    /// None, unless others evicted pages of either.
    pub(crate) fn of(evictions: &Evictions, program: &Path, file: &Path) -> Self {
        let most = |path: &Path| match evictions.none() {
            true => 0.0,
            false => pages(path.metadata().expect("a file").len()),
        };
        Self { code: most(program), file: most(file) }
    }

    /// Holds a run against what it requested, and what of the file was not cached.
    pub(crate) fn assert_right(&self, what: &str, seen: Seen, requested: f64, uncached: f64) {
        let Seen { requested: asked, device, of_file } = seen;
        let within = |least: f64, most: f64, is: f64| (least..=most).contains(&is);
        assert!(
            within(requested - self.code, requested + self.code, asked),
            "{what}: requested {asked}"
        );
        assert!(
            within(uncached, uncached + self.file, of_file),
            "{what}: the device read {of_file}"
        );
        let beside = device - of_file;
        assert!(within(-self.file, self.code, beside), "{what}: {device}, of its file {of_file}");
    }
}

/// Whole pages.
pub(crate) fn pages(bytes: u64) -> f64 {
    (bytes / PAGE) as f64
}
