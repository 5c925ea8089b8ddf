//! /proc/vmstat: what the kernel's memory management counted since boot.

use std::path::Path;

use super::{Malformed, ProcError, decimal, lines, read_with, split_once};

const PATH: &str = "/proc/vmstat";

/// The counters that hotset uses, in pages since boot; nothing where this kernel doesn't have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VmStat {
    /// `workingset_refault_file`: pages of files that were read back after they had been evicted. Linux 5.9.
    pub refaulted_file: Option<u64>,
    /// `pgsteal_file`: pages of files that reclaim took. Linux 5.8.
    pub stolen_file: Option<u64>,
    /// `nr_written`: pages whose write-back ended. Each CPU hands on what it counted about once a second.
    pub written: Option<u64>,
}

/// The counters now.
///
/// # Errors
/// Where /proc is not mounted, or says something else than it does everywhere.
pub fn now() -> Result<VmStat, ProcError> {
    Ok(read_with(Path::new(PATH), parse)?.unwrap_or_default())
}

/// Parses the whole file. Lines that are not known are passed over, and one that is missing is no error: names come and go
/// with kernels.
pub fn parse(bytes: &[u8]) -> Result<VmStat, Malformed> {
    let mut stat = VmStat::default();
    for (number, line) in lines(bytes) {
        let malformed = || Malformed::new(number, "a name, a space and a number", line);
        let (name, value) = split_once(line, b' ').ok_or_else(malformed)?;
        let field = match name {
            b"workingset_refault_file" => &mut stat.refaulted_file,
            b"pgsteal_file" => &mut stat.stolen_file,
            b"nr_written" => &mut stat.written,
            _ => continue,
        };
        *field = Some(decimal(value.trim_ascii()).ok_or_else(malformed)?);
    }
    Ok(stat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_counters_are_taken_and_a_missing_one_is_none() {
        let stat = parse(b"nr_free_pages 5\nnr_written 600\nworkingset_refault_file 7\n").unwrap();
        assert_eq!(stat, VmStat { refaulted_file: Some(7), stolen_file: None, written: Some(600) });
        assert_eq!(parse(b"").unwrap(), VmStat::default());
    }

    #[test]
    fn what_is_no_number_is_refused_by_line() {
        let error = parse(b"nr_free_pages 5\nnr_written -600\n").expect_err("negative");
        assert_eq!((error.line, error.found.as_str()), (2, "nr_written -600"));
        assert_eq!(parse(b"nr_written\n").expect_err("no number").line, 1);
    }

    #[test]
    fn this_host_has_written_something() {
        assert!(now().expect("vmstat").written.is_some_and(|pages| pages > 0));
    }
}
