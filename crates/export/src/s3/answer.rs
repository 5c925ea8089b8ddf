//! What a server says when it does not take a file, and what can be done about it.

use jiff::{SignedDuration, Timestamp};

use super::http::Answer;

/// The longest text of a server that is repeated.
const LONGEST: usize = 200;
/// Clocks that differ by less are no reason: servers accept 15 minutes.
const SKEW: SignedDuration = SignedDuration::from_mins(5);

/// What a server refuses with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) status: u16,
    /// A word, where the server says one.
    pub(super) code: Option<String>,
    message: Option<String>,
    /// The region that the bucket is in.
    pub(super) region: Option<String>,
    /// By how much the server's clock is ahead of this host's.
    ahead: Option<SignedDuration>,
}

/// What was asked for.
pub(super) struct Asked<'a> {
    pub(super) bucket: &'a str,
    /// The file's; none where only the bucket was asked for.
    pub(super) key: Option<&'a str>,
    pub(super) region: &'a str,
    /// A server that is not Amazon's.
    pub(super) endpoint: Option<&'a str>,
    /// Where the credentials are from.
    pub(super) source: &'a str,
}

impl Refusal {
    pub(super) fn of(answer: &Answer) -> Self {
        let date = answer.header("date");
        let date = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok());
        let region = answer.header("x-amz-bucket-region").or(between(&answer.body, "Region"));
        Self {
            status: answer.status,
            code: between(&answer.body, "Code").map(plain),
            message: between(&answer.body, "Message").map(plain),
            region: region.map(plain),
            ahead: date.map(|date| date.timestamp().duration_since(Timestamp::now())),
        }
    }

    fn code(&self) -> &str {
        self.code.as_deref().unwrap_or_default()
    }

    /// Status, code and message.
    pub(super) fn whole(&self) -> String {
        let Self { status, code, message, .. } = self;
        match (code, message) {
            (Some(code), Some(message)) => format!("{status} {code}: {message}"),
            (Some(code), None) => format!("{status} {code}"),
            _ => status.to_string(),
        }
    }

    /// Whether other credentials could help that were asked for anew.
    pub(super) fn is_of_credentials(&self) -> bool {
        matches!(
            self.code(),
            "ExpiredToken"
                | "ExpiredTokenException"
                | "InvalidToken"
                | "TokenRefreshRequired"
                | "InvalidAccessKeyId"
        )
    }

    /// Whether the server knows the bucket and who asks: listing needs a right of its own, which nobody needs who only adds files.
    pub(super) fn is_of_listing(&self) -> bool {
        self.status == 403 && matches!(self.code(), "AccessDenied") && !self.is_of_clock()
    }

    fn is_of_clock(&self) -> bool {
        let is_late =
            |message: &String| message.contains("has expired") || message.contains("not valid yet");
        self.code() == "RequestTimeTooSkewed"
            || (self.status == 403 && self.message.as_ref().is_some_and(is_late))
    }

    /// What is wrong, and what to do.
    pub(super) fn words(&self, asked: &Asked<'_>) -> String {
        let Asked { bucket, key, region, endpoint, source } = asked;
        let at = endpoint.map_or_else(String::new, |endpoint| format!(" at {endpoint}"));
        let what = key.map_or_else(|| bucket.to_string(), |key| format!("{bucket}/{key}"));
        if self.is_of_clock() {
            return self.clock_words();
        }
        if let Some(wanted) = self.region.as_deref().filter(|wanted| wanted != region) {
            return format!(
                "the bucket {bucket} is in {wanted}, and {region} was asked: set AWS_REGION={wanted}"
            );
        }
        match (self.status, self.code()) {
            (_, "NoSuchBucket") => format!("there is no bucket {bucket}{at} (NoSuchBucket)"),
            (_, "InvalidAccessKeyId") => format!(
                "the server{at} does not know the access key of {source} (InvalidAccessKeyId)"
            ),
            (_, "SignatureDoesNotMatch") => format!(
                "the secret key of {source} does not belong to its access key (SignatureDoesNotMatch)"
            ),
            (_, code) if self.is_of_credentials() => {
                format!("the credentials of {source} have expired ({code})")
            }
            (403, code) => format!(
                "no right to put {what}{at} with {source} ({}): it needs s3:PutObject there, and kms:GenerateDataKey where the bucket has a key of its own",
                if code.is_empty() { "403" } else { code }
            ),
            (301 | 307, _) => format!(
                "the bucket {bucket} is elsewhere ({}): set AWS_REGION to the bucket's region, or AWS_ENDPOINT_URL to its server",
                self.whole()
            ),
            (429 | 503, _) | (_, "SlowDown") => {
                format!("the server{at} is overloaded ({})", self.whole())
            }
            (_, "BadDigest" | "InvalidDigest" | "IncompleteBody") => {
                format!("{what} arrived damaged ({})", self.code())
            }
            (404, "") => format!("there is no bucket {bucket}{at}, or no object storage (404)"),
            _ => format!("{what}: the server{at} answers {}", self.whole()),
        }
    }

    fn clock_words(&self) -> String {
        let by = self.ahead.filter(|ahead| ahead.abs() > SKEW).map_or_else(String::new, |ahead| {
            let way = if ahead.is_positive() { "behind" } else { "ahead of" };
            format!(", {} minutes {way} the server's", ahead.as_mins().abs())
        });
        format!("this host's clock is wrong{by}: set it, by NTP for instance")
    }
}

/// What stands in an element of XML, which has no other inside.
pub(super) fn between<'a>(text: &'a str, element: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{element}>"))?;
    let (inside, _) = rest.split_once(&format!("</{element}>"))?;
    (!inside.is_empty()).then_some(inside)
}

/// A text of a server, as it can be shown.
fn plain(text: &str) -> String {
    text.chars().filter(|one| !one.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(
        status: u16,
        code: &str,
        message: &str,
        headers: &[(&'static str, &str)],
    ) -> Refusal {
        let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
        let mut map = ureq::http::HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().expect("a header"));
        }
        Refusal::of(&Answer { status, headers: map, body })
    }

    const ASKED: Asked<'_> = Asked {
        bucket: "fleet",
        key: Some("a/b"),
        region: "us-east-1",
        endpoint: None,
        source: "AWS_ACCESS_KEY_ID",
    };

    #[test]
    fn each_refusal_says_what_to_do() {
        let words = |status, code| refusal(status, code, "Some words.", &[]).words(&ASKED);
        assert_eq!(words(404, "NoSuchBucket"), "there is no bucket fleet (NoSuchBucket)");
        let denied = words(403, "AccessDenied");
        assert!(denied.contains("fleet/a/b with AWS_ACCESS_KEY_ID (AccessDenied)"), "{denied}");
        assert!(denied.contains("s3:PutObject"), "{denied}");
        assert!(words(503, "SlowDown").contains("overloaded (503 SlowDown: Some words.)"));
        assert!(words(400, "BadDigest").contains("arrived damaged"));
        assert!(words(403, "ExpiredToken").contains("have expired"));
        assert!(words(418, "Teapot").contains("fleet/a/b: the server answers 418 Teapot"));
        let endpoint = Asked { endpoint: Some("http://minio:9000/"), ..ASKED };
        let words = refusal(404, "NoSuchBucket", "", &[]).words(&endpoint);
        assert_eq!(words, "there is no bucket fleet at http://minio:9000/ (NoSuchBucket)");
    }

    #[test]
    fn another_region_is_named() {
        for status in [301, 400] {
            let header = [("x-amz-bucket-region", "eu-west-1")];
            let words = refusal(status, "PermanentRedirect", "x", &header).words(&ASKED);
            assert!(words.contains("is in eu-west-1") && words.contains("AWS_REGION=eu-west-1"));
        }
        // The header comes with every refusal.
        let header = [("x-amz-bucket-region", "us-east-1")];
        assert!(refusal(403, "AccessDenied", "", &header).words(&ASKED).contains("no right"));
    }

    #[test]
    fn a_clock_that_is_wrong_is_told_with_by_how_much() {
        let later = Timestamp::now() + SignedDuration::from_mins(62);
        let date = jiff::fmt::rfc2822::to_string(&later.to_zoned(jiff::tz::TimeZone::UTC));
        let date = date.expect("a date");
        for (code, message) in
            [("RequestTimeTooSkewed", "x"), ("AccessDenied", "Request has expired")]
        {
            let refused = refusal(403, code, message, &[("date", &date)]);
            let words = refused.words(&ASKED);
            assert!(words.contains("minutes behind the server's: set it"), "{words}");
            assert!(!refused.is_of_listing());
        }
    }

    #[test]
    fn texts_of_servers_are_bounded_and_plain() {
        let refused = refusal(500, "Odd\u{1b}[31m", &"x".repeat(10_000), &[]);
        assert!(refused.whole().len() < 300 && !refused.whole().contains('\u{1b}'));
        let html = Answer { status: 502, headers: Default::default(), body: "<html>".to_owned() };
        assert_eq!(Refusal::of(&html).whole(), "502");
    }
}
