//! Credentials of a role, for a token that says who somebody is: service accounts of Kubernetes (EKS), and other providers of OpenID Connect.

use ureq::http::Request;
use ureq::http::header::CONTENT_TYPE;
use url::form_urlencoded::Serializer;

use super::Credentials;
use crate::s3::answer::{Refusal, between};
use crate::s3::environment::Environment;
use crate::s3::http::{Http, ask};
use crate::s3::service_host;

/// Asks the Security Token Service. The token is read anew each time: it is renewed in its file.
///
/// # Errors
/// Where the token can't be read, or nothing is given for it.
pub(super) fn assume(
    environment: &Environment,
    http: &Http,
    role: &str,
    file: &str,
) -> Result<Credentials, String> {
    let token = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let session = environment.get("AWS_ROLE_SESSION_NAME").unwrap_or("hotset");
    let form = Serializer::new(String::new())
        .append_pair("Action", "AssumeRoleWithWebIdentity")
        .append_pair("Version", "2011-06-15")
        .append_pair("RoleArn", role)
        .append_pair("RoleSessionName", session)
        .append_pair("WebIdentityToken", token.trim())
        .finish();
    let url = match environment.endpoint("STS")? {
        Some(url) => url.to_string(),
        None => match environment.region()? {
            Some(region) => format!("https://{}/", service_host("sts", &region)),
            None => "https://sts.amazonaws.com/".to_owned(),
        },
    };
    let request = Request::post(&url)
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form.as_bytes())
        .map_err(|_| "no request can be made of AWS_ENDPOINT_URL_STS".to_owned())?;
    let said = |why: String| format!("the role {role:?} of AWS_WEB_IDENTITY_TOKEN_FILE: {why}");
    let answer = ask(http.agent(&url)?, request).map_err(said)?;
    if !answer.is_success() {
        let refusal = Refusal::of(&answer);
        // It may repeat what it was given.
        let words = refusal.whole().replace(token.trim(), "…");
        return Err(said(format!("the token service answers {words}")));
    }
    let field = |name| between(&answer.body, name);
    let expires = field("Expiration").and_then(|text| text.parse().ok());
    match (field("AccessKeyId"), field("SecretAccessKey"), field("SessionToken")) {
        (Some(key), Some(secret), Some(token)) => Ok(Credentials {
            key: key.to_owned(),
            secret: secret.to_owned(),
            token: Some(token.to_owned()),
            expires,
            source: format!("the role {role:?}"),
        }),
        _ => Err(said("the token service's answer has no credentials".to_owned())),
    }
}
