//! `hotset report`: saved results as a page.

use std::path::{Path, PathBuf};

use anyhow::Context;
use hotset_analysis::trace::pictures::PictureSize;
use hotset_trace::is_parquet;
use hotset_view::page::Page;
use hotset_view::results::{Contents, ResultFile, results_page};
use hotset_view::trace::trace_page;

use super::inputs::{is_same, is_trace, read};
use super::trace_read::TraceRead;
use crate::args::ReportArgs;
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// Rows that a table of a trace has at most.
const TRACE_ROWS: usize = 200;

/// What a file holds, once it was read.
enum Held {
    Documents(Vec<u8>),
    Trace(Page),
}

/// Reads all, then writes the page.
pub(super) fn report(args: &ReportArgs) -> Result<Exit, Stop> {
    if let Some(file) = args.files.iter().find(|file| is_same(file, &args.output)) {
        return Err(Stop::usage(format_args!(
            "{}: the page would replace it; expected another name after -o",
            file.display()
        )));
    }
    let mut contents = Vec::new();
    for (file, name) in args.files.iter().zip(names(&args.files)) {
        contents.push((name, held(file)?));
    }
    let files = contents.iter_mut().map(|(name, held)| ResultFile {
        name,
        contents: match held {
            Held::Documents(bytes) => Contents::Documents(&*bytes),
            Held::Trace(page) => Contents::Page(std::mem::take(page)),
        },
    });
    let page = results_page(files, &hotset_experiments::present).or_exit(Exit::Failure)?;
    output::page(&page, &args.output).context("the page was not written")?;
    Ok(Exit::Success)
}

/// A trace is read in parts, from its end: it may be of any size, and must be a file.
fn held(path: &Path) -> anyhow::Result<Held> {
    let named = || path.display().to_string();
    if path != Path::new("-") && is_trace(path).with_context(named)? {
        let read = TraceRead::of(path, TRACE_ROWS, &PictureSize::PAGE)?;
        return Ok(Held::Trace(trace_page(&read.trace())));
    }
    let bytes = read(path).with_context(named)?;
    if is_parquet(&bytes) {
        anyhow::bail!(
            "{}: a trace, through a pipe or compressed; expected the name of its Parquet file",
            named()
        );
    }
    Ok(Held::Documents(bytes))
}

/// Each file's own name, or its path where others have the same.
fn names(files: &[PathBuf]) -> Vec<String> {
    let own = |path: &PathBuf| match path.file_name() {
        _ if path == Path::new("-") => "standard input".to_owned(),
        Some(name) => name.to_string_lossy().into_owned(),
        None => path.display().to_string(),
    };
    let all: Vec<String> = files.iter().map(own).collect();
    let name =
        |(path, name): (&PathBuf, &String)| match all.iter().filter(|one| *one == name).count() {
            1 => name.clone(),
            _ => path.display().to_string(),
        };
    files.iter().zip(&all).map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_while_they_tell_files_apart() {
        let names = names(&["a/x.json", "b/x.json", "b/y.json", "-"].map(PathBuf::from));
        assert_eq!(names, ["a/x.json", "b/x.json", "y.json", "standard input"]);
    }
}
