//! The files that states are set on, and the last words of a command that failed before there was a session.

use hotset_facts::{ExitStatus, FileSet, SetMember};

use super::words;
use crate::escape::{escape_bytes, escape_text, shorten_middle};
use crate::report::Options;
use crate::report::screen::{Screen, Tone};
use crate::units::{bytes, count};

/// The files of each command with their sizes and how they are used. Paths end their lines and are never shortened.
pub fn render_files(commands: &[&str], sets: &[FileSet], options: &Options) -> String {
    let mut screen = Screen::new(options);
    for (place, (name, set)) in commands.iter().zip(sets).enumerate() {
        if place > 0 {
            screen.line("");
        }
        let name = shorten_middle(&screen.name(name.as_bytes()), screen.width);
        let name = screen.paint(&name, Tone::Heading);
        screen.line(&name);
        screen.line(&words::files_of(set).unwrap_or_else(|| "nothing was learned".to_owned()));
        for member in &set.members {
            let path = screen.path(&member.path);
            screen.line(&format!(
                "  {:>9}  {:<12}  {path}{}",
                bytes(member.size_bytes),
                uses(member),
                stays(member)
            ));
        }
        for file in &set.unreadable {
            let path = screen.path(&file.path);
            screen.line(&format!(
                "  {:>9}  {:<12}  {path} ({})",
                "-",
                "left out",
                escape_text(&file.reason)
            ));
        }
    }
    screen.finish()
}

fn uses(member: &SetMember) -> String {
    let uses = [(member.read, "read"), (member.mapped, "map"), (member.written, "write")];
    uses.into_iter().filter_map(|(does, word)| does.then_some(word)).collect::<Vec<_>>().join("+")
}

fn stays(member: &SetMember) -> String {
    match member.cannot_evict {
        Some(stuck) if stuck.pages > 0 => {
            format!(" ({} pages stay cached: {})", count(stuck.pages), stuck.reason.phrase())
        }
        _ => String::new(),
    }
}

/// That something failed, how, and the end of what it wrote.
pub fn failure(name: &str, exit: ExitStatus, tail: &[u8]) -> String {
    let mut text = format!("{} {}", escape_text(name), words::ended(exit));
    let lines = words::last_lines(tail);
    if !lines.is_empty() {
        text.push_str("; the end of its output:\n");
    }
    for line in lines {
        text.push_str(&format!("  {}\n", escape_bytes(line)));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use hotset_facts::{Dev, FileId, LearnedBy, StuckPages, Unevictable, Unreadable};

    use super::*;

    #[test]
    fn every_file_is_named_in_full() {
        let long = format!("/srv/{}/data\n", "x".repeat(200));
        let member = |path: &str, stuck| SetMember {
            path: PathBuf::from(path),
            id: FileId::new(Dev { major: 8, minor: 1 }, 1),
            size_bytes: 5000,
            mtime_ns: 0,
            hole_bytes: 0,
            may_be_compressed: false,
            read: true,
            mapped: stuck,
            written: false,
            cannot_evict: stuck.then_some(StuckPages { pages: 1200, reason: Unevictable::Mapped }),
        };
        let set = FileSet {
            learned_by: LearnedBy::Sensor,
            members: vec![member(&long, false), member("/lib/libc.so.6", true)],
            unreadable: vec![Unreadable { path: "/root/x".into(), reason: "denied".to_owned() }],
        };
        let text = render_files(&["app"], &[set], &Options::default());
        let escaped = escape_text(&long);
        assert_eq!(
            text,
            format!(
                "app\n2 files, 9.77 KiB, learned by the sensor\n   4.88 KiB  read          {escaped}\n   \
                 4.88 KiB  read+map      /lib/libc.so.6 (1,200 pages stay cached: mapped by another process)\n          \
                 -  left out      /root/x (denied)\n"
            )
        );
    }

    #[test]
    fn a_failure_ends_with_its_last_words() {
        let text = failure("app", ExitStatus::Code(3), b"loading\n\x1b[2Jno\n");
        assert_eq!(text, "app exited with 3; the end of its output:\n  loading\n  \\x1b[2Jno\n");
        assert_eq!(failure("app", ExitStatus::Signal(9), b""), "app was killed by signal 9");
    }
}
