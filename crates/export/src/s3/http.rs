//! Requests to a bucket's server and to those that give credentials.

use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

use ureq::Agent;
use ureq::http::{HeaderMap, Request, Response};
use ureq::{AsSendBody, Body};

use crate::client::{tls, words};

/// To look a name up and to connect.
const CONNECT: Duration = Duration::from_secs(10);
/// To send a file: 50 MB take that long at 170 kB/s.
const SEND: Duration = Duration::from_secs(300);
/// Until a server that has all begins to answer.
const ANSWER: Duration = Duration::from_secs(60);
/// For all of a request to a service of the host itself, as the AWS SDKs have it for credentials: it answers at once, or is not there.
const LOCAL: Duration = Duration::from_secs(2);
/// Of an answer, as much is read: credentials with a session token take some kilobytes.
const ANSWER_BYTES: u64 = 64 * 1024;

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Clients, each made when it is first needed.
pub(super) struct Http {
    /// Certificates of authorities to trust instead of the host's.
    authorities: Option<PathBuf>,
    plain: OnceCell<Agent>,
    secure: OnceCell<Agent>,
    local: OnceCell<Agent>,
}

impl Http {
    pub(super) fn new(authorities: Option<PathBuf>) -> Self {
        let (plain, secure, local) = (OnceCell::new(), OnceCell::new(), OnceCell::new());
        Self { authorities, plain, secure, local }
    }

    /// The client for a URL, through the proxy that the environment names.
    ///
    /// # Errors
    /// Where it is https, and nobody is trusted.
    pub(super) fn agent(&self, url: &str) -> Result<&Agent, String> {
        let new = |config: ureq::config::ConfigBuilder<ureq::typestate::AgentScope>| {
            config
                .timeout_resolve(Some(CONNECT))
                .timeout_connect(Some(CONNECT))
                .timeout_send_body(Some(SEND))
                .timeout_recv_response(Some(ANSWER))
                .timeout_recv_body(Some(ANSWER))
        };
        if !url.starts_with("https") {
            return Ok(self.plain.get_or_init(|| new(builder()).build().into()));
        }
        if let Some(agent) = self.secure.get() {
            return Ok(agent);
        }
        let tls = tls(self.authorities.as_deref()).map_err(|error| format!("{error:#}"))?;
        Ok(self.secure.get_or_init(|| new(builder().tls_config(tls)).build().into()))
    }

    /// The client for services of the host itself, which no proxy leads to.
    pub(super) fn local(&self) -> &Agent {
        let new = || builder().timeout_global(Some(LOCAL)).proxy(None).build().into();
        self.local.get_or_init(new)
    }
}

fn builder() -> ureq::config::ConfigBuilder<ureq::typestate::AgentScope> {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .user_agent(concat!("hotset/", env!("CARGO_PKG_VERSION")))
}

/// A request and its answer.
///
/// # Errors
/// Where there is no answer, in words that have no URL.
pub(super) fn ask(agent: &Agent, request: Request<impl AsSendBody>) -> Result<Answer, String> {
    let response: Response<Body> = agent.run(request).map_err(|error| words(&error))?;
    let (parts, mut body) = response.into_parts();
    let text = body.with_config().limit(ANSWER_BYTES).lossy_utf8(true).read_to_string();
    let body = text.map_err(|error| words(&error))?;
    Ok(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
}
