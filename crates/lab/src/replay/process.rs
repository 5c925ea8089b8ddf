//! The process that replays, from outside.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::process::CommandExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use hotset_facts::replay::{ReplayPlan, UnfitFile};
use hotset_sys::cgroup::LimitedGroup;
use rustix::process::Signal;

use super::ReplayError;
use super::wire::{Ask, Replayed, Reply, say, write_plan};

/// How often a stop is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// A process that has a plan.
pub(super) struct Replayer {
    child: Child,
    /// Replays are asked for here; dropped, it ends.
    input: Option<BufWriter<ChildStdin>>,
    replies: Receiver<String>,
}

impl Replayer {
    /// Starts it in `directory` and hands it the plan; it tells which files are not as they were recorded. Its memory until then is
    /// not counted in `group`. Nothing where `stop` was set first.
    ///
    /// # Errors
    /// Where it can't be started, or does not take the plan.
    pub(super) fn start(
        words: &[OsString],
        directory: &Path,
        plan: &ReplayPlan,
        group: Option<&LimitedGroup>,
        stop: &AtomicBool,
    ) -> Result<Option<(Self, Vec<UnfitFile>)>, ReplayError> {
        let (program, rest) = words.split_first().ok_or(ReplayError::NoProgram)?;
        let mut command = Command::new(program);
        command.args(rest).current_dir(directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Out of reach of the terminal's Ctrl-C: whoever started it ends it.
        let mut child = command.process_group(0).spawn().map_err(ReplayError::Start)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (sender, replies) = channel();
        if let Some(output) = output {
            let read = move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            };
            std::thread::Builder::new().spawn(read).map_err(ReplayError::Start)?;
        }
        let input = input.map(BufWriter::new);
        let mut replayer = Self { child, input, replies };
        let handed = replayer.input.as_mut().map(|input| write_plan(plan, input, stop));
        // Where it ended meanwhile, why is told by how.
        drop(handed);
        let unfit = match replayer.reply(stop)? {
            Some(Reply::Loaded(unfit)) => unfit,
            None => return Ok(None),
            Some(other) => return Err(ReplayError::Failed(format!("unexpected: {other:?}"))),
        };
        if let Some(group) = group {
            group.take(replayer.child.id()).map_err(ReplayError::Limit)?;
        }
        Ok(Some((replayer, unfit)))
    }

    /// Has it do all steps once. Nothing where `stop` was set first.
    ///
    /// # Errors
    /// Where it could not, or ended.
    pub(super) fn replay(
        &mut self,
        ask: Ask,
        stop: &AtomicBool,
    ) -> Result<Option<Replayed>, ReplayError> {
        if let Some(input) = &mut self.input {
            let _ = say(&ask, input).and_then(|()| input.flush());
        }
        match self.reply(stop)? {
            Some(Reply::Replayed(replayed)) => Ok(Some(*replayed)),
            Some(Reply::Failed(why)) => Err(ReplayError::Failed(why)),
            Some(Reply::Loaded(_)) => Err(ReplayError::Failed("no answer".to_owned())),
            None => Ok(None),
        }
    }

    fn reply(&mut self, stop: &AtomicBool) -> Result<Option<Reply>, ReplayError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            match self.replies.recv_timeout(LOOK) {
                Ok(line) => {
                    let reply = serde_json::from_str(&line);
                    return reply.map(Some).map_err(|error| ReplayError::Failed(error.to_string()));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// Why it says nothing any more.
    fn ended(&mut self) -> ReplayError {
        drop(self.input.take());
        match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) if signal == Signal::BUS.as_raw() => ReplayError::Failed(
                    "a mapped file is shorter than when it was recorded (SIGBUS)".to_owned(),
                ),
                Some(signal) if signal == Signal::KILL.as_raw() => ReplayError::Failed(
                    "the process that replays was killed (SIGKILL): out of memory?".to_owned(),
                ),
                _ => ReplayError::Failed(format!("the process that replays ended: {status}")),
            },
            Err(error) => ReplayError::Start(error),
        }
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
