//! The files of the project, and how a test tells what is wrong with them.

use std::path::{Path, PathBuf};

/// A text file of the project.
pub(crate) struct Source {
    /// Its path below the root.
    pub(crate) path: PathBuf,
    pub(crate) text: String,
}

/// The project's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tidy lies in the project")
}

/// All files below `folder` with this ending, by path. What is built or hidden is none of them.
pub(crate) fn files(folder: &str, ending: &str) -> Vec<Source> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            if path.is_dir() && !path.is_symlink() && name != "target" && !name.starts_with('.') {
                folders.push(path);
            } else if path.is_file() && name.ends_with(ending) {
                let text = std::fs::read_to_string(&path).expect("text");
                let path = path.strip_prefix(root()).expect("below the root").to_owned();
                found.push(Source { path, text });
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!found.is_empty(), "no {ending} below {folder}");
    found
}

/// All Rust files.
pub(crate) fn rust() -> Vec<Source> {
    files(".", ".rs")
}

/// A place, as compilers write it.
pub(crate) fn at(path: &Path, line: usize) -> String {
    format!("{}:{line}", path.display())
}

/// Fails with all that is wrong.
#[track_caller]
pub(crate) fn none_of(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}
