//! Which files a command is about: the same words for every command that looks at files.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hotset_sys::tree::{PathFilter, Selection};

use hotset_control::{Globs, Patterns};
use hotset_facts::units::parse_size;

/// The longest list of names that `--files-from` takes, in bytes: it is held in memory.
const MAX_LIST_BYTES: u64 = 1 << 30;

/// Arguments that choose files.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Which files")]
pub(crate) struct SelectionArgs {
    /// Files, and directories with all files below them
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Read more paths from FILE, one per line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// Separate names by NUL instead of newline, in --files-from and in output
    #[arg(short = '0', long)]
    pub(crate) null: bool,
    /// Enter at most N levels of directories below each PATH; 0 = none
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<u32>,
    /// Skip files smaller than SIZE: 4096, 64K, 1.5M, 2GiB
    ///
    /// Units are powers of 1024.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) min_size: Option<u64>,
    /// Include only files that match GLOB; repeatable
    ///
    /// A pattern with a `/` is matched against the whole path as printed (`**` spans directories), any other against the
    /// file's name.
    #[arg(long, value_name = "GLOB")]
    pub(crate) include: Vec<String>,
    /// Skip files and directories that match GLOB; repeatable
    ///
    /// --exclude takes precedence over --include.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,
    /// Do not cross into other file systems
    #[arg(short = 'x', long)]
    pub(crate) one_file_system: bool,
    /// Follow symbolic links in directories
    ///
    /// A PATH that is a symbolic link is always followed.
    #[arg(short = 'L', long)]
    pub(crate) follow: bool,
}

impl SelectionArgs {
    /// What was typed, read and checked.
    ///
    /// # Errors
    /// Where nothing was named, a pattern is none, or the list of names can't be read.
    pub(crate) fn selection(&self) -> Result<Selection> {
        let roots = self.roots()?;
        if roots.is_empty() && self.files_from.is_none() {
            bail!("name a file or directory, or --files-from FILE");
        }
        self.selection_of(roots)
    }

    /// The same for roots that the caller has found.
    ///
    /// # Errors
    /// Where a pattern is none.
    pub(crate) fn selection_of(&self, roots: Vec<PathBuf>) -> Result<Selection> {
        let globs = Globs {
            include: Patterns::new(&self.include).context("--include")?,
            exclude: Patterns::new(&self.exclude).context("--exclude")?,
        };
        let is_filtered = !self.include.is_empty() || !self.exclude.is_empty();
        let filter = is_filtered.then(|| Arc::new(globs) as Arc<dyn PathFilter>);
        Ok(Selection {
            roots,
            max_depth: self.depth,
            one_file_system: self.one_file_system,
            follow_links: self.follow,
            min_size_bytes: self.min_size.unwrap_or(0),
            filter,
        })
    }

    /// Every path that was named, on the command line or in the list.
    ///
    /// # Errors
    /// Where the list can't be read.
    pub(crate) fn roots(&self) -> Result<Vec<PathBuf>> {
        let mut roots = self.paths.clone();
        if let Some(list) = &self.files_from {
            let named = || format!("--files-from {}", list.display());
            let bytes = read_list(list).with_context(named)?;
            roots.extend(names_in(&bytes, self.null));
        }
        Ok(roots)
    }
}

fn read_list(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().take(MAX_LIST_BYTES).read_to_end(&mut bytes)?
    } else {
        File::open(path)?.take(MAX_LIST_BYTES).read_to_end(&mut bytes)?
    };
    if read as u64 == MAX_LIST_BYTES {
        bail!("holds more than 1 GiB of names; give it in parts");
    }
    Ok(bytes)
}

/// Names in a list; blank ones are none. A line end of Windows belongs to the name, as it may.
fn names_in(bytes: &[u8], null: bool) -> impl Iterator<Item = PathBuf> {
    let end = if null { 0 } else { b'\n' };
    bytes
        .split(move |&byte| byte == end)
        .filter(|name| !name.is_empty())
        .map(|name| PathBuf::from(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_with_a_line_or_a_nul() {
        let lines: Vec<PathBuf> = names_in(b"a b\n\n/c\xff\nlast", false).collect();
        let odd = PathBuf::from(OsStr::from_bytes(b"/c\xff"));
        assert_eq!(lines, [PathBuf::from("a b"), odd, "last".into()]);
        let nuls: Vec<PathBuf> = names_in(b"a\nb\0c\0", true).collect();
        assert_eq!(nuls, [PathBuf::from("a\nb"), "c".into()]);
    }

    #[test]
    fn nothing_named_is_refused_and_an_empty_list_is_not() {
        let nothing = SelectionArgs::default().selection().expect_err("refused").to_string();
        assert!(nothing.contains("--files-from"), "{nothing}");
        let empty = SelectionArgs { files_from: Some("/dev/null".into()), ..Default::default() };
        assert!(empty.selection().expect("a selection").roots.is_empty());
    }

    #[test]
    fn files_are_filtered_only_where_there_are_patterns() {
        let is_filtered = |args: SelectionArgs| {
            args.selection_of(vec!["/".into()]).expect("a selection").filter.is_some()
        };
        let globs = || vec!["*.so".to_owned()];
        assert!(!is_filtered(SelectionArgs::default()));
        assert!(is_filtered(SelectionArgs { include: globs(), ..Default::default() }));
        assert!(is_filtered(SelectionArgs { exclude: globs(), ..Default::default() }));
    }

    #[test]
    fn a_list_that_is_not_there_is_named() {
        let args = SelectionArgs { files_from: Some("/no/such".into()), ..Default::default() };
        let error = format!("{:#}", args.selection().expect_err("refused"));
        assert!(error.contains("/no/such") && error.contains("No such file"), "{error}");
    }
}
