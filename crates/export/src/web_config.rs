//! The web configuration file, as the exporters of the Prometheus project have it: TLS, passwords, headers.
//!
//! What can't be done is refused and not passed over: whoever writes a restriction relies on it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// bcrypt doubles its work with each step: 16 takes some seconds for one password.
const MAX_BCRYPT_COST: u32 = 16;

/// The headers that may be set, as in the exporters.
const HEADERS: [&str; 5] = [
    "Content-Security-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "X-XSS-Protection",
];

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WebConfig {
    /// TLS; plain HTTP without.
    pub(super) tls_server_config: Option<TlsConfig>,
    /// Who may read: names, and bcrypt hashes of their passwords. Everybody without.
    #[serde(default)]
    pub(super) basic_auth_users: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) http_server_config: HttpConfig,
}

/// `tls_server_config`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsConfig {
    /// The certificate with its chain, as PEM.
    pub(super) cert_file: PathBuf,
    /// Its key, as PEM.
    pub(super) key_file: PathBuf,
    /// Who signs the certificates of clients.
    pub(super) client_ca_file: Option<PathBuf>,
    /// Whether clients need one.
    #[serde(default)]
    pub(super) client_auth_type: ClientAuth,
    /// The oldest version that is spoken.
    #[serde(default)]
    pub(super) min_version: MinVersion,
}

/// The names are Go's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) enum ClientAuth {
    /// Nobody is asked.
    #[default]
    NoClientCert,
    /// Who has one must have a good one.
    VerifyClientCertIfGiven,
    /// Everybody must have a good one.
    RequireAndVerifyClientCert,
}

/// The names are Go's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) enum MinVersion {
    /// TLS 1.2.
    #[default]
    TLS12,
    /// TLS 1.3.
    TLS13,
}

/// `http_server_config`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HttpConfig {
    /// The exporters' default is true; hotset speaks HTTP/1.1 whatever stands here, which every client does.
    #[serde(rename = "http2")]
    _http2: Option<bool>,
    /// Sent with every answer.
    #[serde(default)]
    pub(super) headers: BTreeMap<String, String>,
}

impl WebConfig {
    /// Reads and checks the file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Self::parse(&text, path).with_context(|| path.display().to_string())
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        // An empty file asks for nothing.
        let config: Option<Self> = serde_yaml_ng::from_str(text)?;
        let mut config = config.unwrap_or_default();
        if let Some(tls) = &mut config.tls_server_config {
            tls.check()?;
            // Relative to the file, wherever hotset was started.
            let beside = path.parent().unwrap_or(Path::new("."));
            let files = [&mut tls.cert_file, &mut tls.key_file].into_iter();
            for file in files.chain(tls.client_ca_file.as_mut()) {
                *file = beside.join(&*file);
            }
        }
        check_users(&config.basic_auth_users)?;
        check_headers(&config.http_server_config.headers)?;
        Ok(config)
    }
}

impl TlsConfig {
    fn check(&self) -> Result<()> {
        match (self.client_auth_type, &self.client_ca_file) {
            (ClientAuth::NoClientCert, Some(_)) => bail!(
                "tls_server_config: client_ca_file is of no use without client_auth_type: RequireAndVerifyClientCert \
                 or VerifyClientCertIfGiven"
            ),
            (
                kind @ (ClientAuth::VerifyClientCertIfGiven
                | ClientAuth::RequireAndVerifyClientCert),
                None,
            ) => {
                bail!("tls_server_config: client_auth_type {kind:?} needs client_ca_file")
            }
            _ => Ok(()),
        }
    }
}

fn check_users(users: &BTreeMap<String, String>) -> Result<()> {
    for (name, hash) in users {
        ensure!(
            !name.is_empty() && !name.contains(':'),
            "basic_auth_users: {name:?} can't be sent as a name: it is empty or has a colon"
        );
        // The hash itself is a secret of sorts and stays out of messages.
        let parts: bcrypt::HashParts = hash.parse().map_err(|_| {
            anyhow::anyhow!(
                "basic_auth_users: the password of {name:?} is no bcrypt hash, such as `htpasswd -nBC 10 {name}` prints"
            )
        })?;
        ensure!(
            parts.get_cost() <= MAX_BCRYPT_COST,
            "basic_auth_users: the hash of {name:?} has cost {}; at most {MAX_BCRYPT_COST} is accepted",
            parts.get_cost()
        );
    }
    Ok(())
}

fn check_headers(headers: &BTreeMap<String, String>) -> Result<()> {
    for (name, value) in headers {
        ensure!(
            HEADERS.iter().any(|known| known.eq_ignore_ascii_case(name)),
            "http_server_config: headers: {name:?} can't be set; these can: {}",
            HEADERS.join(", ")
        );
        hyper::header::HeaderValue::from_str(value).map_err(|_| {
            anyhow::anyhow!(
                "http_server_config: headers: {name}: {value:?} is no value of a header"
            )
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<WebConfig, String> {
        WebConfig::parse(text, Path::new("/etc/hotset/web.yml"))
            .map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn a_file_as_the_exporters_have_it() {
        let config = parse(
            "tls_server_config:\n  cert_file: tls.crt\n  key_file: /run/tls.key\n  client_auth_type: RequireAndVerifyClientCert\n  \
             client_ca_file: ca.pem\n  min_version: TLS13\n\
             basic_auth_users:\n  alice: $2y$10$abcdefghijklmnopqrstuuVbuJc0DOzZLuRzQkD5pxHXTnPqOGgLG\n\
             http_server_config:\n  http2: false\n  headers:\n    X-Frame-Options: deny\n",
        )
        .expect("a good file");
        let tls = config.tls_server_config.expect("TLS");
        assert_eq!(tls.cert_file, Path::new("/etc/hotset/tls.crt"));
        assert_eq!(tls.key_file, Path::new("/run/tls.key"));
        assert_eq!(
            (tls.client_auth_type, tls.min_version),
            (ClientAuth::RequireAndVerifyClientCert, MinVersion::TLS13)
        );
        assert_eq!(config.http_server_config.headers["X-Frame-Options"], "deny");
        assert!(parse("").expect("empty").tls_server_config.is_none());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let tls = "tls_server_config: {cert_file: a, key_file: b";
        for (bad, words) in [
            ("basic_auth_user: {}", &["basic_auth_user", "basic_auth_users"][..]),
            (&format!("{tls}, cipher_suites: [x]}}"), &["cipher_suites"]),
            (&format!("{tls}, min_version: TLS10}}"), &["TLS10", "TLS12"]),
            (&format!("{tls}, client_ca_file: c}}"), &["client_ca_file", "client_auth_type"]),
            (
                &format!("{tls}, client_auth_type: RequireAndVerifyClientCert}}"),
                &["client_ca_file"],
            ),
            (
                &format!("{tls}, client_auth_type: RequireAnyClientCert}}"),
                &["RequireAnyClientCert"],
            ),
            ("tls_server_config: {cert_file: a}", &["key_file"]),
            ("basic_auth_users: {bob: secret}", &["\"bob\"", "bcrypt"]),
            ("basic_auth_users: {\"a:b\": x}", &["a:b", "colon"]),
            (
                "basic_auth_users: {eve: $2y$31$abcdefghijklmnopqrstuuVbuJc0DOzZLuRzQkD5pxHXTnPqOGgLG}",
                &["cost 31", "at most 16"],
            ),
            ("http_server_config: {headers: {Server: x}}", &["Server", "X-Frame-Options"]),
            ("http_server_config: {headers: {X-Frame-Options: \"a\\nb\"}}", &["X-Frame-Options"]),
            ("[1, 2", &["sequence"]),
        ] {
            let error = parse(bad).expect_err(bad);
            for word in words {
                assert!(error.contains(word), "{bad}: {error}");
            }
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
