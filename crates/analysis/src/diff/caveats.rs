//! What makes a comparison doubtful, and what two runs differ in beside their counts.

use std::ffi::OsString;

use hotset_facts::units::{count, exact_bytes, percent, plural};
use hotset_facts::{Command, Environment, ExitStatus, FileKind, Filesystem, Observed, Target};

use super::difference::{DiffCaveat, DiffCaveatKind};
use super::side::Side;

/// All that applies, the gravest first.
pub(super) fn caveats(before: &Side, after: &Side) -> Vec<DiffCaveat> {
    let both = Both { before, after };
    let mut all: Vec<DiffCaveat> = [
        both.same_run(),
        both.each(DiffCaveatKind::Empty, |side| side.doubts.is_empty.then(|| "nothing".to_owned())),
        both.known(DiffCaveatKind::Command, |side| side.about.command.as_ref().map(command)),
        both.known(DiffCaveatKind::Exit, |side| side.about.command.as_ref().and_then(exit)),
        both.host(DiffCaveatKind::Kernel, |host| host.kernel.clone()),
        both.host(DiffCaveatKind::PageSize, |host| exact_bytes(host.page_size_bytes)),
        both.host(DiffCaveatKind::Cpus, |host| count(host.cpus.into())),
        both.host(DiffCaveatKind::Memory, |host| exact_bytes(host.memory_bytes)),
        both.host(DiffCaveatKind::MemoryLimit, |host| {
            host.memory_limit_bytes.map_or_else(|| "none".to_owned(), exact_bytes)
        }),
        both.host(DiffCaveatKind::IdleEviction, |host| {
            if host.evicts_idle_cache { "yes" } else { "no" }.to_owned()
        }),
        both.file_systems(),
        both.cache_state(),
        both.known(DiffCaveatKind::Instrument, |side| Some(side.about.instrument.clone())),
        both.known(DiffCaveatKind::Version, |side| {
            Some(side.about.hotset.clone()).filter(|version| !version.is_empty())
        }),
        both.each(DiffCaveatKind::Lost, |side| number(side.doubts.lost)),
        both.each(DiffCaveatKind::OtherFiles, |side| has_others(side).then(|| "yes".to_owned())),
        both.each(DiffCaveatKind::UnnamedLookups, |side| number(side.doubts.unnamed_lookups)),
    ]
    .into_iter()
    .flatten()
    .collect();
    all.extend(both.lacks());
    all
}

/// Whether some files of a run are one row.
pub(super) fn has_others(side: &Side) -> bool {
    side.files.iter().any(|row| row.kind == Some(FileKind::Others))
}

fn number(number: u64) -> Option<String> {
    (number > 0).then(|| count(number))
}

struct Both<'a> {
    before: &'a Side,
    after: &'a Side,
}

impl Both<'_> {
    /// What is another in both runs, as far as both tell it.
    fn known(
        &self,
        kind: DiffCaveatKind,
        of: impl Fn(&Side) -> Option<String>,
    ) -> Option<DiffCaveat> {
        let (before, after) = (of(self.before)?, of(self.after)?);
        let differs = before != after;
        differs.then_some(DiffCaveat { kind, before: Some(before), after: Some(after) })
    }

    fn host(
        &self,
        kind: DiffCaveatKind,
        of: impl Fn(&Environment) -> String,
    ) -> Option<DiffCaveat> {
        self.known(kind, |side| side.about.environment.as_ref().map(&of))
    }

    /// What applies to a run by itself.
    fn each(
        &self,
        kind: DiffCaveatKind,
        of: impl Fn(&Side) -> Option<String>,
    ) -> Option<DiffCaveat> {
        let (before, after) = (of(self.before), of(self.after));
        (before.is_some() || after.is_some()).then_some(DiffCaveat { kind, before, after })
    }

    /// A clock of nanoseconds and a command tell runs apart.
    fn same_run(&self) -> Option<DiffCaveat> {
        let [before, after] = [self.before, self.after].map(|side| &side.about);
        let is_file = before.path.is_some() && before.path == after.path;
        let is_run = before.started_at.is_some()
            && before.started_at == after.started_at
            && before.command == after.command
            && self.before.totals == self.after.totals;
        let is_same = is_file || is_run;
        let kind = DiffCaveatKind::SameRun;
        is_same.then_some(DiffCaveat { kind, before: None, after: None })
    }

    /// File systems that both runs used, of which one is another.
    fn file_systems(&self) -> Option<DiffCaveat> {
        let [before, after] = [self.before, self.after].map(|side| side.about.environment.as_ref());
        let (before, after) = (&before?.filesystems, &after?.filesystems);
        let words = |of: &Filesystem| {
            let ahead = of.read_ahead_kb.value();
            let ahead = ahead.map_or_else(String::new, |kb| format!(", read-ahead {kb} KiB"));
            format!("{} {}{ahead}", of.mount.display(), of.fs_type)
        };
        let both = before.iter().filter_map(|one| {
            let other = after.iter().find(|other| other.mount == one.mount)?;
            Some((words(one), words(other))).filter(|(one, other)| one != other)
        });
        let (before, after): (Vec<String>, Vec<String>) = both.unzip();
        (!before.is_empty()).then(|| DiffCaveat {
            kind: DiffCaveatKind::FileSystems,
            before: Some(before.join(", ")),
            after: Some(after.join(", ")),
        })
    }

    /// More or less of their files was cached at the start, and more or less came from the device.
    fn cache_state(&self) -> Option<DiffCaveat> {
        let from_device = |side: &Side| {
            let of = |name| side.totals.get(name).and_then(Observed::value);
            (of("read.from_device"), of("mmap.pages_read"))
        };
        let (before, after) = (self.before.doubts.cached?, self.after.doubts.cached?);
        let not_cached = |(cached, pages): (u64, u64)| pages.saturating_sub(cached);
        let differs = not_cached(before) != not_cached(after)
            && from_device(self.before) != from_device(self.after);
        let words = |(cached, pages): (u64, u64)| {
            let share = percent(cached as f64 / pages.max(1) as f64);
            format!("{} of {} ({share})", count(cached), plural(pages, "page"))
        };
        differs.then(|| DiffCaveat {
            kind: DiffCaveatKind::CacheState,
            before: Some(words(before)),
            after: Some(words(after)),
        })
    }

    /// Sentences that only one of both has stand alone.
    fn lacks(&self) -> Vec<DiffCaveat> {
        let [before, after] = [self.before, self.after].map(|side| &side.doubts.lacks);
        let only = |of: &[String], other: &[String]| -> Vec<String> {
            of.iter().filter(|one| !other.contains(one)).cloned().collect()
        };
        let kind = DiffCaveatKind::Lacks;
        let both = before.iter().map(|text| DiffCaveat {
            kind,
            before: Some(text.clone()),
            after: after.contains(text).then(|| text.clone()),
        });
        let only_after = only(after, before).into_iter();
        both.chain(only_after.map(|text| DiffCaveat { kind, before: None, after: Some(text) }))
            .collect()
    }
}

/// The words, or what was watched.
fn command(command: &Command) -> String {
    let words = || command.argv.join(std::ffi::OsStr::new(" ")).to_string_lossy().into_owned();
    match &command.target {
        Target::Command => words(),
        Target::Pid { .. } => format!("process: {}", words()),
        Target::Cgroup { path } => {
            format!("control group {}", OsString::from(path).to_string_lossy())
        }
        Target::System => "the whole host".to_owned(),
    }
}

/// How a command ended; one that was watched ends when it does.
fn exit(command: &Command) -> Option<String> {
    match command.exit {
        Observed::Value(ExitStatus::Code(code)) => Some(format!("exit {code}")),
        Observed::Value(ExitStatus::Signal(signal)) => Some(format!("signal {signal}")),
        Observed::Missing(_) => None,
    }
}
