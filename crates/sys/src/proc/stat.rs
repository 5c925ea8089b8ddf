//! /proc/PID/stat: who a process is, and its faults and times.

use std::path::PathBuf;

use hotset_facts::Pid;

use super::{Malformed, ProcError, decimal, read_with};

/// A process (or thread) as its stat line tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its id.
    pub pid: Pid,
    /// The kernel's short name for it; any bytes, parentheses and spaces included.
    pub comm: String,
    /// `R` running, `S` sleeping, `D` waiting for I/O, `Z` exited and not yet waited for, and others.
    pub state: char,
    /// Its parent's id.
    pub ppid: Pid,
    /// The kernel's flags of it, `PF_*` in linux/sched.h.
    flags: u64,
    /// Minor faults.
    pub minor_faults: u64,
    /// Major faults.
    pub major_faults: u64,
    /// User CPU time in clock ticks; see [`ticks_to_ns`].
    pub user_ticks: u64,
    /// System CPU time in clock ticks.
    pub system_ticks: u64,
    /// How many threads it has.
    pub threads: u64,
    /// When it started, in clock ticks since boot: with the id, the identity of a process.
    pub start_ticks: u64,
    /// Where its first stack began when its program was started, which an exec changes as a rule; nothing where the kernel
    /// doesn't show it to the caller.
    pub stack_start: Option<u64>,
}

/// It is exiting, or has.
const PF_EXITING: u64 = 0x4;

impl Stat {
    /// True from the beginning of its exit, before its files are closed and its memory is given back, until somebody has waited for it. Of a
    /// process, its first thread's, which can leave others behind.
    pub fn is_exiting(&self) -> bool {
        self.flags & PF_EXITING != 0
    }

    /// False for a process that has exited, though nobody may have waited for it yet.
    pub fn is_alive(&self) -> bool {
        // A first thread that left the others behind is a zombie with threads.
        !matches!(self.state, 'Z' | 'X' | 'x') || self.threads > 1
    }
}

/// Nanoseconds of so many clock ticks.
pub fn ticks_to_ns(ticks: u64) -> u64 {
    let hertz = rustix::param::clock_ticks_per_second().max(1);
    ticks.saturating_mul(1_000_000_000 / hertz)
}

/// The stat line of `pid`, or nothing where it is gone.
pub fn of(pid: Pid) -> Result<Option<Stat>, ProcError> {
    read_with(&PathBuf::from(format!("/proc/{pid}/stat")), parse)
}

/// Parses the whole file.
pub fn parse(bytes: &[u8]) -> Result<Stat, Malformed> {
    parse_line(bytes.trim_ascii_end())
        .ok_or_else(|| Malformed::new(1, "a process as proc_pid_stat(5) describes it", bytes))
}

fn parse_line(line: &[u8]) -> Option<Stat> {
    // The name can hold anything, so it ends at the last parenthesis.
    let open = line.iter().position(|&byte| byte == b'(')?;
    let close = line.iter().rposition(|&byte| byte == b')')?;
    let pid = decimal(line[..open].trim_ascii())?;
    let comm = line.get(open + 1..close)?;
    let fields: Vec<&[u8]> = line[close + 1..].trim_ascii().split(|&byte| byte == b' ').collect();
    // Numbers as in proc_pid_stat(5), where the state is field 3.
    let field = |number: usize| fields.get(number - 3).copied();
    let number = |index: usize| decimal(field(index)?);
    Some(Stat {
        pid: pid.try_into().ok()?,
        comm: String::from_utf8_lossy(comm).into_owned(),
        state: char::from(*field(3)?.first()?),
        ppid: number(4)?.try_into().ok()?,
        flags: number(9)?,
        minor_faults: number(10)?,
        major_faults: number(12)?,
        user_ticks: number(14)?,
        system_ticks: number(15)?,
        threads: number(20)?,
        start_ticks: number(22)?,
        stack_start: number(28).filter(|&address| address != 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses() {
        let line =
            b"42 (a) b) (c) S 7 42 42 0 -1 4194304 11 12 13 14 15 16 17 18 20 0 3 0 99 1 2\n";
        let stat = parse(line).expect("stat");
        assert_eq!(stat.comm, "a) b) (c");
        assert_eq!((stat.pid, stat.ppid, stat.state), (42, 7, 'S'));
        assert_eq!((stat.minor_faults, stat.major_faults), (11, 13));
        assert_eq!((stat.user_ticks, stat.system_ticks), (15, 16));
        assert_eq!((stat.threads, stat.start_ticks), (3, 99));
        assert_eq!(stat.stack_start, None);
    }

    #[test]
    fn what_is_cut_off_is_malformed() {
        assert!(parse(b"42 (x) S 7").is_err());
        assert!(parse(b"").is_err());
        assert!(parse(b"1 )x( S").is_err());
    }

    #[test]
    fn this_process_is_alive() {
        let own = of(std::process::id()).expect("stat").expect("this process");
        assert_eq!(own.pid, std::process::id());
        assert!(own.is_alive() && !own.is_exiting());
        assert!(own.stack_start.is_some());
    }
}
