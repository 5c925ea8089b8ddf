//! Requests to the API server, as a pod's service account.

use std::io::BufReader;
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::Request;
use ureq::http::header::{ACCEPT, AUTHORIZATION};
use ureq::{Agent, Body};
use url::Url;

use super::documents::{ObjectDocument, PodDocument, PodList, Refusal};
use super::owners::ParentKey;
use crate::client::{tls, words};

/// Where the kubelet puts the token and the certificates of a service account.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// To connect: the server is in the cluster.
const CONNECT: Duration = Duration::from_secs(5);
/// For a whole request.
const REQUEST: Duration = Duration::from_secs(20);
/// Pods of a page. A node has 110 of them where nothing else is configured.
const PAGE_PODS: &str = "250";
/// Pages that are asked for, so that a server that always has another ends it.
const MOST_PAGES: usize = 40;
/// Bytes of an answer: the specification of a pod takes some 10 KB, and etcd holds objects of 1.5 MiB at most.
const ANSWER_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes of an answer that says why a request failed.
const REFUSAL_BYTES: u64 = 16 * 1024;
/// Only the metadata of an object, from servers that can (Kubernetes 1.15).
const METADATA: &str =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/// Where the API server is, and who asks.
#[derive(Debug, Clone)]
pub(super) struct Server {
    url: Url,
    account: PathBuf,
}

/// A request that came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// What the server answered; none where it did not.
    pub(super) status: Option<u16>,
    /// Why it came to nothing, in words.
    pub(super) why: String,
}

impl Server {
    /// The one that the kubelet tells the containers of a pod.
    ///
    /// # Errors
    /// Where this is no pod.
    pub(super) fn of_pod(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        const NAMES: [&str; 2] = ["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"];
        let [Some(host), Some(port)] = NAMES.map(|name| variable(name).filter(|it| !it.is_empty()))
        else {
            let names = NAMES.join(" and ");
            return Err(format!(
                "{names} are not set, so this is no pod of Kubernetes; leave the option out"
            ));
        };
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let text = format!("https://{host}:{port}");
        let url = text.parse().map_err(|_| {
            format!("{} make {text:?}, which is no address of a server", NAMES.join(" and "))
        })?;
        Ok(Self { url, account: ACCOUNT.into() })
    }

    /// Another, for tests.
    #[cfg(test)]
    pub(super) fn at(url: &str, account: PathBuf) -> Self {
        Self { url: url.parse().expect("a URL"), account }
    }

    /// A client for some requests in a row. Certificates are read anew, for they change.
    ///
    /// # Errors
    /// Where there are none.
    pub(super) fn client(&self) -> Result<Client<'_>, Failure> {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("hotset/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(REQUEST))
            .proxy(None);
        if self.url.scheme() == "https" {
            let authorities = tls(Some(&self.account.join("ca.crt")));
            config =
                config.tls_config(authorities.map_err(|error| no_answer(format!("{error:#}")))?);
        }
        Ok(Client { server: self, agent: config.build().into() })
    }
}

/// Asks for some things in a row.
pub(super) struct Client<'a> {
    server: &'a Server,
    agent: Agent,
}

impl Client<'_> {
    /// The pods of a node.
    ///
    /// # Errors
    /// Where they are not had, all of them.
    pub(super) fn pods(&self, node: &str) -> Result<Vec<PodDocument>, Failure> {
        let mut pods = Vec::new();
        let mut more: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let mut url = self.url(&["api", "v1", "pods"]);
            {
                let mut query = url.query_pairs_mut();
                query.append_pair("fieldSelector", &format!("spec.nodeName={node}"));
                query.append_pair("limit", PAGE_PODS);
                match &more {
                    Some(more) => query.append_pair("continue", more),
                    // From the server's memory, not from etcd; a server that does so may give more than the limit.
                    None => query.append_pair("resourceVersion", "0"),
                };
            }
            let list: PodList = self.get(&url, "application/json")?;
            pods.extend(list.items.unwrap_or_default());
            more = list.metadata.more.filter(|more| !more.is_empty());
            if more.is_none() {
                return Ok(pods);
            }
        }
        Err(no_answer(format!("the list of pods has more than {MOST_PAGES} pages")))
    }

    /// A replicaset or a job; none where it is not there, or another has its name by now.
    ///
    /// # Errors
    /// Where the server does not answer, or may not tell.
    pub(super) fn object(&self, key: &ParentKey) -> Result<Option<ObjectDocument>, Failure> {
        match self.get::<ObjectDocument>(&self.url(&key.path()), METADATA) {
            Ok(object) => Ok(Some(object).filter(|object| object.metadata.uid == key.uid)),
            Err(Failure { status: Some(404), .. }) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn url(&self, path: &[&str]) -> Url {
        let mut url = self.server.url.clone();
        if let Ok(mut parts) = url.path_segments_mut() {
            parts.clear().extend(path);
        }
        url
    }

    fn get<T: DeserializeOwned>(&self, url: &Url, accept: &str) -> Result<T, Failure> {
        // The kubelet writes another one every hour.
        let file = self.server.account.join("token");
        let token = std::fs::read_to_string(&file);
        let token = token.map_err(|error| no_answer(format!("{}: {error}", file.display())))?;
        let request = Request::get(url.as_str())
            .header(AUTHORIZATION, format!("Bearer {}", token.trim()))
            .header(ACCEPT, accept)
            .body(())
            .map_err(|_| {
                no_answer(format!("{}: it has characters that no token has", file.display()))
            })?;
        let response = self.agent.run(request).map_err(|error| no_answer(words(&error)))?;
        let (parts, body) = response.into_parts();
        let status = parts.status.as_u16();
        if status != 200 {
            return Err(refused(status, url.path(), body));
        }
        let reader = BufReader::new(body.into_with_config().limit(ANSWER_BYTES).reader());
        serde_json::from_reader(reader).map_err(|error| Failure {
            status: Some(status),
            why: format!("what the API server answers to {} can't be read: {error}", url.path()),
        })
    }
}

fn no_answer(why: String) -> Failure {
    Failure { status: None, why }
}

/// What the server says of a refusal, in a line.
fn refused(status: u16, path: &str, mut body: Body) -> Failure {
    const SHOWN: usize = 300;
    let text = body.with_config().limit(REFUSAL_BYTES).lossy_utf8(true).read_to_string();
    let said = text.ok().and_then(|text| serde_json::from_str::<Refusal>(&text).ok());
    let said = said.map_or_else(String::new, |said| {
        let line = said.message.chars().map(|char| if char.is_control() { ' ' } else { char });
        format!(": {}", line.take(SHOWN).collect::<String>())
    });
    Failure {
        status: Some(status),
        why: format!("the API server answers {status} to {path}{said}"),
    }
}
