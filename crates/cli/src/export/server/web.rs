//! What the web configuration asks for, loaded, and loaded anew when one of its files changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use hyper::header::{HeaderName, HeaderValue};
use tokio_rustls::TlsAcceptor;

use super::auth::Auth;
use super::tls;
use crate::export::web_config::WebConfig;
use crate::output;

/// What holds for a connection.
pub(super) struct Loaded {
    /// TLS; plain HTTP without.
    pub(super) tls: Option<TlsAcceptor>,
    /// Passwords; everybody without.
    pub(super) auth: Option<Auth>,
    /// Sent with every answer.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Loaded {
    fn plain() -> Self {
        Self { tls: None, auth: None, headers: Vec::new() }
    }

    fn new(config: WebConfig) -> Result<Self> {
        let tls = config.tls_server_config.as_ref().map(tls::server_config).transpose()?;
        let headers = config.http_server_config.headers.iter();
        Ok(Self {
            tls: tls.map(TlsAcceptor::from),
            auth: Auth::new(config.basic_auth_users)?,
            headers: headers
                .map(|(name, value)| Ok((name.parse()?, value.parse()?)))
                .collect::<Result<_>>()?,
        })
    }
}

/// The file, what it asked for when it was read last, and the files' state then.
pub(in crate::export) struct Web {
    path: Option<PathBuf>,
    current: Mutex<Current>,
}

struct Current {
    loaded: Arc<Loaded>,
    files: Vec<PathBuf>,
    stamps: Vec<Stamp>,
}

/// A file that is replaced or written has another one.
type Stamp = Option<(u64, u64, u64, i64, i64)>;

fn stamp(path: &Path) -> Stamp {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino(), file.size(), file.mtime(), file.mtime_nsec()))
}

impl Web {
    /// Reads the file, if there is one.
    ///
    /// # Errors
    /// Where it can't be read, or asks for what can't be done.
    pub(in crate::export) fn new(path: Option<&Path>) -> Result<Self> {
        let current = match path {
            None => {
                Current { loaded: Arc::new(Loaded::plain()), files: Vec::new(), stamps: Vec::new() }
            }
            Some(path) => load(path)?,
        };
        Ok(Self { path: path.map(Path::to_owned), current: Mutex::new(current) })
    }

    /// Whether there is a file.
    pub(in crate::export) fn is_configured(&self) -> bool {
        self.path.is_some()
    }

    /// Whether connections are encrypted, as the file says now.
    pub(in crate::export) fn has_tls(&self) -> bool {
        self.current().tls.is_some()
    }

    /// What holds now. A file that changed is read again; if it is wrong, that is said and what held goes on to hold.
    pub(super) fn current(&self) -> Arc<Loaded> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &self.path {
            let stamps: Vec<Stamp> = current.files.iter().map(|file| stamp(file)).collect();
            if stamps != current.stamps {
                match load(path) {
                    Ok(new) => *current = new,
                    Err(error) => {
                        output::say(format_args!("{error:#}; what was read before still holds"));
                        // Said once for each change.
                        current.stamps = stamps;
                    }
                }
            }
        }
        Arc::clone(&current.loaded)
    }
}

fn load(path: &Path) -> Result<Current> {
    // The stamps first: what changes while it is read is read once more.
    let own = stamp(path);
    let config = WebConfig::read(path)?;
    let tls = config.tls_server_config.as_ref();
    let others = tls.map(|tls| {
        [Some(&tls.cert_file), Some(&tls.key_file), tls.client_ca_file.as_ref()]
            .into_iter()
            .flatten()
            .cloned()
    });
    let mut files = vec![path.to_owned()];
    files.extend(others.into_iter().flatten());
    let mut stamps: Vec<Stamp> = files.iter().map(|file| stamp(file)).collect();
    stamps[0] = own;
    Ok(Current { loaded: Arc::new(Loaded::new(config)?), files, stamps })
}
