//! What is answered to what.

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{
    ACCEPT, ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    HeaderValue, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use hyper::{Method, Request, Response, StatusCode};

use super::auth::Answer;
use super::web::Loaded;
use crate::negotiate::negotiate;
use crate::shared::Shared;

/// The page runs nothing and loads nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const TEXT: &str = "text/plain; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// A whole answer.
pub(super) type Answered = Response<Full<Bytes>>;

/// Answers a request; its body is never read.
pub(super) async fn answer(
    request: &Request<Incoming>,
    loaded: &Loaded,
    shared: &Shared,
) -> Answered {
    let header = |name: HeaderName| request.headers().get(name).and_then(|v| v.to_str().ok());
    let mut answered = match &loaded.auth {
        None => resource(request, header(ACCEPT), shared),
        Some(auth) => match auth.check(header(AUTHORIZATION)).await {
            Answer::Welcome => resource(request, header(ACCEPT), shared),
            Answer::Refused => with(
                text(StatusCode::UNAUTHORIZED, "a name and a password are needed\n"),
                WWW_AUTHENTICATE,
                "Basic realm=\"hotset\", charset=\"UTF-8\"",
            ),
            Answer::Busy => with(
                text(StatusCode::SERVICE_UNAVAILABLE, "too many passwords to check\n"),
                RETRY_AFTER,
                "5",
            ),
        },
    };
    let headers = answered.headers_mut();
    headers
        .entry(HeaderName::from_static("x-content-type-options"))
        .or_insert(HeaderValue::from_static("nosniff"));
    for (name, value) in &loaded.headers {
        headers.insert(name, value.clone());
    }
    shared.answered(answered.status().as_u16());
    answered
}

fn resource(request: &Request<Incoming>, accept: Option<&str>, shared: &Shared) -> Answered {
    // hyper leaves out the body of an answer to HEAD.
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let refused = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD are answered\n");
        return with(refused, ALLOW, "GET, HEAD");
    }
    match request.uri().path() {
        "/metrics" => {
            let format = negotiate(accept);
            let body = shared.scrape(format);
            with(full(StatusCode::OK, format.content_type(), body), VARY, "Accept")
        }
        "/healthz" => match shared.health() {
            Ok(()) => text(StatusCode::OK, "ok\n"),
            Err(reason) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
        },
        "/" => {
            let page = full(StatusCode::OK, HTML, shared.page().into());
            with(page, CONTENT_SECURITY_POLICY, POLICY)
        }
        _ => text(StatusCode::NOT_FOUND, "there are /metrics, /healthz and /\n"),
    }
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Answered {
    full(status, TEXT, text.into())
}

fn full(status: StatusCode, kind: &'static str, body: Bytes) -> Answered {
    let mut answered = Response::new(Full::new(body));
    *answered.status_mut() = status;
    let answered = with(answered, CONTENT_TYPE, kind);
    with(answered, CACHE_CONTROL, "no-store")
}

fn with(mut answered: Answered, name: HeaderName, value: &'static str) -> Answered {
    answered.headers_mut().insert(name, HeaderValue::from_static(value));
    answered
}
