//! Whose rights are used: found where the AWS SDKs look, in their order, and renewed before they expire.

mod remote;
mod web_identity;

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::environment::{Environment, Profile};
use super::http::Http;

pub(super) use remote::region_of_instance;

/// Credentials are renewed so long before they expire, as SDKs do: what is signed must be valid until it has arrived.
const AHEAD: SignedDuration = SignedDuration::from_mins(5);
/// Where they can't be renewed, the old ones are used until so shortly before they expire.
const MARGIN: SignedDuration = SignedDuration::from_secs(30);

/// Rights, for a time.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Credentials {
    pub(super) key: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
    pub(super) expires: Option<Timestamp>,
    /// Where they are from, for people.
    pub(super) source: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "credentials of {}", self.source)
    }
}

impl Credentials {
    fn lasting(key: &str, secret: &str, token: Option<&str>, source: String) -> Self {
        let [key, secret] = [key, secret].map(str::to_owned);
        Self { key, secret, token: token.map(str::to_owned), expires: None, source }
    }

    fn is_valid_for(&self, span: SignedDuration) -> bool {
        let until = |expires: Timestamp| expires.duration_since(Timestamp::now()) > span;
        self.expires.is_some_and(until)
    }
}

/// All places where credentials may be.
pub(super) struct Chain {
    pub(super) environment: Environment,
    /// Those that expire. Others cost nothing to read again, and may have been changed.
    held: Option<Credentials>,
}

impl Chain {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment, held: None }
    }

    /// Credentials that are valid at present.
    ///
    /// # Errors
    /// Where there are none, or the place that should have them does not give them.
    pub(super) fn get(&mut self, http: &Http) -> Result<Credentials, String> {
        if let Some(held) = self.held.as_ref().filter(|held| held.is_valid_for(AHEAD)) {
            return Ok(held.clone());
        }
        match self.find(http) {
            Ok(found) => {
                self.held = found.expires.is_some().then(|| found.clone());
                Ok(found)
            }
            Err(error) => self.held.clone().filter(|held| held.is_valid_for(MARGIN)).ok_or(error),
        }
    }

    /// Asks anew the next time. Whether those of before could be others.
    pub(super) fn forget(&mut self) -> bool {
        self.held.take().is_some()
    }

    fn find(&self, http: &Http) -> Result<Credentials, String> {
        if let Some(found) = self.of_variables()? {
            return Ok(found);
        }
        let variable = |name| self.environment.get(name);
        if let Some(file) = variable("AWS_WEB_IDENTITY_TOKEN_FILE") {
            let role = variable("AWS_ROLE_ARN")
                .ok_or("AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not")?;
            return web_identity::assume(&self.environment, http, role, file);
        }
        let profile = Profile::read(&self.environment)?;
        let found = profile.map(|profile| self.of_profile(&profile, http)).transpose()?;
        if let Some(found) = found.flatten() {
            return Ok(found);
        }
        if let Some(found) = remote::of_container(&self.environment, http)? {
            return Ok(found);
        }
        remote::of_instance(&self.environment, http).map_err(|why| {
            format!("no credentials: AWS_ACCESS_KEY_ID, AWS_WEB_IDENTITY_TOKEN_FILE and AWS_CONTAINER_CREDENTIALS_… are not set, no profile has any, and {why}")
        })
    }

    fn of_variables(&self) -> Result<Option<Credentials>, String> {
        let [key, secret] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
            .map(|name| (name, self.environment.get(name)));
        match (key, secret) {
            ((_, Some(key)), (_, Some(secret))) => {
                let token = self.environment.get("AWS_SESSION_TOKEN");
                let source = "AWS_ACCESS_KEY_ID".to_owned();
                Ok(Some(Credentials::lasting(key, secret, token, source)))
            }
            ((set, Some(_)), (unset, None)) | ((unset, None), (set, Some(_))) => {
                Err(format!("{set} is set, and {unset} is not"))
            }
            _ => Ok(None),
        }
    }

    fn of_profile(&self, profile: &Profile, http: &Http) -> Result<Option<Credentials>, String> {
        // What needs another program, a browser, or a signature for another service.
        const OTHERS: [&str; 6] = [
            "source_profile",
            "credential_source",
            "credential_process",
            "sso_session",
            "sso_start_url",
            "login_session",
        ];
        let words = || profile.words();
        if let (Some(role), Some(file)) =
            (profile.get("role_arn"), profile.get("web_identity_token_file"))
        {
            return web_identity::assume(&self.environment, http, role, file).map(Some);
        }
        if let Some(other) = OTHERS.into_iter().find(|other| profile.get(other).is_some()) {
            return Err(format!(
                "{}: {other} is not supported; expected keys, or role_arn with web_identity_token_file",
                words()
            ));
        }
        match (profile.get("aws_access_key_id"), profile.get("aws_secret_access_key")) {
            (Some(key), Some(secret)) => {
                let token = profile.get("aws_session_token");
                Ok(Some(Credentials::lasting(key, secret, token, words())))
            }
            (None, None) if !profile.is_chosen => Ok(None),
            _ => Err(format!("{}: expected aws_access_key_id and aws_secret_access_key", words())),
        }
    }
}

#[cfg(test)]
mod tests;
