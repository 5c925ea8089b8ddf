//! Who counts the calls of a probe, in a run apart from the timed ones.

use crate::command::Invocation;

/// The calls of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CountedCalls {
    /// Calls that moved or tried to move data of the cell's files, or looked for files. Not those that load the program.
    pub calls: u64,
    /// The same by name, the names that probes use where they have one.
    pub by_name: Vec<(String, u64)>,
}

/// Runs a probe once and counts its calls: by the sensor, or else by tracing. The lab knows neither.
pub trait CallCounter {
    /// `sensor` or `trace`.
    fn method(&self) -> &'static str;

    /// Runs it. `files` are those whose calls count.
    ///
    /// # Errors
    /// Says why its calls can't be counted.
    fn count(
        &mut self,
        invocation: &Invocation,
        files: &[std::path::PathBuf],
    ) -> Result<CountedCalls, String>;
}
