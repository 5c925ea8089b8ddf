//! The directory of baselines: a file a name.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use hotset_facts::{Baseline, LabBaseline};
use hotset_sys::whole_file::WholeFile;
use hotset_view::bench::{baseline_json, read_baseline};
use hotset_view::lab::{lab_baseline_json, read_lab_baseline};
use hotset_view::wire::{Document, ReadError, documents, saves_baselines};
use rustix::fs::{Access, access};

use crate::destination::check_destination;
use crate::exit::{Exit, OrExit, Stop};

/// How the names of the files end.
const ENDING: &str = ".baseline.json";

/// Names at least as alike as this are taken for a slip: one letter of four that is wrong.
const ALIKE: f64 = 0.7;

/// What a command keeps under a name.
pub(crate) trait Kept: Sized {
    /// The command that saves it.
    const COMMAND: &'static str;

    fn name(&self) -> &str;

    /// A file that was copied is a baseline by its new name.
    fn named(self, name: &str) -> Self;

    fn read(document: &Document<'_>) -> Result<Self, ReadError>;

    fn json(&self) -> Vec<u8>;
}

impl Kept for Baseline {
    const COMMAND: &'static str = "bench";

    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    fn read(document: &Document<'_>) -> Result<Self, ReadError> {
        read_baseline(document)
    }

    fn json(&self) -> Vec<u8> {
        baseline_json(self)
    }
}

impl Kept for LabBaseline {
    const COMMAND: &'static str = "lab";

    fn name(&self) -> &str {
        &self.name
    }

    fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    fn read(document: &Document<'_>) -> Result<Self, ReadError> {
        read_lab_baseline(document)
    }

    fn json(&self) -> Vec<u8> {
        lab_baseline_json(self)
    }
}

/// Where baselines are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store<'a> {
    pub(crate) directory: &'a Path,
}

impl Store<'_> {
    /// The file of a name.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(format!("{name}{ENDING}"))
    }

    /// Reads a baseline.
    ///
    /// # Errors
    /// Where there is none, with those that there are; where it can't be read, is none, or another command's.
    pub(crate) fn read<T: Kept>(&self, name: &str) -> Result<T, Stop> {
        match self.read_file(name)? {
            Some(baseline) => Ok(baseline),
            None => Err(Stop::own(self.no_such(name))),
        }
    }

    /// The baseline of this name, if there is one.
    fn read_file<T: Kept>(&self, name: &str) -> Result<Option<T>, Stop> {
        let path = self.path(name);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Stop::own(format_args!("{}: {error}", path.display()))),
        };
        let own = T::COMMAND;
        let wrong = |error: &dyn std::fmt::Display| {
            Stop::own(format_args!(
                "{}: {error}; expected what `hotset {own} --save-baseline` of this version writes",
                path.display()
            ))
        };
        let documents = documents(&bytes).map_err(|error| wrong(&error))?;
        let [document] = documents.as_slice() else {
            return Err(wrong(&"several results in it"));
        };
        if let Some(other) = saves_baselines(&document.schema).filter(|other| *other != own) {
            let path = path.display();
            return Err(Stop::own(format_args!(
                "{path}: is a baseline of `hotset {other}`, which `hotset {own}` can't use; choose another name"
            )));
        }
        let read = T::read(document).map_err(|error| wrong(&error))?;
        Ok(Some(read.named(name)))
    }

    fn no_such(&self, name: &str) -> String {
        let directory = self.directory.display();
        let known = self.names();
        let alike = |other: &&String| strsim::normalized_damerau_levenshtein(name, other) >= ALIKE;
        let nearest = known.iter().filter(alike).max_by(|a, b| {
            let likeness = |other: &str| strsim::normalized_damerau_levenshtein(name, other);
            likeness(a).total_cmp(&likeness(b))
        });
        match (nearest, known.as_slice()) {
            (_, []) => format!(
                "there is no baseline in {directory}; make one with --save-baseline {name}, or name another --baseline-dir"
            ),
            (Some(nearest), _) => format!(
                "there is no baseline {name} in {directory}; did you mean {nearest}? There are {}",
                known.join(", ")
            ),
            (None, _) => {
                format!(
                    "there is no baseline {name} in {directory}; there are {}",
                    known.join(", ")
                )
            }
        }
    }

    /// Names of all baselines that are there, in order.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.directory) else { return Vec::new() };
        let name = |entry: io::Result<fs::DirEntry>| {
            let name = entry.ok()?.file_name();
            let name = name.to_string_lossy();
            name.strip_suffix(ENDING).map(hotset_view::escape_text)
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        names
    }

    /// Refuses a name under which nothing can be written, or something else stands; the baseline that is there already, if one is.
    pub(crate) fn check_writable<T: Kept>(&self, name: &str) -> Result<Option<T>, Stop> {
        if self.directory.exists() {
            check_destination(&self.path(name)).or_exit(Exit::Own)?;
            return self.read_file(name);
        }
        let above = self.directory.ancestors().skip(1).find(|above| above.exists());
        let above = above.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let can = match above.is_dir() {
            true => access(above, Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from),
            false => Err(io::Error::other("not a directory")),
        };
        let why = || {
            let directory = self.directory.display();
            format!("{directory}: can't be created in {}", above.display())
        };
        can.with_context(why).or_exit(Exit::Own).map(|()| None)
    }

    /// Writes a baseline as a whole, into a directory that is made where there is none.
    pub(crate) fn write(&self, baseline: &impl Kept) -> Result<(), Stop> {
        let path = self.path(baseline.name());
        let write = || -> io::Result<()> {
            fs::create_dir_all(self.directory)?;
            let mut file = WholeFile::create(&path)?;
            file.write_all(&baseline.json())?;
            file.keep()
        };
        write()
            .with_context(|| format!("the baseline was not saved: {}", path.display()))
            .or_exit(Exit::Own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_there_is_told_beside_those_that_are() {
        let directory = std::env::temp_dir().join(format!("hotset-store-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("directory");
        let store = Store { directory: &directory };
        let said = |name: &str| store.read::<Baseline>(name).expect_err("none").message;
        assert!(said("main").contains("make one with --save-baseline main"), "{}", said("main"));
        for name in ["main", "release"] {
            fs::write(store.path(name), "{").expect("file");
        }
        assert!(said("mian").contains("did you mean main? There are main, release"));
        assert!(said("other").ends_with("there are main, release"), "{}", said("other"));
        assert!(said("main").contains("ends in the middle"), "{}", said("main"));
        fs::remove_dir_all(&directory).expect("removed");
    }
}
