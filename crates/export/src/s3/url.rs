//! Where the tables of a fleet go, as it is typed.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The longest prefix: keys have 1,024 bytes at most, of which a file's own path takes less than 200.
const LONGEST_PREFIX: usize = 800;

/// Where the tables of a fleet go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// A directory, which may be on a file system of the network.
    Directory(PathBuf),
    /// A bucket of an object storage.
    Bucket(S3Url),
}

impl Destination {
    /// What is typed: a path, or `s3://BUCKET/PREFIX`.
    ///
    /// # Errors
    /// Where it is neither; a path that begins like a URL can be written `./…`.
    pub fn parse(typed: impl AsRef<OsStr>) -> Result<Self, String> {
        let typed = typed.as_ref();
        let text = typed.to_string_lossy();
        let Some((scheme, rest)) = text.split_once(':').filter(|(scheme, _)| is_scheme(scheme))
        else {
            return Ok(Self::Directory(typed.into()));
        };
        let is_url = rest.starts_with("//");
        match scheme.to_ascii_lowercase().as_str() {
            "s3" if scheme == "s3" && is_url && typed.to_str().is_none() => {
                Err("the prefix of a bucket is UTF-8".to_owned())
            }
            "s3" if scheme == "s3" && is_url => text.parse().map(Self::Bucket),
            "s3" | "s3a" | "s3n" => Err(format!(
                "expected s3://BUCKET or s3://BUCKET/PREFIX{}; for a directory of this name write ./{text}",
                if is_url { format!(", so s3:{rest}") } else { String::new() }
            )),
            _ if is_url => Err(format!(
                "expected a directory or s3://BUCKET/PREFIX; {scheme}:// is not supported, but a server that speaks S3 can be named in AWS_ENDPOINT_URL"
            )),
            _ => Ok(Self::Directory(typed.into())),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(root) => root.display().fmt(f),
            Self::Bucket(url) => url.fmt(f),
        }
    }
}

/// A bucket, and what keys in it begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct S3Url {
    pub(super) bucket: String,
    /// Without a slash at either end; may be empty.
    pub(super) prefix: String,
}

impl S3Url {
    /// The key of a path below the prefix.
    pub(super) fn key(&self, path: &str) -> String {
        if self.prefix.is_empty() { path.to_owned() } else { format!("{}/{path}", self.prefix) }
    }
}

impl FromStr for S3Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("s3://").ok_or("expected s3://BUCKET/PREFIX")?;
        if rest.contains(['?', '#']) {
            return Err("expected s3://BUCKET/PREFIX without ? and #: the region and the endpoint are in AWS_REGION and AWS_ENDPOINT_URL".to_owned());
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err("the bucket is missing; expected s3://BUCKET/PREFIX".to_owned());
        }
        if bucket.contains('@') {
            return Err(
                "the URL contains credentials; use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a file of them".to_owned(),
            );
        }
        if bucket.contains(':') {
            return Err(format!(
                "{bucket:?} is no name of a bucket; expected s3://BUCKET/PREFIX, with the server's address in AWS_ENDPOINT_URL"
            ));
        }
        if !is_bucket(bucket) {
            return Err(format!(
                "{bucket:?} is no name of a bucket, which has 3 to 63 lower-case letters, digits, hyphens and dots, and begins and ends with a letter or digit"
            ));
        }
        let prefix = prefix.trim_end_matches('/');
        if prefix.split('/').any(|part| matches!(part, "" | "." | "..")) && !prefix.is_empty() {
            return Err(format!("the prefix {prefix:?} has a part that is empty, . or .."));
        }
        if prefix.len() > LONGEST_PREFIX || prefix.chars().any(char::is_control) {
            return Err(format!(
                "expected a prefix of at most {LONGEST_PREFIX} bytes without control characters"
            ));
        }
        Ok(Self { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

/// By the rules for general purpose buckets; other servers have the same or stricter ones.
fn is_bucket(name: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = name.as_bytes();
    (3..=63).contains(&bytes.len())
        && bytes.iter().all(|&byte| alphanumeric(byte) || byte == b'-' || byte == b'.')
        && [bytes.first(), bytes.last()].into_iter().flatten().all(|&byte| alphanumeric(byte))
        && !name.contains("..")
}

impl fmt::Display for S3Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bucket, prefix } = self;
        let slash = if prefix.is_empty() { "" } else { "/" };
        write!(f, "s3://{bucket}{slash}{prefix}")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_bucket_may_have_a_prefix() {
        for (text, bucket, prefix, key) in [
            ("s3://fleet", "fleet", "", "host/x"),
            ("s3://fleet/", "fleet", "", "host/x"),
            ("s3://my.fleet-1/a/team=b//", "my.fleet-1", "a/team=b", "a/team=b/host/x"),
            ("s3://fleet/flöße 🚢", "fleet", "flöße 🚢", "flöße 🚢/host/x"),
        ] {
            let url: S3Url = text.parse().expect(text);
            assert_eq!((url.bucket.as_str(), url.prefix.as_str()), (bucket, prefix));
            assert_eq!(url.key("host/x"), key);
        }
    }

    #[test]
    fn what_can_not_be_meant_is_refused_with_what_would_be_right() {
        for (text, word) in [
            ("s3://", "the bucket is missing"),
            ("s3:///fleet", "the bucket is missing"),
            ("s3a://fleet/x", "so s3://fleet/x"),
            ("s3n://fleet", "so s3://fleet"),
            ("S3://fleet", "so s3://fleet"),
            ("s3:/fleet", "./s3:/fleet"),
            ("gs://fleet", "gs:// is not supported"),
            ("https://fleet.s3.amazonaws.com", "AWS_ENDPOINT_URL"),
            ("s3://fleet/x?region=eu", "AWS_REGION"),
            ("s3://fleet/x#y", "without ? and #"),
            ("s3://localhost:9000/fleet", "AWS_ENDPOINT_URL"),
            ("s3://key:secret@fleet", "AWS_ACCESS_KEY_ID"),
            ("s3://Fleet", "lower-case"),
            ("s3://ab", "3 to 63"),
            ("s3://a..b", "no name of a bucket"),
            ("s3://fleet/../x", ".."),
            ("s3://fleet/a//b", "empty"),
            ("s3://fleet/a\nb", "control characters"),
        ] {
            let error = Destination::parse(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
        let bad = OsStr::from_bytes(b"s3://fleet/\xff");
        assert!(Destination::parse(bad).expect_err("no UTF-8").contains("UTF-8"));
    }

    #[test]
    fn all_else_is_a_directory() {
        for text in ["fleet", "/srv/fleet", "./s3:/x", "a:b", "/srv/s3://x", "", "1:x"] {
            assert_eq!(Destination::parse(text), Ok(Destination::Directory(text.into())));
        }
        let odd = OsStr::from_bytes(b"/srv/\xff");
        assert_eq!(Destination::parse(odd), Ok(Destination::Directory(odd.into())));
    }
}
