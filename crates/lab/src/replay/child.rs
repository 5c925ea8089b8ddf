//! The process that replays: it takes a plan once, and does its steps as often as it is asked to.
//!
//! A process of its own, so that its memory is not this program's, a control group can limit it, and a file that became shorter
//! under a mapping ends it and nobody else.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use hotset_facts::replay::ReplayPlan;
use hotset_sys::cpu::Cpu;
use hotset_sys::replay::{Replay, Roots, protect};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::process::{Signal, chdir, chroot, geteuid, set_parent_process_death_signal};

use super::COPIES;
use super::originals;
use super::pages::{self, StatedFile};
use super::wire::{Ask, Replayed, Reply, next_ask, read_plan, say};

/// Differences that are told of all threads together.
const MOST_TOLD: usize = 16;

/// Takes a plan and what is asked for from `from`, and answers on `to`, until `from` ends. The working directory is the one with the
/// copies;
/// originals are below `root`, where that is not the root of the host.
///
/// # Errors
/// Where the plan can't be read, the root not be entered, or nobody listens any more.
pub fn serve(from: &mut dyn BufRead, to: &mut dyn Write, root: Option<&Path>) -> io::Result<()> {
    // Nobody waits for it any more.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let mut from = from;
    let mut to = to;
    let plan = match read_plan(&mut from) {
        // Whoever sent it is gone.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
        plan => plan?,
    };
    let here = std::env::current_dir()?;
    if geteuid().is_root() {
        // Without it, an original is still opened for reading alone.
        let _ = protect(&here);
    }
    // By its path: as the mounts are now.
    let here = File::open(&here)?;
    if let Some(root) = root {
        enter(root)?;
    }
    let files = pages::files(&plan);
    say(&Reply::Loaded(originals::unfit(&plan)), &mut to)?;
    while let Some(ask) = next_ask(&mut from)? {
        let reply = match replay(&plan, here.as_fd(), &files, ask) {
            Ok(replayed) => Reply::Replayed(Box::new(replayed)),
            Err(why) => Reply::Failed(why),
        };
        say(&reply, &mut to)?;
    }
    Ok(())
}

/// Has every absolute path lead below a directory, and none out of it.
fn enter(root: &Path) -> io::Result<()> {
    chroot(root)?;
    Ok(chdir("/")?)
}

fn replay(
    plan: &ReplayPlan,
    here: BorrowedFd<'_>,
    files: &[StatedFile],
    ask: Ask,
) -> Result<Replayed, String> {
    let named = |errno: Errno| format!("the directory of copies: {errno}");
    // Made anew before each replay.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let copies = openat(here, COPIES, flags, Mode::empty()).map_err(named)?;
    let roots = Roots { originals: None, copies: copies.as_fd(), no_atime: geteuid().is_root() };
    let replay = Replay::new(plan, roots).map_err(|error| error.to_string())?;
    // It begins there, and goes where the scheduler wants it.
    let _ = Cpu::in_turn(ask.cpu_turn).and_then(|cpu| cpu.hold(|| ()));
    let pages = pages::reach(ask.state, files, copies.as_fd());
    let run = replay.run().map_err(|error| error.to_string())?;
    let sum = |of: fn(&hotset_sys::replay::ThreadRun) -> u64| run.threads.iter().map(of).sum();
    let told = run.threads.iter().flat_map(|thread| &thread.told);
    Ok(Replayed {
        pages,
        wall_ns: run.wall_ns,
        busy_ns: sum(|thread| thread.busy_ns),
        untimed_ns: sum(|thread| thread.untimed_ns),
        waited_ns: sum(|thread| thread.waited_ns),
        device_read_bytes: run.device_read_bytes,
        device_write_bytes: run.device_write_bytes,
        differences: sum(|thread| thread.differences),
        first_differences: told.take(MOST_TOLD).copied().collect(),
    })
}
