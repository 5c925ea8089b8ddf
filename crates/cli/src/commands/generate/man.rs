//! A man page of a command. Name, description and options are clap_mangen's; the synopsis and what follows the options are
//! made here: clap_mangen's synopsis names no values, and it re-flows examples into a section called EXTRA.

use std::io;

use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// The first line of a block of the help that has a section of its own, and that section's name.
const SECTIONS: [(&str, &str); 4] = [
    ("Example:", EXAMPLES),
    ("Examples:", EXAMPLES),
    ("Exit status:", "EXIT STATUS"),
    ("Experiments:", "EXPERIMENTS"),
];
const EXAMPLES: &str = "EXAMPLES";
/// Where other text of the help goes.
const NOTES: &str = "NOTES";

/// The page of a command whose declaration is built.
pub(super) struct Page<'a> {
    command: &'a Command,
    man: Man,
}

impl<'a> Page<'a> {
    pub(super) fn of(command: &'a Command) -> Self {
        let version = command.get_version().unwrap_or_default();
        let man = Man::new(command.clone())
            .source(format!("hotset {version}"))
            .manual("hotset manual".to_owned());
        Self { command, man }
    }

    /// Such as `hotset-run.1`.
    pub(super) fn file_name(&self) -> String {
        self.man.get_filename()
    }

    /// The page's source.
    ///
    /// # Errors
    /// Only those of a buffer.
    pub(super) fn render(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        self.man.render_title(&mut out)?;
        self.man.render_name_section(&mut out)?;
        self.synopsis().to_writer(&mut out)?;
        self.man.render_description_section(&mut out)?;
        self.man.render_options_section(&mut out)?;
        if self.command.has_subcommands() {
            self.commands().to_writer(&mut out)?;
        }
        self.rest().to_writer(&mut out)?;
        Ok(out)
    }

    /// Every option with its value, then what has no name.
    fn synopsis(&self) -> Roff {
        let name = self.command.get_bin_name().unwrap_or_else(|| self.command.get_name());
        let mut line = vec![bold(name)];
        if self.command.has_subcommands() {
            line.extend([
                roman(" "),
                italic("COMMAND"),
                roman(" ["),
                italic("OPTION"),
                roman("]..."),
            ]);
        } else {
            let shown = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
            let (positional, options): (Vec<&Arg>, Vec<&Arg>) =
                shown.partition(|arg| arg.is_positional());
            let help = |arg: &&&Arg| !matches!(arg.get_id().as_str(), "help" | "version");
            options.iter().filter(help).for_each(|arg| push_option(&mut line, arg));
            positional.iter().for_each(|arg| push_positional(&mut line, arg));
        }
        let mut roff = Roff::default();
        roff.control("SH", ["SYNOPSIS"]);
        roff.text(line);
        roff
    }

    fn commands(&self) -> Roff {
        let mut roff = Roff::default();
        roff.control("SH", ["COMMANDS"]);
        for command in self.command.get_subcommands().filter(|command| !command.is_hide_set()) {
            roff.control("TP", []);
            roff.text([bold(format!("{}(1)", page_name(command)))]);
            roff.text([roman(command.get_about().map(ToString::to_string).unwrap_or_default())]);
        }
        roff
    }

    /// What the help says below the options, a section for each kind of block, and where to read on.
    fn rest(&self) -> Roff {
        let help = self.command.get_after_long_help().or_else(|| self.command.get_after_help());
        let help = help.map(ToString::to_string).unwrap_or_default();
        let mut roff = Roff::default();
        let mut open = "";
        for block in help.split("\n\n").map(Block::of).filter(|block| !block.lines.is_empty()) {
            if block.section != open {
                roff.control("SH", [block.section]);
                open = block.section;
            } else {
                roff.control("PP", []);
            }
            block.push(&mut roff);
        }
        roff.control("SH", ["SEE ALSO"]);
        roff.text([roman(see_also(page_name(self.command)))]);
        roff
    }
}

/// Such as `hotset-run`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Commands that go with the one of this page, and what the system has beside it.
fn see_also(page: &str) -> &'static str {
    match page.strip_prefix("hotset-").unwrap_or(page) {
        "run" => {
            "hotset(1), hotset-attach(1), hotset-report(1), hotset-bench(1), strace(1), perf(1)"
        }
        "attach" => {
            "hotset(1), hotset-run(1), hotset-top(1), hotset-report(1), cgroups(7), perf(1)"
        }
        "record" => {
            "hotset(1), hotset-trace(1), hotset-run(1), hotset-report(1), strace(1), perf(1)"
        }
        "explain" => "hotset(1), hotset-replay(1), hotset-record(1), hotset-run(1), strace(1)",
        "replay" => "hotset(1), hotset-explain(1), hotset-record(1), hotset-bench(1), fio(1)",
        "size" => "hotset(1), hotset-record(1), hotset-replay(1), hotset-top(1), cgroups(7)",
        "check" => "hotset(1), hotset-run(1), hotset-diff(1), hotset-bench(1), prove(1)",
        "diff" => "hotset(1), hotset-run(1), hotset-record(1), hotset-report(1), git-diff(1)",
        "trace" => "hotset(1), hotset-record(1), hotset-report(1), fio(1), strace(1), blkparse(1)",
        "trace-info" | "trace-export" | "trace-import" | "trace-join" => {
            "hotset(1), hotset-trace(1), hotset-record(1)"
        }
        "top" => "hotset(1), hotset-stat(1), hotset-attach(1), top(1), iotop(8)",
        "stat" => "hotset(1), hotset-top(1), hotset-export(1), vmstat(8), sar(1)",
        "export" => "hotset(1), hotset-stat(1), systemd.service(5)",
        "bench" => "hotset(1), hotset-run(1), hotset-report(1), hyperfine(1), perf-stat(1)",
        "lab" => "hotset(1), hotset-bench(1), hotset-report(1), fio(1), dd(1), io_uring(7)",
        "ls" => {
            "hotset(1), hotset-warm(1), hotset-evict(1), hotset-save(1), fincore(1), cachestat(2), mincore(2)"
        }
        "warm" => {
            "hotset(1), hotset-evict(1), hotset-pin(1), hotset-restore(1), readahead(2), posix_fadvise(2)"
        }
        "evict" => {
            "hotset(1), hotset-warm(1), hotset-ls(1), posix_fadvise(2), sync(2), proc_sys_vm(5)"
        }
        "pin" => "hotset(1), hotset-warm(1), mlock(2), systemd.service(5)",
        "save" => "hotset(1), hotset-restore(1), hotset-ls(1), cachestat(2)",
        "restore" => "hotset(1), hotset-save(1), hotset-warm(1), readahead(2)",
        "report" => "hotset(1), hotset-run(1), hotset-attach(1), hotset-bench(1), hotset-lab(1)",
        "doctor" => "hotset(1), hotset-run(1), bpf(2), capabilities(7), user_namespaces(7)",
        "hotset" => {
            "cachestat(2), mincore(2), posix_fadvise(2), vmtouch(8), hyperfine(1), perf(1), strace(1)"
        }
        _ => "hotset(1)",
    }
}

/// Columns of a page that lines of examples have, in a terminal of 80.
const EXAMPLE_COLUMNS: usize = 72;

/// An example that is too wide with what it says beside it has that on a line of its own.
fn example(line: &str) -> Vec<String> {
    let line = line.strip_prefix("  ").unwrap_or(line);
    let command = line.trim_start();
    match command.split_once("  ") {
        Some((command, says)) if line.chars().count() > EXAMPLE_COLUMNS => {
            let indent = line.chars().take_while(|letter| *letter == ' ').count();
            let (indent, says) = (" ".repeat(indent), says.trim());
            vec![format!("{indent}{command}"), format!("{indent}    {says}")]
        }
        _ => vec![line.to_owned()],
    }
}

/// Lines of the help between two empty ones.
struct Block<'a> {
    section: &'static str,
    lines: Vec<&'a str>,
}

impl<'a> Block<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let first = lines.first().map_or("", |line| line.trim());
        match SECTIONS.iter().find(|(title, _)| *title == first) {
            Some((_, section)) => Self { section, lines: lines[1..].to_vec() },
            None => Self { section: NOTES, lines },
        }
    }

    /// A list of words with what each means, such as exit codes, is one of the page. Other lines that are indented stay as they are;
    /// the rest is a paragraph.
    fn push(&self, roff: &mut Roff) {
        let entry =
            |line: &&'a str| line.trim_start().split_once("  ").filter(|_| line.starts_with(' '));
        let entries: Option<Vec<_>> = self.lines.iter().map(entry).collect();
        if let Some(entries) = entries.filter(|_| self.section != EXAMPLES) {
            for (word, means) in entries {
                roff.control("TP", []);
                roff.text([bold(word)]);
                roff.text([roman(means.trim())]);
            }
            return;
        }
        let mut is_literal = false;
        for line in &self.lines {
            let wanted = line.starts_with(' ');
            if wanted != is_literal {
                let request = if wanted { "nf" } else { "fi" };
                roff.control(request, []);
                is_literal = wanted;
            }
            let lines = if is_literal { example(line) } else { vec![(*line).to_owned()] };
            for line in lines {
                roff.text([roman(line)]);
            }
        }
        if is_literal {
            roff.control("fi", []);
        }
    }
}

fn values(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(" ")
}

fn push_option(line: &mut Vec<Inline>, arg: &Arg) {
    let (open, close) = if arg.is_required_set() { (" ", "") } else { (" [", "]") };
    line.push(roman(open));
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    match (short, long) {
        (Some(short), Some(long)) => line.extend([bold(short), roman("|"), bold(long)]),
        (Some(name), None) | (None, Some(name)) => line.push(bold(name)),
        (None, None) => {}
    }
    if arg.get_num_args().is_some_and(|number| number.takes_values()) {
        line.extend([roman(" "), italic(values(arg))]);
    }
    line.push(roman(close));
}

fn push_positional(line: &mut Vec<Inline>, arg: &Arg) {
    let many = arg.get_num_args().is_some_and(|number| number.max_values() > 1);
    let (open, close) = if arg.is_required_set() { (" ", "") } else { (" [", "]") };
    let dots = if many { "..." } else { "" };
    line.push(roman(open));
    if arg.is_trailing_var_arg_set() || arg.is_last_set() {
        line.push(roman("[--] "));
    }
    line.extend([italic(values(arg)), roman(dots), roman(close)]);
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    fn page(name: &str) -> String {
        let mut all = Cli::command().disable_help_subcommand(true);
        all.build();
        let command = all.find_subcommand(name).expect("a command");
        String::from_utf8(Page::of(command).render().expect("a page")).expect("text")
    }

    #[test]
    fn the_synopsis_names_values_and_examples_keep_their_lines() {
        let run = page("run");
        let synopsis = run.split(".SH SYNOPSIS").nth(1).and_then(|rest| rest.split(".SH").next());
        let synopsis = synopsis.expect("a synopsis");
        assert!(synopsis.contains(r"[\fB\-\-json\fR \fIFILE\fR]"), "{synopsis}");
        assert!(synopsis.contains(r"[\-\-] \fICMD\fR..."), "{synopsis}");
        let examples = run.split(".SH EXAMPLES").nth(1).and_then(|rest| rest.split(".SH").next());
        let examples: Vec<&str> = examples.expect("examples").trim().lines().collect();
        assert_eq!(examples.first(), Some(&".nf"), "{examples:?}");
        assert_eq!(examples.get(1), Some(&r"hotset run \-\- python3 app.py"), "{examples:?}");
        assert!(run.contains(".SH \"EXIT STATUS\""), "{run}");
    }

    #[test]
    fn a_command_of_a_command_has_a_page_of_its_own() {
        let trace = page("trace");
        assert!(trace.contains(r"\fBhotset\-trace\-export(1)\fR"), "{trace}");
        let mut all = Cli::command().disable_help_subcommand(true);
        all.build();
        let trace = all.find_subcommand("trace").expect("a command");
        let export = Page::of(trace.find_subcommand("export").expect("its command"));
        assert_eq!(export.file_name(), "hotset-trace-export.1");
        let export = String::from_utf8(export.render().expect("memory")).expect("text");
        assert!(
            export.contains(r"\-\-one\-log") && export.contains(r"hotset\-trace(1)"),
            "{export}"
        );
    }

    #[test]
    fn every_page_has_examples_and_none_has_a_section_without_a_name() {
        let mut all = Cli::command();
        all.build();
        let mut others = 0;
        for command in all.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            if name == "help" {
                continue;
            }
            let page = page(name);
            assert!(page.contains(".SH EXAMPLES"), "{name}");
            assert!(!page.contains(".SH EXTRA"), "{name}");
            let see_also = page.split(".SH \"SEE ALSO\"").nth(1).unwrap_or_default();
            assert!(see_also.contains("hotset(1), "), "{name}: {see_also}");
            for (other, _) in
                see_also.split(r"hotset\-").skip(1).filter_map(|rest| rest.split_once('('))
            {
                assert_ne!(other, name, "{see_also}");
                assert!(all.find_subcommand(other).is_some(), "{name}: hotset-{other}(1)");
                others += 1;
            }
            let literal = page.split(".nf\n").skip(1).filter_map(|rest| rest.split(".fi\n").next());
            for line in literal
                .flat_map(str::lines)
                .map(|line| line.replace(r"\*(Aq", "'").replace('\\', ""))
            {
                assert!(line.chars().count() <= EXAMPLE_COLUMNS, "{name}: {line}");
            }
        }
        assert!(others > 20, "{others} other commands are named");
    }
}
