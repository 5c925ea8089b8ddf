//! A directory that is written as a whole: it has another name until all its files are complete.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A directory that is not complete. One that is dropped before leaves nothing; of a process that is killed, `NAME.PID.part` stays.
#[derive(Debug)]
pub struct WholeDirectory {
    path: PathBuf,
    /// Its name until then.
    part: PathBuf,
    is_kept: bool,
}

impl WholeDirectory {
    /// Makes a directory beside the place of `name`, or of what that leads to through symbolic links.
    ///
    /// # Errors
    /// Where there is no such name, or its parent can't be written to.
    pub fn create(name: &Path) -> io::Result<Self> {
        let path = match fs::canonicalize(name) {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::NotFound => name.to_owned(),
            Err(error) => return Err(error),
        };
        let part = beside(&path, "part")?;
        fs::create_dir(&part)?;
        Ok(Self { path, part, is_kept: false })
    }

    /// Makes a file in it.
    ///
    /// # Errors
    /// As open(2), and where it has such a file.
    pub fn create_file(&self, name: &str) -> io::Result<File> {
        File::create_new(self.part.join(name))
    }

    /// Puts it in its place. Files of a directory that was there are removed.
    ///
    /// # Errors
    /// Where that directory holds anything but files that `may_remove`, or the kernel refuses; what was there stays.
    pub fn keep(mut self, may_remove: impl Fn(&OsStr) -> bool) -> io::Result<()> {
        let old = removable(&self.path, may_remove)?;
        let aside = beside(&self.path, "old")?;
        if old.is_some() {
            fs::rename(&self.path, &aside)?;
        }
        if let Err(error) = fs::rename(&self.part, &self.path) {
            if old.is_some() {
                fs::rename(&aside, &self.path)?;
            }
            return Err(error);
        }
        self.is_kept = true;
        if let Some(files) = old {
            for file in files {
                fs::remove_file(aside.join(file))?;
            }
            fs::remove_dir(&aside)?;
        }
        Ok(())
    }
}

impl Drop for WholeDirectory {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(&self.part);
        }
    }
}

/// What a directory holds, if there is one and all of it may be removed.
///
/// # Errors
/// Names what may not; where it can't be read.
pub fn removable(
    path: &Path,
    may_remove: impl Fn(&OsStr) -> bool,
) -> io::Result<Option<Vec<OsString>>> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if !entry.file_type()?.is_file() || !may_remove(&name) {
            let name = name.display();
            return Err(io::Error::other(format!("holds {name}, which would be lost")));
        }
        files.push(name);
    }
    Ok(Some(files))
}

fn beside(path: &Path, what: &str) -> io::Result<PathBuf> {
    let mut name = path
        .file_name()
        .ok_or_else(|| io::Error::other("expected the name of a directory"))?
        .to_owned();
    name.push(format!(".{}.{what}", std::process::id()));
    Ok(path.with_file_name(name))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use hotset_tests::Scratch;

    use super::*;

    fn listed(path: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(path).expect("a directory");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("an entry").file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_directory_is_there_when_it_is_complete() -> io::Result<()> {
        let scratch = Scratch::new("whole-directory");
        let target = scratch.path("out");
        let made = WholeDirectory::create(&target)?;
        made.create_file("a")?.write_all(b"new")?;
        assert!(!target.exists());
        drop(made);
        assert!(listed(scratch.dir()).is_empty());
        let made = WholeDirectory::create(&target.join(""))?;
        made.create_file("a")?.write_all(b"new")?;
        made.keep(|_| false)?;
        assert_eq!(listed(&target), ["a"]);
        assert_eq!(listed(scratch.dir()), ["out"]);
        Ok(())
    }

    #[test]
    fn only_what_may_be_lost_is_replaced() -> io::Result<()> {
        let scratch = Scratch::new("whole-directory");
        let target = scratch.path("out");
        fs::create_dir(&target)?;
        for name in ["old", "mine"] {
            fs::write(target.join(name), "old")?;
        }
        let refused = WholeDirectory::create(&target)?.keep(|name| name == "old");
        assert!(refused.is_err_and(|error| error.to_string().contains("holds mine")));
        assert_eq!((listed(&target).len(), listed(scratch.dir()).len()), (2, 1));
        let made = WholeDirectory::create(&target)?;
        made.create_file("new")?;
        made.keep(|_| true)?;
        assert_eq!((listed(&target), listed(scratch.dir()).len()), (vec!["new".into()], 1));
        Ok(())
    }
}
