//! What the web configuration asks for, loaded, and loaded anew when one of its files changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Result, ensure};
use hyper::header::{HeaderName, HeaderValue};
use tokio_rustls::TlsAcceptor;

use super::auth::Auth;
use super::tls;
use crate::Say;
use crate::shared::lock;
use crate::web_config::{ClientAuth, WebConfig};

/// What holds for a connection.
pub(super) struct Loaded {
    /// TLS; plain HTTP without.
    pub(super) tls: Option<TlsAcceptor>,
    /// Clients need a certificate.
    client_certificates: bool,
    /// Passwords; everybody without.
    pub(super) auth: Option<Auth>,
    /// Sent with every answer.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Loaded {
    fn plain() -> Self {
        Self { tls: None, client_certificates: false, auth: None, headers: Vec::new() }
    }

    /// A file that is being written looks empty or short for a moment: restrictions that vanish need a restart.
    fn unless_laxer_than(self, before: &Self, path: &Path) -> Result<Self> {
        let kept = |before: bool, now: bool, what: &str| {
            ensure!(
                now || !before,
                "{}: {what} can't be given up while hotset runs; start it again for that",
                path.display()
            );
            Ok(())
        };
        kept(before.tls.is_some(), self.tls.is_some(), "tls_server_config")?;
        kept(before.client_certificates, self.client_certificates, "client_auth_type")?;
        kept(before.auth.is_some(), self.auth.is_some(), "basic_auth_users")?;
        Ok(self)
    }

    fn new(config: WebConfig) -> Result<Self> {
        let tls = config.tls_server_config.as_ref().map(tls::server_config).transpose()?;
        let headers = config.http_server_config.headers.iter();
        Ok(Self {
            tls: tls.map(TlsAcceptor::from),
            client_certificates: config
                .tls_server_config
                .is_some_and(|tls| tls.client_auth_type == ClientAuth::RequireAndVerifyClientCert),
            auth: Auth::new(config.basic_auth_users)?,
            headers: headers
                .map(|(name, value)| Ok((name.parse()?, value.parse()?)))
                .collect::<Result<_>>()?,
        })
    }
}

/// The file, what it asked for when it was read last, and the files' state then.
pub(crate) struct Web {
    path: Option<PathBuf>,
    current: Mutex<Current>,
    say: Say,
}

struct Current {
    loaded: Arc<Loaded>,
    files: Files,
}

/// A file that is replaced, written, or opened to hotset has another one.
type Stamp = Option<[i64; 7]>;

fn stamp(path: &Path) -> Stamp {
    let file = std::fs::metadata(path).ok()?;
    let number = u64::cast_signed;
    Some([
        number(file.dev()),
        number(file.ino()),
        number(file.size()),
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec(),
    ])
}

/// Files, each with its stamp.
#[derive(Default)]
struct Files(Vec<(PathBuf, Stamp)>);

impl Files {
    fn add(&mut self, path: &Path) {
        self.0.push((path.to_owned(), stamp(path)));
    }

    fn have_changed(&self) -> bool {
        self.0.iter().any(|(path, before)| stamp(path) != *before)
    }
}

impl Web {
    /// Reads the file, if there is one.
    ///
    /// # Errors
    /// Where it can't be read, or asks for what can't be done.
    pub(crate) fn new(path: Option<&Path>, say: Say) -> Result<Self> {
        let current = match path {
            None => Current { loaded: Arc::new(Loaded::plain()), files: Files::default() },
            Some(path) => {
                let (loaded, files) = load(path);
                Current { loaded: Arc::new(loaded?), files }
            }
        };
        Ok(Self { path: path.map(Path::to_owned), current: Mutex::new(current), say })
    }

    /// Whether whoever reaches it may read.
    pub(crate) fn is_open(&self) -> bool {
        let current = self.current();
        current.tls.is_none() && current.auth.is_none()
    }

    /// Whether connections are encrypted, as the file says now.
    pub(crate) fn has_tls(&self) -> bool {
        self.current().tls.is_some()
    }

    /// What holds now. A file that changed is read again; if it is wrong, that is said and what held goes on to hold.
    pub(super) fn current(&self) -> Arc<Loaded> {
        let mut current = lock(&self.current);
        if let Some(path) = &self.path
            && current.files.have_changed()
        {
            let (loaded, files) = load(path);
            // Also where it failed: that is said once for each change, and what it names now is what has to change.
            current.files = files;
            match loaded.and_then(|new| new.unless_laxer_than(&current.loaded, path)) {
                Ok(new) => current.loaded = Arc::new(new),
                Err(error) => {
                    (self.say)(&format_args!(
                        "{error:#}; keeping the previous configuration until the file is corrected"
                    ));
                }
            }
        }
        Arc::clone(&current.loaded)
    }
}

/// Reads the file and those that it names. Each stamp is taken first: what changes while it is read is read once more.
fn load(path: &Path) -> (Result<Loaded>, Files) {
    let mut files = Files::default();
    files.add(path);
    let loaded = WebConfig::read(path).and_then(|config| {
        if let Some(tls) = &config.tls_server_config {
            files.add(&tls.cert_file);
            files.add(&tls.key_file);
            tls.client_ca_file.iter().for_each(|file| files.add(file));
        }
        Loaded::new(config)
    });
    (loaded, files)
}

#[cfg(test)]
mod tests;
