//! Which language a program is written in, as far as a recording tells.

use std::path::Path;

use hotset_facts::trace::{ProcessIndex, TraceLists, TraceProcess};

use super::TraceSiteShare;

hotset_facts::words! {
    /// A language that a program is written in.
    pub enum Language {
        /// The language C, or one whose calls look the same.
        C = "c",
        /// C with classes.
        Cpp = "cpp",
        /// Rust, by the names of its functions.
        Rust = "rust",
        /// Go, by the names of its functions.
        Go = "go",
        /// Python, by its interpreter.
        Python = "python",
        /// JavaScript in Node.js.
        Node = "node",
        /// Java, or another language of its virtual machine.
        Java = "java",
        /// Ruby, by its interpreter.
        Ruby = "ruby",
        /// A shell's script.
        Shell = "shell",
    }
}

/// Interpreters by the beginning of their names. What follows may be a version: `python3.11`.
const INTERPRETERS: [(&str, Language); 10] = [
    ("python", Language::Python),
    ("pypy", Language::Python),
    ("nodejs", Language::Node),
    ("node", Language::Node),
    ("java", Language::Java),
    ("ruby", Language::Ruby),
    ("bash", Language::Shell),
    ("dash", Language::Shell),
    ("zsh", Language::Shell),
    ("sh", Language::Shell),
];

/// The languages of these processes and call sites, each once.
pub(super) fn languages(
    processes: impl Iterator<Item = ProcessIndex>,
    sites: &[TraceSiteShare],
    lists: &TraceLists,
) -> Vec<Language> {
    let of_processes = processes.filter_map(|index| of_process(lists.process(index)?));
    let of_sites = sites.iter().filter_map(|share| {
        let frames = &lists.site(share.site)?.frames;
        frames.iter().find_map(|frame| of_function(frame.function.as_deref()?))
    });
    let mut found: Vec<Language> = Vec::new();
    for language in of_processes.chain(of_sites) {
        if !found.contains(&language) {
            found.push(language);
        }
    }
    found
}

fn of_process(process: &TraceProcess) -> Option<Language> {
    let program = process.argv.first().and_then(|word| Path::new(word).file_name()?.to_str());
    program.and_then(of_program).or_else(|| of_program(&process.comm))
}

/// A login shell's name begins with `-`.
fn of_program(name: &str) -> Option<Language> {
    let name = name.trim_start_matches('-');
    let known = INTERPRETERS.iter().find(|(interpreter, _)| {
        let version = name.strip_prefix(interpreter);
        version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
    });
    known.map(|(_, language)| *language)
}

/// What names of functions betray: of C and of what looks like it, nothing.
fn of_function(name: &str) -> Option<Language> {
    let is_hash = |tail: &str| tail.len() == 16 && tail.chars().all(|c| c.is_ascii_hexdigit());
    let is_rust = name.rsplit_once("::h").is_some_and(|(_, hash)| is_hash(hash))
        || ["std::rt::", "core::ops::", "alloc::"].iter().any(|start| name.starts_with(start))
        || name.starts_with("_R");
    let is_go = ["runtime.goexit", "main.main", "os.(*File)", "syscall.Syscall"]
        .iter()
        .any(|start| name.starts_with(start));
    match name {
        _ if is_rust => Some(Language::Rust),
        _ if is_go => Some(Language::Go),
        _ if name.starts_with("std::") || name.starts_with("_ZNSt") => Some(Language::Cpp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_known_by_its_name_and_any_version() {
        for (name, language) in [
            ("python3.11", Some(Language::Python)),
            ("node", Some(Language::Node)),
            ("-bash", Some(Language::Shell)),
            ("sh", Some(Language::Shell)),
            ("java", Some(Language::Java)),
            ("shopd", None),
            ("javac", None),
            ("node_exporter", None),
        ] {
            assert_eq!(of_program(name), language, "{name}");
        }
    }

    #[test]
    fn functions_tell_what_a_binary_was_made_of() {
        assert_eq!(of_function("app::load::h0123456789abcdef"), Some(Language::Rust));
        assert_eq!(of_function("runtime.goexit.abi0"), Some(Language::Go));
        assert_eq!(of_function("std::basic_filebuf<char>::sync()"), Some(Language::Cpp));
        assert_eq!(of_function("main"), None);
    }
}
