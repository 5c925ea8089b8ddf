//! Whether perf events are given to this process: tried, for distributions ask for more than the kernel does.

use std::io;

use hotset_facts::{Capability, Verdict};
use rustix::io::Errno;

use super::{supported, text_of, unsupported};
use crate::perf_event::{self, MAJOR_FAULTS};
use crate::userns::as_root_or_with_capabilities;

const PARANOID: &str = "/proc/sys/kernel/perf_event_paranoid";
/// The highest level that the kernel itself knows (Documentation/admin-guide/sysctl/kernel.rst). Above it, Debian's kernel gives events to nobody
/// without CAP_SYS_ADMIN, whoever has CAP_PERFMON; Ubuntu's gives them to CAP_PERFMON at any level (tried on 6.1, 6.12 and 6.8).
const HIGHEST_LEVEL: i32 = 2;

pub(super) fn perf_events() -> Capability {
    let tried = i32::try_from(rustix::thread::sched_getcpu())
        .map_err(io::Error::other)
        .and_then(|cpu| perf_event::open(MAJOR_FAULTS, -1, cpu))
        .map(drop);
    told(tried, text_of(PARANOID).ok().as_deref())
}

fn told(tried: io::Result<()>, level: Option<&str>) -> Capability {
    let name = ("perf_events", "faults can be timed with perf events");
    let setting = match level {
        Some(level) => format!("kernel.perf_event_paranoid = {level}"),
        None => format!("{PARANOID} can't be read"),
    };
    let error = match tried {
        Ok(()) => return supported(name, setting),
        Err(error) => error,
    };
    let consequence = "faults on mapped files are not counted";
    unsupported(
        name,
        Verdict::No,
        format!("{setting}: {error}"),
        consequence,
        remedy(&error, level),
    )
}

fn remedy(error: &io::Error, level: Option<&str>) -> &'static str {
    if Errno::from_io_error(error) == Some(Errno::NOSYS) || level.is_none() {
        return "use a kernel built with CONFIG_PERF_EVENTS=y";
    }
    if level.and_then(|level| level.parse::<i32>().ok()).is_some_and(|level| level > HIGHEST_LEVEL)
    {
        return "run hotset as root, or with CAP_PERFMON and, on Debian, sysctl kernel.perf_event_paranoid=2 (above that, its kernel asks for CAP_SYS_ADMIN)";
    }
    if Errno::from_io_error(error) == Some(Errno::PERM) {
        return "a seccomp profile forbids perf_event_open(2), as those of containers do: use one that allows it";
    }
    as_root_or_with_capabilities()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(errno: Errno, level: Option<&str>) -> Capability {
        told(Err(errno.into()), level)
    }

    #[test]
    fn what_was_opened_is_there_whatever_the_level() {
        let there = told(Ok(()), Some("4"));
        assert_eq!(there.verdict, Verdict::Yes);
        assert_eq!(there.detail, "kernel.perf_event_paranoid = 4");
    }

    #[test]
    fn above_the_kernels_own_levels_the_level_is_the_remedy() {
        let strict = refused(Errno::ACCESS, Some("3"));
        assert_eq!(strict.verdict, Verdict::No);
        assert!(strict.detail.contains("= 3: Permission denied"), "{strict:?}");
        assert!(strict.remedy.contains("perf_event_paranoid=2"), "{strict:?}");
        assert!(!refused(Errno::ACCESS, Some("2")).remedy.contains("sysctl"));
    }

    #[test]
    fn a_filter_and_a_kernel_without_events_are_told_apart() {
        assert!(refused(Errno::PERM, Some("2")).remedy.contains("seccomp"));
        assert!(refused(Errno::NOSYS, None).remedy.contains("CONFIG_PERF_EVENTS"));
    }
}
