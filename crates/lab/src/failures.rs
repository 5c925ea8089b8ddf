//! Which ends of a command are no failure.

use hotset_facts::ExitStatus;

/// Exit codes besides 0 with which a run counts, and does not end the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum IgnoredFailures {
    /// None: the first failure ends the session.
    #[default]
    None,
    /// All, and signals.
    All,
    /// Only these codes.
    Codes(Vec<i32>),
}

impl IgnoredFailures {
    /// True if a run that ended so ends the session.
    pub fn is_failure(&self, exit: ExitStatus) -> bool {
        match (self, exit) {
            (_, ExitStatus::Code(0)) | (Self::All, _) => false,
            (Self::Codes(codes), ExitStatus::Code(code)) => !codes.contains(&code),
            // As a shell tells it, and as the exit status of `bench` itself does.
            (Self::Codes(codes), ExitStatus::Signal(signal)) => !codes.contains(&(128 + signal)),
            (Self::None, _) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_no_failure() {
        let [success, one, killed] =
            [ExitStatus::Code(0), ExitStatus::Code(1), ExitStatus::Signal(9)];
        let codes = IgnoredFailures::Codes(vec![1, 3]);
        for (ignored, wanted) in [
            (IgnoredFailures::None, [false, true, true]),
            (IgnoredFailures::All, [false; 3]),
            (codes, [false, false, true]),
        ] {
            assert_eq!([success, one, killed].map(|exit| ignored.is_failure(exit)), wanted);
        }
        assert!(IgnoredFailures::Codes(vec![2]).is_failure(one));
        assert!(!IgnoredFailures::Codes(vec![137]).is_failure(killed));
    }
}
