//! What ran, how it ended, how long it took.

use hotset_analysis::Summary;
use hotset_facts::{Command, ExitStatus, Observed, Target};
use std::os::unix::ffi::OsStrExt as _;

use super::screen::{Screen, Tone};
use super::text::wrap_by;
use crate::escape::shorten_middle;
use crate::units;

pub(super) fn push(screen: &mut Screen, summary: &Summary) {
    let title = shorten_middle(&title(summary, &|name| screen.name(name)), screen.width);
    let title = screen.paint(&title, Tone::Heading);
    screen.line(&title);
    for line in wrap_by(&outcome(summary), " · ", screen.width) {
        screen.line(&line);
    }
}

/// How it ended and what it took: `exit 0 after 1.20 s · user 1.00 s (83 %) · RSS 40.0 MiB`.
pub(crate) fn outcome(summary: &Summary) -> String {
    let facts = [Some(ending(summary)), cpu(summary), memory(summary)];
    facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// What ran, or what was watched; `escaped` makes names safe for who reads them.
pub(crate) fn title(summary: &Summary, escaped: &dyn Fn(&[u8]) -> String) -> String {
    command_title(&summary.profile.command, escaped)
}

/// The same of a command that no summary is made of.
pub(crate) fn command_title(command: &Command, escaped: &dyn Fn(&[u8]) -> String) -> String {
    let words = command.argv.iter().map(|word| quoted(escaped(word.as_bytes())));
    let words = words.collect::<Vec<_>>().join(" ");
    match &command.target {
        Target::Command => words,
        Target::Pid { pid } if words.is_empty() => format!("process {pid}"),
        Target::Pid { pid } => format!("process {pid}: {words}"),
        Target::Cgroup { path } => {
            format!("control group {}", escaped(path.as_os_str().as_bytes()))
        }
        Target::System => "the whole host".to_owned(),
    }
}

/// A word as a shell takes it, as far as it has no quote.
pub(crate) fn quoted(name: String) -> String {
    if name.is_empty() || name.contains([' ', '\'', '"', '$', '*', ';', '|', '&', '<', '>']) {
        format!("'{name}'")
    } else {
        name
    }
}

/// How it ended and after how long.
fn ending(summary: &Summary) -> String {
    let command = &summary.profile.command;
    let wall = units::duration(summary.time.wall_ns);
    let still = match command.still_running {
        0 => String::new(),
        n => format!(", {n} still running"),
    };
    match (command.exit, &command.target) {
        (Observed::Value(ExitStatus::Code(code)), _) => format!("exit {code} after {wall}{still}"),
        (Observed::Value(ExitStatus::Signal(signal)), _) => {
            format!("killed by signal {signal} after {wall}{still}")
        }
        (Observed::Missing(_), Target::Command) => format!("still running after {wall}"),
        (Observed::Missing(_), _) => format!("observed for {wall}"),
    }
}

fn cpu(summary: &Summary) -> Option<String> {
    let command = &summary.profile.command;
    let part = |word: &str, ns: Observed<u64>, of_wall: Option<f64>| {
        let ns = ns.value()?;
        let share =
            of_wall.map_or(String::new(), |share| format!(" ({})", units::whole_percent(share)));
        Some(format!("{word} {}{share}", units::duration(ns)))
    };
    let user = part("user", command.user_ns, summary.time.user_of_wall);
    let system = part("system", command.system_ns, summary.time.system_of_wall);
    let parts: Vec<String> = [user, system].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn memory(summary: &Summary) -> Option<String> {
    let bytes = summary.profile.command.max_rss_bytes.value()?;
    Some(format!("RSS {}", units::bytes(bytes)))
}
