//! /proc/pressure: time in which tasks waited for a resource (PSI).

use std::path::Path;

use hotset_facts::{Observed, Reason};
use rustix::io::Errno;

use super::{Malformed, ProcError, decimal, lines, read_with};

/// psi=0, CONFIG_PSI_DEFAULT_DISABLED or no CONFIG_PSI.
const OFF: Reason = Reason::unsupported(
    "this kernel keeps no pressure information (PSI); it may need psi=1 at boot",
);
const DENIED: Reason = Reason::denied("/proc/pressure may not be read here");
const UNREADABLE: Reason = Reason::unsupported("/proc/pressure can't be read or understood");
const NO_LINE: Reason = Reason::unsupported("this kernel's /proc/pressure has no such line");

/// Nanoseconds since boot in which tasks waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stalled {
    /// Some task waited.
    pub some_ns: Observed<u64>,
    /// All tasks that could have run waited.
    pub full_ns: Observed<u64>,
}

impl Stalled {
    const fn missing(reason: Reason) -> Self {
        Self { some_ns: Observed::Missing(reason), full_ns: Observed::Missing(reason) }
    }
}

/// The time that was lost to `resource`: `memory`, `io` or `cpu`.
pub fn of(resource: &str) -> Stalled {
    match read_with(&Path::new("/proc/pressure").join(resource), parse) {
        Ok(Some(stalled)) => stalled,
        Ok(None) => Stalled::missing(OFF),
        Err(error) => Stalled::missing(why(&error)),
    }
}

fn why(error: &ProcError) -> Reason {
    match error {
        // What a kernel with PSI switched off answers to a read.
        ProcError::Read { error, .. } if Errno::from_io_error(error) == Some(Errno::OPNOTSUPP) => {
            OFF
        }
        error if error.is_denied() => DENIED,
        _ => UNREADABLE,
    }
}

/// Parses one file. A line is `some avg10=0.00 avg60=0.00 avg300=0.00 total=MICROSECONDS`
/// (Documentation/accounting/psi.rst); kernels before 5.13 have no `full` for the CPU.
pub fn parse(bytes: &[u8]) -> Result<Stalled, Malformed> {
    let mut stalled = Stalled::missing(NO_LINE);
    for (number, line) in lines(bytes) {
        let malformed = || Malformed::new(number, "a kind and total=MICROSECONDS", line);
        let mut words = line.split(|&byte| byte == b' ');
        let field = match words.next() {
            Some(b"some") => &mut stalled.some_ns,
            Some(b"full") => &mut stalled.full_ns,
            _ => continue,
        };
        let total = words.find_map(|word| word.strip_prefix(b"total=")).ok_or_else(malformed)?;
        let ns = decimal(total).and_then(|us| us.checked_mul(1_000)).ok_or_else(malformed)?;
        *field = Observed::Value(ns);
    }
    Ok(stalled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_lines_are_nanoseconds_and_a_missing_one_has_a_reason() {
        let both =
            b"some avg10=0.22 avg60=0.92 avg300=0.56 total=69190\nfull avg10=0.00 total=12\n";
        let stalled = parse(both).expect("pressure");
        assert_eq!(stalled.some_ns.value(), Some(69_190_000));
        assert_eq!(stalled.full_ns.value(), Some(12_000));
        let old = parse(b"some avg10=0.22 avg60=0.92 avg300=0.56 total=1\n").expect("pressure");
        assert_eq!(old.full_ns, Observed::Missing(NO_LINE));
    }

    #[test]
    fn what_is_no_number_is_refused_by_line() {
        assert_eq!(parse(b"some total=1\nfull avg10=0.00\n").expect_err("no total").line, 2);
        assert!(parse(b"some total=many\n").is_err());
        assert!(parse(b"some total=18446744073709551615\n").is_err(), "more than fits");
    }

    #[test]
    fn a_kernel_without_it_says_so() {
        assert_eq!(of("no-such-resource"), Stalled::missing(OFF));
        let answer = |errno: Errno| ProcError::Read { path: "p".into(), error: errno.into() };
        assert_eq!(why(&answer(Errno::OPNOTSUPP)), OFF);
        assert_eq!(why(&answer(Errno::ACCESS)), DENIED);
    }
}
