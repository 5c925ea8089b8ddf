//! Where a command runs: its working directory and its environment.

use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What a command has otherwise than this process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// Variables that are set, in place of this process's of the same names.
    pub variables: Vec<(OsString, OsString)>,
    /// Its working directory; this process's where there is none.
    pub directory: Option<PathBuf>,
}

/// The same, ready for execve(2).
#[derive(Debug, Default)]
pub(super) struct Ready {
    pub(super) directory: Option<CString>,
    /// Points into `_words` and ends with null; empty where the environment is this process's.
    environment: Vec<*const libc::c_char>,
    _words: Vec<CString>,
}

impl Ready {
    /// # Errors
    /// EINVAL where a word holds a NUL, or a name an equals sign.
    pub(super) fn of(surroundings: &Surroundings) -> io::Result<Self> {
        let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| io::ErrorKind::InvalidInput);
        let directory = surroundings.directory.as_ref();
        let directory = directory.map(|path| text(path.as_os_str().as_bytes())).transpose()?;
        if surroundings.variables.is_empty() {
            return Ok(Self { directory, ..Self::default() });
        }
        let is_name = |name: &OsStr| !name.is_empty() && !name.as_bytes().contains(&b'=');
        if !surroundings.variables.iter().all(|(name, _)| is_name(name)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let is_set = |name: &OsStr| surroundings.variables.iter().any(|(set, _)| set == name);
        let kept = std::env::vars_os().filter(|(name, _)| !is_set(name));
        let words = kept.chain(surroundings.variables.iter().cloned()).map(|(name, value)| {
            text(&[name.as_bytes(), b"=", value.as_bytes()].concat()).map_err(io::Error::from)
        });
        let words = words.collect::<io::Result<Vec<_>>>()?;
        let null = std::iter::once(std::ptr::null());
        let environment = words.iter().map(|word| word.as_ptr()).chain(null).collect();
        Ok(Self { directory, environment, _words: words })
    }

    /// The environment for execve(2), if it is not this process's.
    pub(super) fn environment(&self) -> Option<*const *const libc::c_char> {
        (!self.environment.is_empty()).then_some(self.environment.as_ptr())
    }
}
