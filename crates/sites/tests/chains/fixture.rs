//! Programs made of small sources, and run until a test ends.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use hotset_facts::trace::{Site, SiteState};
use hotset_sites::Sites;

use crate::copied::Copy;

/// More than any of the fixtures uses of its stack.
const ENOUGH: usize = 64 << 10;

/// A source beside this file.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The number of the line of a source that is marked by `@mark`.
pub(crate) fn line_of(name: &str, mark: &str) -> u32 {
    let text = std::fs::read_to_string(source(name)).expect("the source");
    let marked =
        |line: &str| line.split_whitespace().any(|word| word.strip_prefix('@') == Some(mark));
    let at = text.lines().position(marked).unwrap_or_else(|| panic!("no @{mark} in {name}"));
    u32::try_from(at + 1).expect("a line")
}

/// Runs a tool that the test needs, and fails with what it says.
pub(crate) fn tool<S: AsRef<OsStr>>(program: &str, words: impl IntoIterator<Item = S>) -> Output {
    let output = Command::new(program).args(words).output().unwrap_or_else(|error| {
        panic!("this test needs {program}: {error}; `.ci/packages.sh build fuzz lab` installs it")
    });
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Compiles C or C++, with debug information and optimised if `flags` don't say other.
pub(crate) fn compile(name: &str, flags: &[&str], to: &Path) {
    let compiler = if name.ends_with(".cc") { "c++" } else { "cc" };
    let from = source(name);
    let mut words =
        vec!["-O2", "-g", from.to_str().expect("a path"), "-o", to.to_str().expect("a path")];
    words.extend_from_slice(flags);
    tool(compiler, words);
}

/// A program that runs, with an open standard input that nothing comes from unless a test says so.
pub(crate) struct Running {
    /// The process.
    pub(crate) child: Child,
}

impl Running {
    /// Starts a command.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("can't start {command:?}: {error}; see .ci/packages.sh build fuzz lab")
        });
        Self { child }
    }

    /// A copy of the thread that reads.
    pub(crate) fn copy(&self) -> Copy {
        Copy::of(self.child.id(), 0, ENOUGH)
    }

    /// Ends the process and waits for it.
    pub(crate) fn end(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("waited for");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// The site of a copy, of all its bytes, by a fresh start.
pub(crate) fn site_of(copy: &Copy) -> Site {
    let mut sites = Sites::new();
    sites.resolve(&copy.sample(ENOUGH, 0), None).expect("a site");
    sites.added().remove(0)
}

/// The functions of a site from the first on that has this name, with their lines.
pub(crate) fn from(site: &Site, first: &str) -> Vec<(String, Option<u32>)> {
    let all =
        site.frames.iter().map(|frame| (frame.function.clone().unwrap_or_default(), frame.line));
    all.skip_while(|(function, _)| function != first).collect()
}

/// Asserts that a program waits in read(2) below `functions`, innermost first, each at the line that its source marks.
pub(crate) fn assert_chain(site: &Site, name: &str, functions: &[&str]) {
    let expected: Vec<(String, Option<u32>)> = functions
        .iter()
        .map(|function| {
            let mark = function.rsplit("::").next().expect("a name");
            ((*function).to_owned(), Some(line_of(name, mark)))
        })
        .collect();
    let mut found = from(site, functions.first().expect("a function"));
    found.truncate(expected.len());
    assert_eq!(found, expected, "{site:#?}");
    assert_eq!(site.state, SiteState::Whole, "{site:#?}");
}
