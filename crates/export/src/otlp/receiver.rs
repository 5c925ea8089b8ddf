//! A receiver as it is typed: its URL, and headers for it.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;
use hyper::header::{HeaderName, HeaderValue};

/// Where to push to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtlpUrl(String);

impl FromStr for OtlpUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            "expected http://HOST[:PORT] or https://…, such as http://localhost:4318";
        let uri: Uri = text.parse().map_err(|_| EXPECTED)?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(EXPECTED.to_owned());
        }
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            return Err("the URL contains credentials; use --otlp-header Authorization=… instead"
                .to_owned());
        }
        Ok(Self(match uri.path() {
            "" | "/" if uri.query().is_none() => {
                format!("{}/v1/metrics", text.trim_end_matches('/'))
            }
            _ => text.to_owned(),
        }))
    }
}

impl fmt::Display for OtlpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A header of a push.
#[derive(Clone, PartialEq, Eq)]
pub struct Header {
    pub(super) name: HeaderName,
    pub(super) value: HeaderValue,
}

impl FromStr for Header {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
        // The value may be a secret: it stays out of messages.
        let mut value = HeaderValue::from_str(value.trim())
            .map_err(|_| format!("the value of {name:?} has characters that no header can have"))?;
        value.set_sensitive(true);
        let name = name.trim().parse().map_err(|_| format!("{name:?} is no name of a header"))?;
        Ok(Self { name, value })
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=…", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_without_a_path_gets_the_usual_one() {
        for (text, url) in [
            ("http://localhost:4318", "http://localhost:4318/v1/metrics"),
            ("https://otel.example/", "https://otel.example/v1/metrics"),
            ("http://[::1]:4318/in/v1/metrics", "http://[::1]:4318/in/v1/metrics"),
        ] {
            assert_eq!(text.parse::<OtlpUrl>().map(|url| url.to_string()), Ok(url.to_owned()));
        }
        for bad in ["localhost:4318", "ftp://host", "http://", "", "http:///v1/metrics", "/v1"] {
            assert!(bad.parse::<OtlpUrl>().expect_err(bad).contains("http://localhost:4318"));
        }
        let error = "http://me:secret@host".parse::<OtlpUrl>().expect_err("a password");
        assert!(error.contains("--otlp-header") && !error.contains("secret"));
    }

    #[test]
    fn a_header_keeps_its_value_to_itself() {
        let header: Header = "Authorization=Bearer a=b".parse().expect("a header");
        assert_eq!(
            (header.name.as_str(), header.value.to_str().ok()),
            ("authorization", Some("Bearer a=b"))
        );
        assert!(!format!("{header:?}").contains("Bearer"));
        assert!("Authorization".parse::<Header>().is_err());
        assert!("a b=c".parse::<Header>().expect_err("a space").contains("\"a b\""));
        let error = "X-Key=se\ncret".parse::<Header>().expect_err("a line feed");
        assert!(error.contains("X-Key") && !error.contains("cret"), "{error}");
    }
}
