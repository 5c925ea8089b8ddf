//! `hotset report`: saved results as a page.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hotset_view::results::{ResultFile, results_page};

use crate::args::ReportArgs;
use crate::exit::Exit;
use crate::output;

/// No result is this large; what is, is something else.
const MAX_BYTES: u64 = 1 << 30;

/// Reads all, then writes the page.
pub(crate) fn report(args: &ReportArgs) -> Exit {
    if let Some(file) = args.files.iter().find(|file| is_same(file, &args.output)) {
        output::say(format_args!(
            "{}: the page would replace it; expected another name after -o",
            file.display()
        ));
        return Exit::Usage;
    }
    let mut contents = Vec::new();
    for (file, name) in args.files.iter().zip(names(&args.files)) {
        match read(file) {
            Ok(bytes) => contents.push((name, bytes)),
            Err(error) => {
                output::say(format_args!("{}: {error}", file.display()));
                return Exit::Failure;
            }
        }
    }
    let files: Vec<ResultFile<'_>> =
        contents.iter().map(|(name, bytes)| ResultFile { name, bytes }).collect();
    let page = match results_page(&files) {
        Ok(page) => page,
        Err(error) => {
            output::say(error);
            return Exit::Failure;
        }
    };
    match output::page(&page, &args.output) {
        Ok(()) => Exit::Success,
        Err(error) => {
            output::say(format_args!("the page was not written: {error:#}"));
            Exit::Failure
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    } else {
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(io::Error::other("larger than 1 GiB; expected what hotset writes with --json")),
        false => Ok(bytes),
    }
}

/// Whether both are the same file, whatever the paths say.
fn is_same(file: &Path, output: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok().filter(|path| path.is_file());
    real(file).is_some_and(|file| real(output) == Some(file))
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
