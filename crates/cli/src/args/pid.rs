//! Numbers of processes.

use hotset_facts::units::number;

/// Reads the number of a process.
pub(super) fn pid(text: &str) -> Result<u32, String> {
    // PID_MAX_LIMIT of include/linux/threads.h.
    const LARGEST: u32 = 1 << 22;
    number(1..=LARGEST)(text).map_err(|_| format!("expected a PID, from 1 to {LARGEST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_process_has_is_refused() {
        assert_eq!(pid("4194304"), Ok(4_194_304));
        assert!(pid("0").is_err() && pid("4194305").is_err() && pid("self").is_err());
    }
}
