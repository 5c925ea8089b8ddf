//! The jobs that a native probe can do, in one table. A module adds its own by a line here.

mod reread;

use hotset_sys::rawio::{Job, access, buffered, stream};

/// Every module's jobs.
const TABLES: &[&[Job]] = &[access::JOBS, reread::JOBS, buffered::JOBS, stream::JOBS];

/// The job of a name.
pub(super) fn job(name: &str) -> Option<Job> {
    TABLES.iter().flat_map(|table| table.iter()).copied().find(|(known, _)| *known == name)
}

/// All names.
pub(super) fn names() -> Vec<&'static str> {
    TABLES.iter().flat_map(|table| table.iter()).map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_has_a_name_of_its_own() {
        let mut names = names();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(job("access").is_some() && job("sweep").is_none());
    }
}
