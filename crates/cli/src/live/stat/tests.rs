use std::os::fd::BorrowedFd;
use std::time::Duration;

use hotset_analysis::live::testing::{interval, reads};
use hotset_analysis::live::{Accumulated, SeriesLimits, summarise_interval};
use hotset_facts::{Observed, Reason};
use hotset_watch::interval::{Drained, LiveSource, MIN_INTERVAL, Waiter, Woken};

use super::*;

/// Keeps what was printed as text, or only how much it was.
#[derive(Default)]
struct Kept {
    lines: Vec<String>,
    printed: usize,
    counting: bool,
    interrupted: bool,
}

impl StatLines for Kept {
    fn begin(&mut self) -> bool {
        true
    }

    fn row(&mut self, row: &view::Row<'_>) -> bool {
        let text = view::line(row, view::Layout { time: true, width: None }, 0);
        self.printed += text.len() + view::json_line(row).len();
        if !self.counting {
            self.lines.push(text);
        }
        true
    }

    fn interrupted(&mut self) {
        self.interrupted = true;
    }
}

fn ended(why: EndReason, pages: u64) -> Ended {
    Ended { why, rest: Some(interval(vec![reads(0, pages, 0)])) }
}

#[test]
fn a_signal_leaves_a_summary_and_the_end_of_a_process_a_line() {
    let mut lines = Lines::new(Kept::default(), Some(4_194_304), &[]);
    assert!(lines.show(&interval(vec![reads(0, 10, 4)]), 0, true));
    lines.end(&ended(EndReason::Signal(2), 5));
    assert_eq!((lines.out.lines.len(), lines.out.interrupted), (1, true));
    assert_eq!((lines.totals.numbers.io.read_pages, lines.totals.intervals), (15, 1));

    let mut lines = Lines::new(Kept::default(), Some(4_194_304), &[]);
    lines.end(&ended(EndReason::Gone, 7));
    assert_eq!((lines.out.lines.len(), lines.totals.numbers.io.read_pages), (1, 7));
    lines.end(&Ended { why: EndReason::Counted, rest: None });
    assert_eq!((lines.out.lines.len(), lines.out.interrupted), (1, false));
}

#[test]
fn a_reason_is_said_once_and_a_new_one_when_it_comes_up() {
    let mut lines = Lines::new(Kept::default(), None, &[]);
    let mut gap = interval(vec![]);
    gap.evicted_pages = Observed::Missing(Reason::unsupported("no tracepoint"));
    (0..3).for_each(|_| assert!(lines.show(&gap, 0, true)));
    assert_eq!(lines.said.len(), 1);
    gap.host.written_back_pages = Observed::Missing(Reason::lost("went backwards"));
    assert!(lines.show(&gap, 0, true));
    assert_eq!(lines.said.len(), 2);
}

#[test]
fn late_lines_are_said_at_first_when_many_and_when_they_double() {
    let mut late = Late::default();
    let said: Vec<Option<u64>> =
        [0, 1, 0, 1, 1, 1, 9, 1, 2, 9].into_iter().map(|n| late.worth_saying(n)).collect();
    let none = None;
    assert_eq!(said, [none, Some(1), none, Some(2), none, Some(4), Some(13), none, none, none]);
    assert_eq!(late.worth_saying(1), Some(26));
}

/// Each interval has a process and a group that never were there before.
struct Flood(u32);

impl Drained for Flood {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn drain_interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn drain(&mut self) -> Result<()> {
        Ok(())
    }
}

impl LiveSource for Flood {
    fn interval(&mut self) -> Result<Interval> {
        self.0 += 1;
        let mut interval = interval(vec![reads(0, 3, 1)]);
        interval.processes[0].id = self.0;
        interval.processes[0].comm = format!("short-{}", self.0).into();
        interval.processes[0].cgroup = Observed::Value(format!("/job/{}", self.0).into());
        Ok(interval)
    }
}

struct Clock(Duration);

impl Waiter for Clock {
    fn now(&self) -> Duration {
        self.0
    }

    fn wait(&mut self, at_most: Duration, _: Option<BorrowedFd<'_>>) -> Result<Woken> {
        self.0 += at_most;
        Ok(Woken::Time)
    }
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.expect("a number") * hotset_sys::page_size()
}

/// Two hours at the shortest interval, and a flood of short-lived processes: what is kept must not grow. A hundred bytes
/// an interval would be 6 MiB.
#[test]
fn many_intervals_leave_no_more_behind_than_few() {
    const ALONE: &str = "HOTSET_TEST_ALONE";
    // The memory of a process is that of all tests in it: this one has a process of its own.
    if std::env::var_os(ALONE).is_none() {
        let name = std::thread::current().name().expect("the test's name").to_owned();
        let own = std::env::current_exe().expect("this program");
        let mut command = std::process::Command::new(own);
        let alone = command.args(["--exact", &name]).env(ALONE, "1").output().expect("a process");
        let said = String::from_utf8_lossy(&alone.stdout);
        assert!(alone.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let kept = Kept { counting: true, ..Kept::default() };
    let mut lines = Lines::new(kept, None, &[]);
    let limits = SeriesLimits { commands: 20, cgroups: 20, mounts: 20 };
    let mut all = Accumulated::new(limits);
    let (mut source, mut clock) = (Flood(0), Clock(Duration::ZERO));
    let mut run = |count| {
        let schedule = Schedule { interval: MIN_INTERVAL, count: Some(count) };
        let ended = watch(&mut source, &mut clock, schedule, &mut |interval, late| {
            all.add(&interval, &summarise_interval(&interval));
            assert!(lines.show(&interval, late, true));
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(ended.expect("watched").why, EndReason::Counted);
        resident_bytes()
    };
    let before = run(5_000);
    let grown = run(67_000).saturating_sub(before);
    assert!(grown < 4 << 20, "{grown} bytes more");
    assert_eq!((all.intervals, all.commands.total().read_pages), (72_000, 216_000));
    assert!(lines.out.printed > 0);
}
