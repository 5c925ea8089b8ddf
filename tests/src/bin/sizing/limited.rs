//! A program under limits, and what the kernel did.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Instant;

use hotset_sizing_runs::programs::runs::{COLUMNS, ProgramRun};
use hotset_sys::proc;

use super::args::Args;
use super::group::{Group, Limit};
use super::program::{evict, named};
use super::{Doing, Outcome, policy};

const MIB: u64 = 1 << 20;

/// `limited --name NAME --dir PATH --set NAME`
pub(super) fn run(args: &Args) -> Outcome<()> {
    let (program, dir) = (named(args)?, args.path("--dir")?);
    let set = args.set()?;
    let own = std::env::current_exe().doing("the path of this program")?;
    println!("{COLUMNS}");
    for limit_mib in program.limits(set) {
        evict(program, &dir)?;
        let mut command = Command::new(&own);
        command.args(["program", "--name", program.name, "--dir"]).arg(&dir);
        let group = Group::new(Limit::Max, u64::from(limit_mib) * MIB)?;
        let (read_pages, milliseconds) = inside(&group, command)?;
        let run = ProgramRun {
            is_mglru: policy::is_mglru(),
            program,
            limit_mib,
            pages: program.pages(),
            read_pages,
            refaults: group.statistic("workingset_refault_file")?,
            milliseconds,
        };
        println!("{run}");
        std::io::stdout().flush()?;
    }
    Ok(())
}

/// Runs a command that is in the group from its first instant on: the pages that it and its children made the device read, and
/// how many milliseconds it took.
fn inside(group: &Group, mut command: Command) -> Outcome<(u64, u64)> {
    let file = std::fs::File::options().write(true).open(group.processes());
    let mut processes = file.doing(group.processes().display())?;
    // SAFETY: after the fork, it only writes to an open file.
    unsafe { command.pre_exec(move || processes.write_all(b"0")) };
    let read_bytes = || -> Outcome<u64> {
        // A child's count is added to this process's when it was waited for.
        Ok(proc::pid_io::own().doing("/proc/self/io")?.ok_or("no /proc/self/io")?.read_bytes)
    };
    let (before, start) = (read_bytes()?, Instant::now());
    let status = command.status().doing("starting the program")?;
    if !status.success() {
        return Err(format!("the program: {status}").into());
    }
    let bytes = read_bytes()? - before;
    Ok((bytes / hotset_sizing::PAGE_BYTES, start.elapsed().as_millis() as u64))
}
