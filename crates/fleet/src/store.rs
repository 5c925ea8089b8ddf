//! Where finished files go.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hotset_sys::whole_file::WholeFile;

/// Takes finished files. It may wait; nobody waits for it.
pub trait Store: Send {
    /// Puts the contents of a file under a path below the root, in the place of what is there. Whoever reads it sees all of it, or nothing.
    ///
    /// # Errors
    /// Where it could not be put there; it will be tried again.
    fn put(&mut self, path: &str, file: &Path) -> io::Result<()>;

    /// Finds out, before there are files, whether any can be put there.
    ///
    /// # Errors
    /// Where none can; files are put there all the same when there are any.
    fn probe(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// What it is, for people.
    fn name(&self) -> String;
}

/// A directory, which may be on a file system of the network.
#[derive(Debug)]
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The root of a fleet; it is made where it is not there.
    ///
    /// # Errors
    /// Where it can't be made.
    pub fn new(root: &Path) -> io::Result<Self> {
        fs::create_dir_all(root)?;
        Ok(Self { root: root.to_owned() })
    }
}

impl Store for Directory {
    fn put(&mut self, path: &str, file: &Path) -> io::Result<()> {
        let target = self.root.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut whole = WholeFile::create(&target)?;
        whole.write_all(&fs::read(file)?)?;
        whole.sync()?;
        whole.keep()
    }

    fn name(&self) -> String {
        self.root.display().to_string()
    }
}
