//! TLS by rustls.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};

use crate::web_config::{ClientAuth, MinVersion, TlsConfig};

/// Reads certificate, key and authorities.
pub(super) fn server_config(config: &TlsConfig) -> Result<Arc<ServerConfig>> {
    let certificates = certificates(&config.cert_file)?;
    let key = PrivateKeyDer::from_pem_file(&config.key_file)
        .with_context(|| format!("no key in {}", config.key_file.display()))?;
    let versions: &[&SupportedProtocolVersion] = match config.min_version {
        MinVersion::TLS12 => &[&TLS12, &TLS13],
        MinVersion::TLS13 => &[&TLS13],
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)?;
    let builder = match verifier(config)? {
        None => builder.with_no_client_auth(),
        Some(verifier) => builder.with_client_cert_verifier(verifier),
    };
    let mut built = builder.with_single_cert(certificates, key).with_context(|| {
        let (cert, key) = (config.cert_file.display(), config.key_file.display());
        format!("private key {key} does not match certificate {cert}; configure a matching pair")
    })?;
    built.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(built))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let certificates = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(|| path.display().to_string())?;
    ensure!(!certificates.is_empty(), "no certificate in {}", path.display());
    Ok(certificates)
}

fn verifier(config: &TlsConfig) -> Result<Option<Arc<dyn ClientCertVerifier>>> {
    let (Some(path), false) =
        (&config.client_ca_file, config.client_auth_type == ClientAuth::NoClientCert)
    else {
        return Ok(None);
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).with_context(|| path.display().to_string())?;
    }
    let provider = Arc::new(ring::default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = match config.client_auth_type {
        ClientAuth::VerifyClientCertIfGiven => builder.allow_unauthenticated(),
        _ => builder,
    };
    Ok(Some(builder.build().with_context(|| path.display().to_string())?))
}
