//! Runs beside predictions, as lines of text.

use hotset_sizing_runs::Errors;

/// A run: what the device read, and what was predicted.
pub(super) struct Line {
    pub(super) policy: &'static str,
    pub(super) name: String,
    /// Pages of the whole control group.
    pub(super) limit_pages: u64,
    /// Pages that were asked for.
    pub(super) pages: u64,
    /// Pages that the device read; those that nobody asked for too.
    pub(super) measured: u64,
    /// The same, predicted by the policy of the kernel.
    pub(super) predicted: u64,
    /// The same, predicted by exact LRU.
    pub(super) lru: u64,
}

impl Line {
    /// Predicted less measured hit ratio, in points.
    pub(super) fn points(&self) -> f64 {
        self.hits(self.predicted) - self.hits(self.measured)
    }

    fn lru_points(&self) -> f64 {
        self.hits(self.lru) - self.hits(self.measured)
    }

    /// Pages that did not come from the device, in percent of those that were asked for.
    fn hits(&self, read: u64) -> f64 {
        100.0 - read as f64 / self.pages as f64 * 100.0
    }
}

/// Prints a line a run, and the errors of all.
pub(super) fn print(title: &str, lines: &[&Line]) {
    println!(
        "  {title:<34} {:>8}  {:>8}  {:>9}  {:>6}  exact LRU",
        "limit", "measured", "predicted", "error"
    );
    for line in lines {
        println!(
            "    {:<8} {:<23} {:>4} MiB  {:>6.2} %   {:>6.2} %  {:>6.2}  {:>9.2}",
            line.policy,
            line.name,
            (line.limit_pages * hotset_sizing::PAGE_BYTES) >> 20,
            line.hits(line.measured),
            line.hits(line.predicted),
            line.points(),
            line.lru_points(),
        );
    }
    let (found, lru) = (
        Errors::of(lines.iter().map(|line| line.points())),
        Errors::of(lines.iter().map(|line| line.lru_points())),
    );
    println!(
        "    {} runs: mean error {:.2} points, worst {:.2}; exact LRU {:.2} and {:.2}",
        found.runs, found.mean, found.worst, lru.mean, lru.worst
    );
}
