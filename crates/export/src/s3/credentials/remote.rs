//! Credentials that a service beside gives: of a container (ECS, EKS Pod Identity), or of the instance (EC2).

use std::net::IpAddr;

use jiff::Timestamp;
use serde::Deserialize;
use ureq::http::Request;
use ureq::http::header::AUTHORIZATION;
use url::{Host, Url};

use super::Credentials;
use crate::s3::environment::Environment;
use crate::s3::http::{Answer, Http, ask};

/// Where ECS gives them.
const ECS: &str = "http://169.254.170.2";
/// Hosts that may be asked without TLS, beside this one: ECS, and EKS Pod Identity.
const NEAR: [&str; 3] = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23"];
/// The metadata service of an instance.
const INSTANCE: &str = "http://169.254.169.254";
const INSTANCE_6: &str = "http://[fd00:ec2::254]";
/// How long a token of that service may be used: only for the requests that follow.
const TOKEN_SECONDS: &str = "300";

/// Credentials as these services write them.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Document {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
    expiration: Option<String>,
}

/// Those of a container, where it has a service for them.
///
/// # Errors
/// Where it does not give them.
pub(super) fn of_container(
    environment: &Environment,
    http: &Http,
) -> Result<Option<Credentials>, String> {
    let Some((name, url)) = container_url(environment)? else { return Ok(None) };
    let mut request = Request::get(url.as_str());
    if let Some(token) = container_token(environment)? {
        request = request.header(AUTHORIZATION, token);
    }
    let request = request.body(()).map_err(|_| {
        "AWS_CONTAINER_AUTHORIZATION_TOKEN has characters that no header can have".to_owned()
    })?;
    // What is not near is asked as any other server.
    let agent = if url.scheme() == "https" { http.agent(url.as_str())? } else { http.local() };
    let said = |why: String| format!("the credentials of {name}: {why}");
    let answer = ask(agent, request).map_err(said)?;
    read(&answer, name.to_owned()).map(Some).map_err(said)
}

/// The address, and the variable that has it.
fn container_url(environment: &Environment) -> Result<Option<(&'static str, Url)>, String> {
    const RELATIVE: &str = "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI";
    const FULL: &str = "AWS_CONTAINER_CREDENTIALS_FULL_URI";
    if let Some(path) = environment.get(RELATIVE) {
        let url = path.starts_with('/').then(|| format!("{ECS}{path}").parse().ok()).flatten();
        return url
            .map(|url| Some((RELATIVE, url)))
            .ok_or_else(|| format!("{RELATIVE}: expected a path that begins with /"));
    }
    let Some(text) = environment.get(FULL) else { return Ok(None) };
    let url: Url = text.parse().map_err(|_| format!("{FULL}: expected a URL"))?;
    let is_near = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => is_near(address.into()),
        Some(Host::Ipv6(address)) => is_near(address.into()),
        None => false,
    };
    if url.scheme() == "https" || (url.scheme() == "http" && is_near) {
        return Ok(Some((FULL, url)));
    }
    Err(format!("{FULL}: expected https, or an address of this host, {}", NEAR.join(", ")))
}

fn is_near(address: IpAddr) -> bool {
    address.is_loopback() || NEAR.iter().any(|near| near.parse() == Ok(address))
}

fn container_token(environment: &Environment) -> Result<Option<String>, String> {
    let Some(file) = environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") else {
        return Ok(environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(str::to_owned));
    };
    let token = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(Some(token.trim().to_owned()))
}

/// Those of the role of an instance.
///
/// # Errors
/// Where this is none, or it has no role.
pub(super) fn of_instance(environment: &Environment, http: &Http) -> Result<Credentials, String> {
    const PATH: &str = "latest/meta-data/iam/security-credentials/";
    let instance = Instance::new(environment, http)?;
    let roles = instance.get(PATH)?;
    let role = roles.body.lines().next().unwrap_or_default().trim();
    if roles.status == 404 || role.is_empty() {
        return Err("the instance has no role".to_owned());
    }
    let answer = instance.get(&format!("{PATH}{role}"))?;
    let found = read(&answer, format!("the instance's role {role:?}"));
    found.map_err(|why| format!("the instance's role {role:?}: {why}"))
}

/// The region that an instance is in.
///
/// # Errors
/// Where this is none.
pub(in crate::s3) fn region_of_instance(
    environment: &Environment,
    http: &Http,
) -> Result<String, String> {
    let answer = Instance::new(environment, http)?.get("latest/meta-data/placement/region")?;
    let region = answer.body.trim();
    let is_region = answer.is_success() && !region.is_empty();
    let is_region =
        is_region && region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    is_region
        .then(|| region.to_owned())
        .ok_or_else(|| format!("the instance's metadata answer {}", answer.status))
}

/// The metadata service, with a token for it (IMDSv2).
struct Instance<'a> {
    http: &'a Http,
    base: String,
    token: String,
}

impl<'a> Instance<'a> {
    fn new(environment: &Environment, http: &'a Http) -> Result<Self, String> {
        if environment.has_no_instance() {
            return Err("AWS_EC2_METADATA_DISABLED is true".to_owned());
        }
        let mode = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE").unwrap_or_default();
        let usual = if mode.eq_ignore_ascii_case("ipv6") { INSTANCE_6 } else { INSTANCE };
        let base = environment.get("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or(usual);
        let base = base.trim_end_matches('/').to_owned();
        let request = Request::put(format!("{base}/latest/api/token"))
            .header("X-aws-ec2-metadata-token-ttl-seconds", TOKEN_SECONDS)
            .body("")
            .map_err(|_| "AWS_EC2_METADATA_SERVICE_ENDPOINT: expected a URL".to_owned())?;
        let answer = ask(http.local(), request).map_err(|why| {
            format!("the metadata of an instance can't be asked ({why}; in a container they need a hop limit of 2)")
        })?;
        if !answer.is_success() {
            return Err(format!("the instance's metadata give no token ({})", answer.status));
        }
        Ok(Self { http, base, token: answer.body.trim().to_owned() })
    }

    fn get(&self, path: &str) -> Result<Answer, String> {
        let request = Request::get(format!("{}/{path}", self.base))
            .header("X-aws-ec2-metadata-token", &self.token)
            .body(())
            .map_err(|_| "the instance's metadata give no token".to_owned())?;
        ask(self.http.local(), request).map_err(|why| format!("the instance's metadata: {why}"))
    }
}

fn read(answer: &Answer, source: String) -> Result<Credentials, String> {
    if !answer.is_success() {
        return Err(format!("the service answers {}", answer.status));
    }
    // What is in the answer stays out of messages.
    let document: Document = serde_json::from_str(&answer.body)
        .map_err(|_| "the service's answer has no credentials".to_owned())?;
    let Document { access_key_id: key, secret_access_key: secret, token, expiration } = document;
    let expires = expiration.map(|text| text.parse::<Timestamp>()).transpose();
    let expires = expires.map_err(|_| "the service's answer has an Expiration that is no time")?;
    Ok(Credentials { key, secret, token, expires, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_containers_service_is_near_or_secure() {
        let of = |name, value| {
            let found = container_url(&Environment::of(&[(name, value)]));
            found.map(|found| found.map(|(_, url)| url.to_string()))
        };
        let relative = |value| of("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", value);
        assert_eq!(relative("/v2/x"), Ok(Some("http://169.254.170.2/v2/x".to_owned())));
        assert!(relative("@evil.example/x").is_err());
        for near in [
            "http://127.0.0.1:8080/x",
            "http://localhost/x",
            "http://[::1]/x",
            "http://169.254.170.23/v1/credentials",
            "http://[fd00:ec2::23]/v1/credentials",
            "https://vault.example/x",
        ] {
            let found = of("AWS_CONTAINER_CREDENTIALS_FULL_URI", near);
            assert_eq!(found, Ok(Some(near.to_owned())));
        }
        for far in ["http://10.0.0.1/x", "http://localhost.evil.example/", "ftp://127.0.0.1/", "x"]
        {
            assert!(of("AWS_CONTAINER_CREDENTIALS_FULL_URI", far).is_err(), "{far}");
        }
        assert_eq!(of("HOME", "/root"), Ok(None));
    }
}
