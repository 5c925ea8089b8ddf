//! What all clients of other hosts have in common: whom they trust, and what they say of failures.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// How servers prove who they are: by the authorities that the host trusts, or by those of a file.
///
/// # Errors
/// Where there are no authorities.
pub(crate) fn tls(authorities: Option<&Path>) -> Result<TlsConfig> {
    let certificates = match authorities {
        Some(file) => of_file(file).with_context(|| file.display().to_string())?,
        None => of_host()?,
    };
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .unversioned_rustls_crypto_provider(provider)
        .root_certs(RootCerts::new_with_certs(&certificates))
        .build())
}

fn of_host() -> Result<Vec<Certificate<'static>>> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let why = found.errors.first().map_or_else(String::new, |error| format!(": {error}"));
        return Err(anyhow!(
            "this host has no certificates of authorities for https (package ca-certificates, or SSL_CERT_FILE){why}"
        ));
    }
    Ok(found.certs.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
}

fn of_file(file: &Path) -> Result<Vec<Certificate<'static>>> {
    let bytes = std::fs::read(file)?;
    let mut certificates = Vec::new();
    for item in parse_pem(&bytes) {
        if let PemItem::Certificate(certificate) = item? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(anyhow!("no certificate is in it; expected some in PEM form"));
    }
    Ok(certificates)
}

/// A failure in words, without the URL, which may be signed.
pub(crate) fn words(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(which) => format!("no answer in time ({which})"),
        ureq::Error::HostNotFound => "the name of the host is not known".to_owned(),
        ureq::Error::BadUri(_) => "no request can be made of that URL".to_owned(),
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}
