//! A bucket as a store of finished files: Amazon S3, and servers that speak as it does.
//!
//! A file is one PUT, which is there as a whole or not at all, under a key that is the same each time it is tried; its MD5 goes with it, so
//! that the server refuses what arrived damaged. Secrets are in no message.

mod answer;
mod credentials;
mod environment;
#[cfg(test)]
pub(crate) mod fake;
mod http;
mod url;

use std::io;
use std::path::Path;
use std::time::Duration;

use ::url::Url;
use anyhow::{Result, anyhow};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hotset_fleet::Store;
use md5::{Digest as _, Md5};
use rusty_s3::actions::{GetObject, PutObject, S3Action};
use rusty_s3::{Bucket, UrlStyle};
use ureq::http::Request;
use ureq::http::header::CONTENT_TYPE;

use self::answer::{Asked, Refusal};
use self::credentials::{Chain, Credentials, region_of_instance};
use self::environment::Environment;
use self::http::{Answer, Http, ask};

pub use self::url::{Destination, S3Url};

/// How long a signature is valid: it is checked when a request begins.
const SIGNED_FOR: Duration = Duration::from_secs(900);
/// What servers other than Amazon's want to hear where nobody says a region.
const ANY_REGION: &str = "us-east-1";

/// The host of a service of Amazon in a region.
fn service_host(service: &str, region: &str) -> String {
    let end = if region.starts_with("cn-") { ".cn" } else { "" };
    format!("{service}.{region}.amazonaws.com{end}")
}

/// A bucket, with what it takes to put files there.
pub(crate) struct BucketStore {
    url: S3Url,
    endpoint: Option<Url>,
    region: Option<String>,
    http: Http,
    chain: Chain,
}

impl BucketStore {
    /// A bucket by what the environment says. Nobody is asked yet.
    ///
    /// # Errors
    /// Where the environment says what can't be meant.
    pub(crate) fn new(url: &S3Url) -> Result<Self> {
        Self::in_environment(url, Environment::of_process()).map_err(|why| anyhow!("{url}: {why}"))
    }

    fn in_environment(url: &S3Url, environment: Environment) -> Result<Self, String> {
        let endpoint = environment.endpoint("S3")?;
        let region = environment.region()?;
        let http = Http::new(environment.get("AWS_CA_BUNDLE").map(Into::into));
        if endpoint.as_ref().is_none_or(|url| url.scheme() == "https") {
            http.agent("https")?;
        }
        Ok(Self { url: url.clone(), endpoint, region, http, chain: Chain::new(environment) })
    }

    /// The bucket of the region, which may have to be asked for.
    fn bucket(&mut self) -> Result<Bucket, String> {
        let region = match (&self.region, &self.endpoint) {
            (Some(region), _) => region.clone(),
            (None, Some(_)) => ANY_REGION.to_owned(),
            (None, None) => {
                let found = region_of_instance(&self.chain.environment, &self.http);
                found.map_err(|why| format!("no region: set AWS_REGION to the bucket's ({why})"))?
            }
        };
        let name = self.url.bucket.clone();
        let (endpoint, style) = match &self.endpoint {
            Some(endpoint) => (endpoint.clone(), UrlStyle::Path),
            None => {
                let url = format!("https://{}/", service_host("s3", &region)).parse();
                let url = url.map_err(|_| format!("{region:?} is no region"))?;
                // A certificate is for one label before the service's name.
                let style = if name.contains('.') { UrlStyle::Path } else { UrlStyle::VirtualHost };
                (url, style)
            }
        };
        self.region = Some(region.clone());
        Bucket::new(endpoint, style, name, region).map_err(|error| error.to_string())
    }

    /// One request; with other credentials once more, if those at hand have expired.
    fn ask(
        &mut self,
        key: Option<&str>,
        send: impl Fn(&Http, &Bucket, &rusty_s3::Credentials) -> Result<Answer, String>,
    ) -> Result<(), Refused> {
        let bucket = self.bucket()?;
        let mut may_renew = true;
        loop {
            let credentials = self.chain.get(&self.http)?;
            let answer = send(&self.http, &bucket, &signing(&credentials));
            let answer =
                answer.map_err(|why| format!("{}: {why}", bucket.base_url().authority()))?;
            if answer.is_success() {
                return Ok(());
            }
            let refusal = Refusal::of(&answer);
            // Whoever gave them may have no others.
            if may_renew && refusal.is_of_credentials() && self.chain.forget() {
                may_renew = false;
                continue;
            }
            let words = refusal.words(&Asked {
                bucket: bucket.name(),
                key,
                region: bucket.region(),
                endpoint: self.endpoint.as_ref().map(Url::as_str),
                source: &credentials.source,
            });
            return Err(Refused { words, is_of_listing: refusal.is_of_listing() });
        }
    }
}

fn signing(credentials: &Credentials) -> rusty_s3::Credentials {
    let Credentials { key, secret, token, .. } = credentials;
    let (key, secret) = (key.clone(), secret.clone());
    match token.clone() {
        Some(token) => rusty_s3::Credentials::new_with_token(key, secret, token),
        None => rusty_s3::Credentials::new(key, secret),
    }
}

/// Why a request came to nothing.
struct Refused {
    words: String,
    /// Whether all else is right but that the bucket may not be listed.
    is_of_listing: bool,
}

impl From<String> for Refused {
    fn from(words: String) -> Self {
        Self { words, is_of_listing: false }
    }
}

impl Store for BucketStore {
    fn put(&mut self, path: &str, file: &Path) -> io::Result<()> {
        let bytes = std::fs::read(file)?;
        let digest = STANDARD.encode(Md5::digest(&bytes));
        let key = self.url.key(path);
        let put = |http: &Http, bucket: &Bucket, credentials: &rusty_s3::Credentials| {
            let url = PutObject::new(bucket, Some(credentials), &key).sign(SIGNED_FOR);
            let request = Request::put(url.as_str())
                .header(CONTENT_TYPE, "application/vnd.apache.parquet")
                .header("content-md5", &digest)
                .body(bytes.as_slice());
            let request = request.map_err(|_| "no request can be made of the key".to_owned())?;
            ask(http.agent(url.scheme())?, request)
        };
        self.ask(Some(&key), put).map_err(|refused| io::Error::other(refused.words))
    }

    /// Asks for a list of no objects: unlike other requests it is answered with what is wrong, be it the server, the region, the bucket, the
    /// credentials or the clock. A right to put files is only known when one is put.
    fn probe(&mut self) -> io::Result<()> {
        let list = |http: &Http, bucket: &Bucket, credentials: &rusty_s3::Credentials| {
            let mut action = GetObject::new(bucket, Some(credentials), "");
            action.query_mut().insert("list-type", "2");
            action.query_mut().insert("max-keys", "0");
            let url = action.sign(SIGNED_FOR);
            let request = Request::get(url.as_str()).body(());
            let request = request.map_err(|_| "no request can be made of the bucket".to_owned())?;
            ask(http.agent(url.scheme())?, request)
        };
        match self.ask(None, list) {
            Err(refused) if !refused.is_of_listing => Err(io::Error::other(refused.words)),
            _ => Ok(()),
        }
    }

    fn name(&self) -> String {
        self.url.to_string()
    }
}

#[cfg(test)]
mod tests;
