//! `sequential`, `random`, `willneed`: the kernel is told how a file will be read.

use std::collections::{HashMap, HashSet};

use hotset_facts::replay::{ReplayPlan, Step, StepKind};
use hotset_facts::trace::RecordFlags;

use super::rewrite::{self, Rewrite};
use super::subjects::{self, At, all_steps, is_any_read};
use super::{Change, Given, Made};

/// Read-ahead of twice its length.
pub(super) const SEQUENTIAL: Change = Change {
    name: "sequential",
    argument: None,
    summary: "Advise sequential access to each file that is read",
    programmer: "Call posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL) after opening a file, and \
                 madvise(MADV_SEQUENTIAL) after mapping one. In Python, os.posix_fadvise; in Rust, \
                 rustix::fs::fadvise.",
    risks: None,
    syncs_less: false,
    make: |plan, given| make(plan, given, RecordFlags::SEQUENTIAL),
};

/// No read-ahead.
pub(super) const RANDOM: Change = Change {
    name: "random",
    argument: None,
    summary: "Advise random access to each file that is read",
    programmer: "Call posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) after opening a file, and madvise(MADV_RANDOM) after \
                 mapping one. In Python, os.posix_fadvise; in Rust, rustix::fs::fadvise.",
    risks: Some("Read-ahead is off: what is read in order waits for the device at each call."),
    syncs_less: false,
    make: |plan, given| make(plan, given, RecordFlags::RANDOM),
};

/// All of a file, soon.
pub(super) const WILLNEED: Change = Change {
    name: "willneed",
    argument: None,
    summary: "Ask for each whole file right after opening it",
    programmer: "Call posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED) after opening a file, and madvise(MADV_WILLNEED) \
                 after mapping one. In Python, os.posix_fadvise; in Rust, rustix::fs::fadvise.",
    risks: Some(
        "Of a large file of which little is used, all is read, and other pages may be evicted for it.",
    ),
    syncs_less: false,
    make: |plan, given| make(plan, given, RecordFlags::WILLNEED),
};

/// What is advised about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Slot(u32),
    Mapping(u32),
}

/// How often each is read, and which were advised this way by the program.
#[derive(Debug, Default)]
struct Uses {
    read: HashSet<Subject>,
    advised: HashSet<Subject>,
    /// Of what no step opens or maps: the first step about it.
    first: HashMap<Subject, (u32, At)>,
}

fn make(plan: &ReplayPlan, _: &Given<'_>, advice: RecordFlags) -> Made {
    let uses = uses(plan, advice);
    let wants = |subject: &Subject| {
        uses.read.contains(subject) && !uses.advised.contains(subject) && may_advise(plan, *subject)
    };
    let first = uses.first.iter().filter(|(subject, _)| wants(subject));
    let before: HashMap<At, Subject> = first.map(|(subject, (_, at))| (*at, *subject)).collect();
    let mut inserted = 0;
    let threads = plan.threads.iter().enumerate().map(|(thread, list)| {
        let mut new = Rewrite::new(list);
        for (place, step) in list.steps.iter().enumerate() {
            // As one step: it waits for what the step beside it waits for, and who waits for that waits for both.
            let known = before.get(&(thread, place)).copied();
            if let Some(subject) = known {
                new.becomes(&[advise(plan, subject, step.record, advice), *step]);
            } else if let Some(subject) = begun(step).filter(wants) {
                new.becomes(&[*step, advise(plan, subject, step.record, advice)]);
            } else {
                new.becomes(&[*step]);
                continue;
            }
            inserted += 1;
        }
        new
    });
    let threads = rewrite::finish(threads.collect());
    if inserted == 0 {
        return Err("no file is read that the program does not advise this way already".to_owned());
    }
    Ok((rewrite::with_threads(plan, threads), inserted))
}

/// What a step opens or maps.
fn begun(step: &Step) -> Option<Subject> {
    match step.kind {
        StepKind::Open if step.result >= 0 => Some(Subject::Slot(step.target)),
        StepKind::Map => Some(Subject::Mapping(step.target)),
        _ => None,
    }
}

fn uses(plan: &ReplayPlan, advice: RecordFlags) -> Uses {
    let mut uses = Uses::default();
    for (at, step) in all_steps(plan) {
        let subject = match (subjects::mapping(step), subjects::slot(plan, step)) {
            (Some(mapping), _) => Subject::Mapping(mapping),
            (None, Some(slot)) => Subject::Slot(slot),
            (None, None) => continue,
        };
        let is_advice = matches!(step.kind, StepKind::Advise | StepKind::AdviseMapping);
        if is_any_read(step) || matches!(step.kind, StepKind::Send | StepKind::Load) {
            uses.read.insert(subject);
        } else if is_advice && step.flags.has(advice) {
            uses.advised.insert(subject);
        }
        let is_before = match subject {
            Subject::Slot(slot) => {
                plan.slots.get(slot as usize).is_some_and(|slot| slot.opened_before.is_some())
            }
            Subject::Mapping(mapping) => {
                plan.mappings.get(mapping as usize).is_some_and(|mapping| mapping.is_made_before)
            }
        };
        if is_before {
            let first = uses.first.entry(subject).or_insert((step.record, at));
            *first = (*first).min((step.record, at));
        }
    }
    uses
}

/// Direct I/O uses no page that advice is about.
fn may_advise(plan: &ReplayPlan, subject: Subject) -> bool {
    match subject {
        Subject::Slot(slot) => {
            let slot = plan.slots.get(slot as usize);
            slot.is_some_and(|slot| slot.file.is_some() && !slot.direct)
        }
        Subject::Mapping(mapping) => (mapping as usize) < plan.mappings.len(),
    }
}

/// The advice: of a slot, to the end of its file, which is 0 bytes (posix_fadvise(2)).
fn advise(plan: &ReplayPlan, subject: Subject, record: u32, flags: RecordFlags) -> Step {
    match subject {
        Subject::Slot(slot) => Step { flags, ..Step::new(StepKind::Advise, slot, record) },
        Subject::Mapping(place) => {
            let (offset, bytes) = plan
                .mappings
                .get(place as usize)
                .map_or((0, 0), |mapping| (mapping.offset, mapping.bytes));
            let step = Step::new(StepKind::AdviseMapping, place, record);
            Step { flags, offset, bytes, ..step }
        }
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::{Operation, RecordFlags};

    use crate::build::testing::Trace;
    use crate::changes::plan_text::{after, why_not};

    /// A file that is opened and read, one that is open before, one that is only opened, and one that is mapped.
    fn trace() -> Trace {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let files =
            ["/read", "/before", "/opened", "/mapped"].map(|path| (path, trace.file(path, 9000)));
        let [read, before, opened, mapped] = files;
        trace.on_file(Operation::Openat, one, (read.0, read.1, 1), (0, 0));
        trace.on_file(Operation::Pread, one, (read.0, read.1, 1), (0, 100));
        trace.on_file(Operation::Pread, one, (before.0, before.1, 2), (0, 100));
        trace.on_file(Operation::Openat, one, (opened.0, opened.1, 3), (0, 0));
        trace.on_file(Operation::Close, one, (opened.0, opened.1, 3), (0, 0));
        let map = trace.on_file(Operation::Mmap, one, (mapped.0, mapped.1, 4), (4096, 4096));
        map.flags = RecordFlags::PRIVATE;
        let path = trace.path("/mapped");
        let fault = trace.add(Operation::MinorFault, one, 0);
        (fault.path, fault.file, fault.offset) = (Some(path), Some(mapped.1), Some(4096));
        trace
    }

    #[test]
    fn each_file_that_is_read_is_advised_before_its_first_use() {
        for (asked, flag) in
            [("sequential", "sequential"), ("random", "random"), ("willneed", "willneed")]
        {
            let wanted = format!(
                "thread 0
  open 0 @0+0=0 #0
  fadvise 0 @0+0=0 #0 {flag}
  pread 0 @0+100=100 #1
  fadvise 1 @0+0=0 #2 {flag}
  pread 1 @0+100=100 #2
  open 2 @2+0=0 #3
  close 2 @0+0=0 #4
  mmap 0 @4096+4096=0 #5 private
  madvise 0 @4096+4096=0 #5 {flag}
  load 0 @4096+1=0 #6
"
            );
            assert_eq!(after(&trace().plan(), asked), wanted);
        }
    }

    #[test]
    fn of_several_threads_the_first_to_use_it_is_told() {
        let mut trace = Trace::default();
        let process = trace.process(1, None);
        let of = ("/f", trace.file("/f", 9000), 1);
        trace.on_path(Operation::Stat, (process, 1), "/else", 0);
        trace.on_file(Operation::Pread, (process, 2), of, (0, 100));
        trace.on_file(Operation::Pread, (process, 1), of, (0, 100));
        let wanted = "thread 0
  stat 0 @0+0=0 #0
  pread 0 @0+100=100 #2
thread 1
  wait 0 1
  fadvise 0 @0+0=0 #1 random
  pread 0 @0+100=100 #1
";
        assert_eq!(after(&trace.plan(), "random"), wanted, "once it has begun");
    }

    #[test]
    fn what_the_program_says_itself_is_not_said_twice() {
        let mut trace = Trace::default();
        let one = (trace.process(1, None), 1);
        let of = ("/f", trace.file("/f", 9000), 1);
        trace.on_file(Operation::Pread, one, of, (0, 100));
        trace.on_file(Operation::Fadvise, one, of, (0, 0)).flags = RecordFlags::RANDOM;
        let why = why_not(&trace.plan(), "random");
        assert!(why.contains("does not advise this way already"), "{why}");
        assert!(after(&trace.plan(), "willneed").contains("willneed"));
        trace.on_file(Operation::Pread, one, of, (0, 100)).flags = RecordFlags::DIRECT;
        assert!(why_not(&trace.plan(), "willneed").contains("no file is read"));
    }
}
