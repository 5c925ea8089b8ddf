//! A probe as a process.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotset_facts::ExitStatus;
use hotset_sys::child::{Ended, Running, supervise};
use hotset_sys::launch::Launch;
use rustix::fs::MemfdFlags;

use super::plan::ProbeCommand;
use crate::command::Invocation;
use crate::words::arguments;
use hotset_sys::rawio::Answer;

/// How often a stop is looked for while a probe runs; a signal ends the wait at once.
const LOOK: Duration = Duration::from_millis(100);
/// What is kept of what a probe prints, in bytes.
const MOST_PRINTED: u64 = 4 << 20;

/// What a run of a probe came to.
#[derive(Debug)]
pub(super) enum Probed {
    /// It answered.
    Answer(Box<Answer>),
    /// It failed; why, in its own words.
    Failed(String),
    /// It was ended, because this program was asked to stop.
    Stopped,
}

/// The words that run a probe. `native` are the words before the job of a native one.
pub fn invocation(probe: &ProbeCommand, native: &[OsString]) -> Invocation {
    let argv: Vec<OsString> = match probe {
        ProbeCommand::Program { argv } => argv.clone(),
        ProbeCommand::Native { job, words } => {
            native.iter().cloned().chain([(*job).into()]).chain(arguments(words)).collect()
        }
    };
    Invocation::of(argv)
}

/// A probe that is ready to run: only the start is left to do.
pub(super) struct Ready {
    launch: Launch,
    printed: File,
    complaints: File,
}

impl Ready {
    /// Makes it ready.
    ///
    /// # Errors
    /// Where no file in memory can be made.
    pub(super) fn new(invocation: &Invocation) -> io::Result<Self> {
        let memory = |name| rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC).map(File::from);
        let (printed, complaints) = (memory("answer")?, memory("errors")?);
        let null = File::open("/dev/null")?;
        let stdio = [
            Some(null.into()),
            Some(printed.try_clone()?.into()),
            Some(complaints.try_clone()?.into()),
        ];
        let launch = Launch::new(&invocation.program, &invocation.argv, stdio)?;
        Ok(Self { launch, printed, complaints })
    }

    /// Runs it to its end, or until `stop`.
    ///
    /// # Errors
    /// Where it can't be started or waited for.
    pub(super) fn run(mut self, stop: &AtomicBool) -> io::Result<Probed> {
        let started = Instant::now();
        let child = Running { pid: self.launch.start()?, started };
        let Some(Ended { exit, usage, .. }) = wait(child, stop)? else {
            return Ok(Probed::Stopped);
        };
        // The terminal's Ctrl-C reached it too.
        if exit != ExitStatus::Code(0) && stop.load(Ordering::Relaxed) {
            return Ok(Probed::Stopped);
        }
        if exit != ExitStatus::Code(0) {
            let said = text(&self.complaints);
            let why = said.trim();
            let how = match exit {
                ExitStatus::Code(code) => format!("exit code {code}"),
                ExitStatus::Signal(signal) => format!("ended by signal {signal}"),
            };
            let why = if why.is_empty() { how } else { format!("{how}: {why}") };
            return Ok(Probed::Failed(why));
        }
        Ok(match Answer::parse(text(&self.printed).as_bytes()) {
            Ok(answer) => Probed::Answer(Box::new(answer.completed(&usage))),
            Err(why) => Probed::Failed(why),
        })
    }
}

fn text(file: &File) -> String {
    let size = file.metadata().map_or(0, |metadata| metadata.len()).min(MOST_PRINTED);
    let mut bytes = vec![0; size as usize];
    let read = file.read_at(&mut bytes, 0).unwrap_or(0);
    bytes.truncate(read);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Nothing where it was killed because of `stop`.
fn wait(child: Running, stop: &AtomicBool) -> io::Result<Option<Ended>> {
    let mut unless_stopped = || match stop.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let ended = supervise(child, None, LOOK, &mut unless_stopped)?;
    Ok((!ended.was_killed).then_some(ended))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(line: &str, stop: &AtomicBool) -> Probed {
        let argv = ["/bin/sh", "-c", line].map(OsString::from).to_vec();
        let invocation = invocation(&ProbeCommand::Program { argv }, &[]);
        Ready::new(&invocation).expect("ready").run(stop).expect("run")
    }

    #[test]
    fn a_probe_answers_or_says_why_not() {
        let go = AtomicBool::new(false);
        let answered = run(r#"echo '{"probe":"sh","repetitions_ns":[7]}'"#, &go);
        assert!(matches!(answered, Probed::Answer(answer) if answer.whole().wall_ns == 7));
        let failed = run("echo no file >&2; exit 1", &go);
        assert!(matches!(failed, Probed::Failed(why) if why == "exit code 1: no file"));
        assert!(
            matches!(run("echo nonsense", &go), Probed::Failed(why) if why.contains("nonsense"))
        );
        assert!(matches!(run("kill -9 $$", &go), Probed::Failed(why) if why.contains("signal 9")));
    }

    #[test]
    fn a_stop_ends_a_probe_that_would_run_on() {
        let stopped = run("sleep 1000", &AtomicBool::new(true));
        assert!(matches!(stopped, Probed::Stopped));
    }

    #[test]
    fn words_of_a_native_probe_are_a_job_and_pairs() {
        let probe =
            ProbeCommand::native("access", [("file", "/a b".into()), ("block", "1000".into())]);
        let words = invocation(&probe, &["/hotset".into(), "lab-probe".into()]);
        assert_eq!(words.argv, ["/hotset", "lab-probe", "access", "file=/a b", "block=1000"]);
        assert_eq!(words.program, std::path::PathBuf::from("/hotset"));
    }
}
