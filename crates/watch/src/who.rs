//! From what a user calls somebody to a process or a control group.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, bail};
use hotset_facts::Pid;
use hotset_sys::cgroup;
use hotset_sys::proc::{cmdline, named};

/// Somebody as a user names them: at most one of these.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// A process.
    pub pid: Option<Pid>,
    /// A running program, by its whole name.
    pub name: Option<OsString>,
    /// A control group, by its directory or path.
    pub cgroup: Option<PathBuf>,
    /// A unit of systemd.
    pub unit: Option<String>,
    /// A container.
    pub container: Option<String>,
}

/// A process with its children, or a control group; the host where it is neither.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// A process.
    pub pid: Option<Pid>,
    /// Else a control group, by its directory or path.
    pub cgroup: Option<PathBuf>,
}

/// Programs that a message lists.
const TOLD: usize = 8;
/// Characters of a command that a message has room for.
const COMMAND_CHARS: usize = 60;

impl Who {
    /// Finds whom a user means.
    ///
    /// # Errors
    /// Where nobody is called so, or several are: names them.
    pub fn find(named: &Named) -> Result<Self> {
        let group = |dir: PathBuf| Self { cgroup: Some(dir), ..Self::default() };
        if let Some(name) = &named.name {
            return Ok(Self { pid: Some(program(name)?), ..Self::default() });
        }
        if let Some(name) = &named.unit {
            return Ok(group(cgroup::unit(name)?));
        }
        if let Some(name) = &named.container {
            return Ok(group(cgroup::container(name)?));
        }
        Ok(Self { pid: named.pid, cgroup: named.cgroup.clone() })
    }
}

fn program(name: &OsString) -> Result<Pid> {
    let found = named(name)?;
    let name = name.display();
    match found.as_slice() {
        [pid] => Ok(*pid),
        [] => {
            bail!("no running program is called {name}; expected the whole name of its executable")
        }
        several => {
            let lines: Vec<String> = several.iter().take(TOLD).map(|&pid| described(pid)).collect();
            let more = match several.len().saturating_sub(TOLD) {
                0 => String::new(),
                more => format!("\n  {more} more"),
            };
            bail!(
                "{} running programs are called {name}; choose one with --pid:\n{}{more}",
                several.len(),
                lines.join("\n")
            )
        }
    }
}

/// `  1234  python3 app.py`.
fn described(pid: Pid) -> String {
    let words = cmdline::of(pid).ok().flatten().unwrap_or_default();
    let words: Vec<String> = words.iter().map(|word| word.display().to_string()).collect();
    // Anybody's words: nothing in them may move a terminal's cursor.
    let safe = |c: char| if c.is_control() { '?' } else { c };
    let command: String = words.join(" ").chars().map(safe).take(COMMAND_CHARS).collect();
    format!("  {pid}  {command}")
}
