//! What `lab direct` asks the sensor and the kernel about the same reads, in runs apart from the timed ones.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotset_facts::{FileRow, LabFact, LabSession, LabSkipped, Pid, WantedState};
use hotset_lab::experiment::{ProbeCommand, Sensor, invocation};
use hotset_lab::{Command, Invocation, Output, Streams, find_program};
use hotset_sys::child::{self, Running};
use hotset_sys::proc::fds;
use hotset_sys::tracepoint::TracepointCounter;

use super::found::{Quantity, fact};
use super::plan::{DD_FILE, app_file};
use super::target::Target;
use crate::{AfterRun, Request};

/// What the programs read each time.
const APP_BYTES: u64 = 32 << 20;
/// As long as a descriptor is looked for.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Adds what the sensor says to the session's facts. Where it can't, the session says so.
pub(super) fn after(session: &mut LabSession, run: &mut AfterRun<'_>) {
    if run.is_stopped() {
        return;
    }
    let Some(sensor) = run.sensor.as_deref_mut() else { return };
    let is_direct = super::place(run.request).direct.is_ok();
    let AfterRun { request, native, stop, .. } = *run;
    let mut programs = Programs { request, native, stop, sensor };
    let mut runs = vec![("app", "cached", programs.app(false, 0), WantedState::Warm)];
    match programs.dd() {
        Ok(dd) => {
            runs.push(("dd", "cold", dd.clone(), WantedState::Cold));
            runs.push(("dd", "warm", dd, WantedState::Warm));
        }
        Err(why) => {
            session.skipped.push(LabSkipped::new("counts of dd by the sensor", why));
        }
    }
    if is_direct {
        runs.push(("app", "direct", programs.app(true, 0), WantedState::Warm));
    }
    for (case, how, invocation, state) in runs {
        match programs.run(case, how, &invocation, state) {
            Ok(facts) => session.facts.extend(facts),
            Err(why) => {
                let what = format!("counts of {case} by the sensor, {how}");
                session.skipped.push(LabSkipped::new(what, why));
            }
        }
    }
    let modes = if is_direct { &[false, true][..] } else { &[false] };
    for &direct in modes {
        let how = if direct { "direct" } else { "cached" };
        match programs.flags(direct) {
            Ok(flags) => session.facts.push(fact("app", how, Quantity::OpenFlags, flags)),
            Err(why) => session.skipped.push(LabSkipped::new(format!("open flags, {how}"), why)),
        }
    }
}

/// The programs of the article under the sensor.
struct Programs<'a> {
    request: &'a Request,
    native: &'a [OsString],
    stop: &'a AtomicBool,
    sensor: &'a mut dyn Sensor,
}

impl Programs<'_> {
    /// An error once it should end.
    fn go_on(&self) -> Result<(), String> {
        if self.stop.load(Ordering::Relaxed) { Err("interrupted".to_owned()) } else { Ok(()) }
    }

    /// The host's own dd, as the article ran it.
    fn dd(&self) -> Result<Invocation, String> {
        let mut input = OsString::from("if=");
        input.push(self.request.path(DD_FILE));
        let argv =
            ["dd".into(), input, "of=/dev/null".into(), "bs=1M".into(), "status=none".into()];
        find_program(&argv, std::env::var_os("PATH").as_deref()).map_err(|error| error.to_string())
    }

    fn app(&self, direct: bool, sleep_ms: u32) -> Invocation {
        let block = self.block_bytes();
        let words = [
            ("file", app_file(self.request).into()),
            ("block", block.to_string().into()),
            ("count", "2".into()),
            ("sleep_ms", sleep_ms.to_string().into()),
            ("direct", u8::from(direct).to_string().into()),
        ];
        invocation(&ProbeCommand::native("stream", words), self.native)
    }

    /// What the program reads each time.
    fn block_bytes(&self) -> u64 {
        self.request.options.blocks_bytes.first().copied().unwrap_or(APP_BYTES)
    }

    fn file(&self, case: &str) -> PathBuf {
        if case == "dd" { self.request.path(DD_FILE) } else { app_file(self.request) }
    }

    fn run(
        &mut self,
        case: &str,
        how: &str,
        invocation: &Invocation,
        state: WantedState,
    ) -> Result<Vec<LabFact>, String> {
        self.go_on()?;
        let mut target = Target::of(&self.file(case), self.block_bytes())?;
        let folios = TracepointCounter::open("filemap", "mm_filemap_add_to_page_cache");
        let before = target.reach(state)?;
        let seen = self.sensor.observe(invocation);
        // What is interrupted fails, whatever it says itself.
        let seen = seen.or_else(|why| self.go_on().and(Err(why)))?;
        let added = folios.and_then(|counter| counter.read());
        let after = target.cached();
        let row = seen.files.iter().find(|row| target.is(row));
        let row = row.ok_or("the sensor saw no read of the file")?;
        let mut facts = read_facts(row)?;
        for (what, cached) in [(Quantity::CachedBefore, before), (Quantity::CachedAfter, after)] {
            facts.extend(cached.map(|cached| (what, cached)));
        }
        facts.extend(added.ok().map(|added| (Quantity::FoliosAdded, added)));
        let named = |(quantity, number): (Quantity, u64)| fact(case, how, quantity, number);
        Ok(facts.into_iter().map(named).collect())
    }

    /// Looks at the descriptor of the running program, as anybody can.
    fn flags(&self, direct: bool) -> Result<String, String> {
        self.go_on()?;
        let streams = Streams { output: Output::Tail, ..Streams::default() };
        let invocation = self.app(direct, 300);
        let text = |error: std::io::Error| error.to_string();
        let mut command = Command::new(&invocation, &streams).map_err(text)?;
        let Running { pid, .. } = command.start().map_err(text)?;
        let flags = descriptor(pid, &self.file("app"));
        child::reap(pid).map_err(text)?;
        flags
    }
}

fn read_facts(row: &FileRow) -> Result<Vec<(Quantity, u64)>, String> {
    let io = row.io();
    let read = io.read.as_value().ok_or("buffered reads are not measured here")?;
    let direct = io.direct.as_value().ok_or("direct reads are not measured here")?;
    Ok(vec![
        (Quantity::PagesRequested, read.pages),
        (Quantity::Misses, read.misses),
        (Quantity::ReadaheadHits, read.readahead_hits),
        (Quantity::BytesReadDirectly, direct.read_bytes),
        (Quantity::BytesRead, read.bytes + direct.read_bytes),
    ])
}

fn descriptor(pid: Pid, path: &Path) -> Result<String, String> {
    let started = Instant::now();
    while started.elapsed() < TIMEOUT {
        let open = fds::of(pid).map_err(|error| error.to_string())?.unwrap_or_default();
        if let Some(file) = open.iter().find(|file| file.path == path) {
            let flags = fds::open_flags(pid, file.fd).map_err(|error| error.to_string())?;
            return flags.map(words).ok_or_else(|| "the program has already ended".to_owned());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Err(format!("process {pid} did not open {}", path.display()))
}

/// `O_RDONLY|O_DIRECT`.
fn words(flags: u32) -> String {
    let has = |flag: rustix::fs::OFlags| flags & flag.bits() != 0;
    let mode = match flags & 3 {
        0 => "O_RDONLY",
        1 => "O_WRONLY",
        _ => "O_RDWR",
    };
    let direct = if has(rustix::fs::OFlags::DIRECT) { "|O_DIRECT" } else { "" };
    format!("{mode}{direct}")
}

#[cfg(test)]
mod tests {
    use hotset_analysis::lab::testing::session;
    use hotset_facts::LabSize;
    use hotset_lab::experiment::{ObservedRun, Place};

    use super::*;
    use crate::Options;
    use crate::testing::Scratch;

    /// Its first program is ended by Ctrl-C.
    struct Interrupted<'a> {
        runs: u32,
        stop: &'a AtomicBool,
    }

    impl Sensor for Interrupted<'_> {
        fn observe(&mut self, _: &Invocation) -> Result<ObservedRun, String> {
            self.runs += 1;
            self.stop.store(true, Ordering::Relaxed);
            Err("dd: interrupted system call".to_owned())
        }
    }

    #[test]
    fn after_ctrl_c_nothing_more_is_run_and_that_is_the_reason() {
        let scratch = Scratch::new();
        let place = Place::look(&scratch.path("")).expect("a place");
        let options = Options::default();
        let request = Request { size: LabSize::Quick, rounds: None, place, options };
        for path in [request.path(DD_FILE), app_file(&request)] {
            std::fs::write(path, [7; 4096]).expect("write");
        }
        let stop = AtomicBool::new(false);
        let mut sensor = Interrupted { runs: 0, stop: &stop };
        let mut session = session("direct", Vec::new());
        let (request, native) = (&request, &["hotset".into()]);
        after(
            &mut session,
            &mut AfterRun { request, native, sensor: Some(&mut sensor), stop: &stop },
        );
        assert_eq!(sensor.runs, 1);
        assert!(session.facts.is_empty() && session.skipped.len() >= 4, "{:?}", session.skipped);
        assert!(session.skipped.iter().all(|skipped| skipped.why == "interrupted"));
    }

    #[test]
    fn flags_are_told_in_words() {
        let direct = rustix::fs::OFlags::DIRECT.bits();
        assert_eq!(words(direct | 0o2_000_000), "O_RDONLY|O_DIRECT");
        assert_eq!(words(2), "O_RDWR");
    }
}
