//! What tracing does not see, and what it does to a command.

use hotset_facts::Reason;

/// Something that a traced command did and that tracing could not follow, or that tracing did not let it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TraceGap {
    /// It made a ring of io_uring: requests are no system calls.
    IoUring,
    /// It made calls of another word size, whose numbers mean something else.
    CompatCalls,
    /// It made a process that no tracer may follow (CLONE_UNTRACED).
    Untraced,
    /// A supervisor of its own answers its calls (SECCOMP_RET_USER_NOTIF).
    Supervised,
    /// The kernel does not say which call it stopped at.
    Untold,
    /// A process of it can't be looked at by this user, as one whose program nobody may read (prctl(PR_SET_DUMPABLE)).
    Closed,
    /// It wanted to trace a process, as strace and debuggers do: a process has one tracer.
    NoTracer,
    /// It executed a program with privileges of its own (setuid, setgid, file capabilities) without getting them.
    NoPrivileges,
}

impl TraceGap {
    /// Whether lookups and opens are more than those that were counted. Else all were, but the command may have done something else than it
    /// does without a tracer.
    pub fn hides_calls(self) -> bool {
        !matches!(self, Self::NoTracer | Self::NoPrivileges)
    }

    /// Why lookups and opens are not known, or what was otherwise.
    pub fn reason(self) -> Reason {
        match self {
            Self::IoUring => Reason::unsupported(
                "the command uses io_uring, whose opens and stats tracing does not see",
            ),
            Self::CompatCalls => Reason::unsupported(
                "the command makes calls of the i386 or x32 ABI, which tracing does not decode",
            ),
            Self::Untraced => Reason::unsupported(
                "the command made a process that may not be traced (CLONE_UNTRACED)",
            ),
            Self::Supervised => Reason::unsupported(
                "the command has a seccomp supervisor of its own, whose calls tracing does not see",
            ),
            Self::Untold => {
                Reason::unsupported("this kernel does not tell tracers about calls (Linux 5.3)")
            }
            Self::Closed => Reason::denied(
                "the command has a process that this user can't look at: its program is not readable, or it asked for that",
            ),
            Self::NoTracer => Reason::denied(
                "the command wanted to trace a process, which it can't while it is traced itself",
            ),
            Self::NoPrivileges => Reason::denied(
                "the command executed a setuid program, which gets no privileges while it is traced by a user",
            ),
        }
    }
}
