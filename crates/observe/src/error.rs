//! Why the sensor could not be used.

use std::io;

use hotset_sys::userns::as_root_or_with_capabilities;

/// As many files as loading the sensor may have open, with room to spare: a table and a program is one each.
const OPEN_FILES: u32 = 256;

/// What libbpf says of an error is only where it was; the reason is the last of its causes.
fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

/// A failure of the sensor; the run can go on without it.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The kernel has no type information.
    #[error(
        "the kernel offers no BTF ({0}); it needs CONFIG_DEBUG_INFO_BTF=y and /sys/kernel/btf/vmlinux"
    )]
    NoBtf(String),
    /// A tracepoint that everything rests on is missing.
    #[error("the kernel lacks {0}")]
    NoTracepoint(String),
    /// The kernel refused to load the programs.
    #[error("the kernel refused the sensor: {reason}{advice}")]
    Refused {
        /// What the kernel or libbpf said.
        reason: String,
        /// What to do about it, or nothing; begins with a separator.
        advice: String,
        /// Whether permission was the reason.
        denied: bool,
    },
    /// Nothing can be asked of processes.
    #[error("cannot read /proc/self/ns/pid ({0}); mount /proc: mount -t proc proc /proc")]
    NoProc(io::Error),
    /// Numbers of processes mean something else here than in the kernel.
    #[error(
        "cannot map PIDs of {what} in this PID namespace; run hotset in the host's (docker run --pid=host)"
    )]
    PidNamespace {
        /// What was asked for.
        what: &'static str,
    },
    /// A control group can't be observed.
    #[error("{path}: {reason}")]
    Cgroup {
        /// The control group's directory.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The kernel is too old for a part of hotset.
    #[error("the kernel lacks {0}")]
    TooOld(&'static str),
    /// The kernel's lists changed faster than they could be followed.
    #[error("{0} changed while it was read, {1} times in a row; try again")]
    Unsettled(&'static str, u32),
    /// A map of the sensor could not be read or written.
    #[error("the sensor's table {table}: {reason}")]
    Table {
        /// Which one.
        table: &'static str,
        /// What libbpf said.
        reason: String,
    },
}

impl ObserveError {
    /// Whether more rights would help.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Refused { denied: true, .. })
    }

    /// Whether it says what to do, so that nobody else has to.
    pub fn has_advice(&self) -> bool {
        match self {
            Self::Refused { advice, .. } => !advice.is_empty(),
            Self::NoBtf(_) | Self::NoProc(_) | Self::PidNamespace { .. } => true,
            _ => false,
        }
    }

    pub(crate) fn refused(error: &libbpf_rs::Error) -> Self {
        let reason = with_causes(error);
        let because_of = |errno: i32| reason.contains(&format!("(os error {errno})"));
        // The verifier's refusal has the same kind; only EPERM is about rights.
        let denied = error.kind() == libbpf_rs::ErrorKind::PermissionDenied
            && (because_of(libc::EPERM) || !rustix::process::geteuid().is_root());
        let advice = if denied {
            format!("; {}", as_root_or_with_capabilities())
        } else if because_of(libc::EMFILE) {
            format!("; allow {OPEN_FILES} open files: ulimit -n {OPEN_FILES}")
        } else {
            String::new()
        };
        Self::Refused { reason, advice, denied }
    }

    pub(crate) fn table(table: &'static str, error: impl std::fmt::Display) -> Self {
        Self::Table { table, reason: error.to_string() }
    }
}
