//! One push over HTTP.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use ureq::Agent;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};

use super::{Header, OtlpUrl};
use crate::client::tls;

/// For one attempt, from the look-up of the name to the end of the answer.
const ATTEMPT: Duration = Duration::from_secs(10);
/// Of an answer, as much is read.
const ANSWER_BYTES: u64 = 64 * 1024;

/// What became of an attempt.
pub(super) enum Sent {
    /// Taken, but for so many data points.
    Taken { rejected: u64 },
    /// It would be refused again.
    Refused(String),
    /// It might be taken later; the receiver may say when.
    Later(String, Option<Duration>),
}

/// A client for one receiver.
pub(super) struct Sender {
    agent: Agent,
    headers: Vec<Header>,
    pub(super) url: String,
}

/// `ExportMetricsServiceResponse`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Answer {
    partial_success: Partial,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Partial {
    /// An int64: a string in the JSON form of protocol buffers; some receivers write a number.
    rejected_data_points: serde_json::Value,
}

impl Sender {
    /// Reads the authorities that the host trusts where the URL needs them.
    pub(super) fn new(url: &OtlpUrl, headers: Vec<Header>) -> Result<Self> {
        let url = url.to_string();
        let mut config = Agent::config_builder()
            .timeout_global(Some(ATTEMPT))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("hotset/", env!("CARGO_PKG_VERSION")));
        if url.starts_with("https:") {
            let tls = tls(None).context("--otlp")?;
            config = config.tls_config(tls);
        }
        Ok(Self { agent: config.build().into(), headers, url })
    }

    /// One attempt.
    pub(super) fn send(&self, body: &[u8]) -> Sent {
        let mut request = self.agent.post(&self.url).header(CONTENT_TYPE, "application/json");
        for header in &self.headers {
            request = request.header(header.name.clone(), header.value.clone());
        }
        let mut response = match request.send(body) {
            Ok(response) => response,
            Err(error) => return Sent::Later(error.to_string(), None),
        };
        let status = response.status();
        if status.is_success() {
            let text = response.body_mut().with_config().limit(ANSWER_BYTES).read_to_string();
            return Sent::Taken { rejected: rejected(&text.unwrap_or_default()) };
        }
        let why = format!("the receiver answers {status}");
        // Those that the protocol says may be tried again.
        if !matches!(status.as_u16(), 429 | 502 | 503 | 504) {
            return Sent::Refused(why);
        }
        let wait = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let wait = wait.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        Sent::Later(why, wait)
    }
}

fn rejected(text: &str) -> u64 {
    let answer: Answer = serde_json::from_str(text).unwrap_or_default();
    let points = answer.partial_success.rejected_data_points;
    points.as_u64().or_else(|| points.as_str()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_receiver_refused_is_told_in_either_form() {
        assert_eq!(rejected(r#"{"partialSuccess":{"rejectedDataPoints":"7"}}"#), 7);
        assert_eq!(
            rejected(r#"{"partialSuccess":{"rejectedDataPoints":7,"errorMessage":"x"}}"#),
            7
        );
        for nothing in ["", "{}", "null", r#"{"partialSuccess":{}}"#, "<html>"] {
            assert_eq!(rejected(nothing), 0, "{nothing}");
        }
    }
}
