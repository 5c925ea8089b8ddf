//! Whose the pods of this node are, by Kubernetes' API server.
//!
//! A thread asks, when it is started and when somebody wants to know of a pod that it does not know: where nothing comes or goes, nothing is
//! asked. A server that refuses, is slow or is away is left alone for longer and longer; meanwhile nobody waits for it.

mod api;
mod documents;
mod owners;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};

use crate::Say;
use crate::otlp::spread;
use api::{Client, Failure, Server};
pub(crate) use owners::{Container, Owner, Pod};
use owners::{Parent, parent, parent_of};

/// Between two rounds of requests, at least.
const SHORTEST_PAUSE: Duration = Duration::from_secs(5);
/// After a failure; it doubles with each.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// How long somebody waits for an answer that is under way.
const PATIENCE: Duration = Duration::from_secs(2);
/// A pod that the server does not know is asked for again after so long.
const ASK_AGAIN: Duration = Duration::from_secs(300);
/// Replicasets and jobs that one round asks for: more than a node has pods.
const MOST_OBJECTS: usize = 2_000;
/// Pods that are remembered, for rows of a span come after the pod is gone. When there are more, only those that are still there are.
const REMEMBERED: usize = 5_000;

/// What is known of pods; the thread ends with it.
pub(crate) struct Pods(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// By each uid that it has in a control group's path.
    pods: HashMap<String, Arc<Pod>>,
    /// Those that somebody wants to know of.
    wanted: HashSet<String>,
    /// When the server did not know a pod.
    absent: HashMap<String, Instant>,
    /// The last round failed, or the one under way takes too long.
    failing: bool,
    /// Nobody wants to know any more.
    ended: bool,
}

impl Pods {
    /// Begins to ask for the pods of a node.
    ///
    /// # Errors
    /// Where this is no pod, or a thread can't be made.
    pub(crate) fn start(node: &str, say: Say) -> Result<Self> {
        let server = Server::of_pod(|name| std::env::var(name).ok());
        let server = server.map_err(|why| anyhow!("--kubernetes-api: {why}"))?;
        Self::ask(server, node, say)
    }

    fn ask(server: Server, node: &str, say: Say) -> Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let asker = Asker {
            server,
            node: node.to_owned(),
            say,
            shared: Arc::clone(&shared),
            parents: HashMap::new(),
            said: None,
        };
        std::thread::Builder::new()
            .name("hotset-pods".to_owned())
            .spawn(move || asker.run())
            .context("the thread that asks the API server")?;
        Ok(Self(shared))
    }

    /// What is known of these pods, by their uids. It waits a moment for those that are new, unless the server has failed, or somebody has
    /// waited in vain for the round under way.
    pub(crate) fn of(&self, uids: &HashSet<String>) -> HashMap<String, Arc<Pod>> {
        self.of_within(uids, PATIENCE)
    }

    fn of_within(&self, uids: &HashSet<String>, patience: Duration) -> HashMap<String, Arc<Pod>> {
        let mut state = self.0.lock();
        let until = Instant::now() + patience;
        loop {
            let unknown = state.unknown(uids);
            if unknown.is_empty() {
                break;
            }
            state.wanted.extend(unknown);
            self.0.changed.notify_all();
            let left = until.saturating_duration_since(Instant::now());
            // Whoever comes next does not wait as well: intervals would pile up before a slow server.
            state.failing |= left.is_zero();
            if state.failing {
                break;
            }
            let waited = self.0.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let known = uids.iter().filter_map(|uid| Some((uid.clone(), state.pods.get(uid)?.clone())));
        known.collect()
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn unknown(&self, uids: &HashSet<String>) -> Vec<String> {
        let is_absent =
            |uid: &String| self.absent.get(uid).is_some_and(|at| at.elapsed() < ASK_AGAIN);
        let unknown = uids.iter().filter(|uid| !self.pods.contains_key(*uid) && !is_absent(uid));
        unknown.cloned().collect()
    }

    /// What a round found that began when these were wanted.
    fn learn(&mut self, asked: HashSet<String>, found: HashMap<String, Arc<Pod>>) {
        let now = Instant::now();
        self.absent.retain(|_, at| now.duration_since(*at) < ASK_AGAIN);
        self.wanted.retain(|uid| !found.contains_key(uid));
        for uid in asked {
            self.wanted.remove(&uid);
            if !found.contains_key(&uid) {
                self.absent.insert(uid, now);
            }
        }
        if self.pods.len() + found.len() > REMEMBERED {
            self.pods.clear();
        }
        self.pods.extend(found);
    }
}

/// The thread that asks.
struct Asker {
    server: Server,
    node: String,
    say: Say,
    shared: Arc<Shared>,
    /// Replicasets and jobs of pods that are there, by uid: whose they are does not change.
    parents: HashMap<String, Parent>,
    /// The failure that was said last, with no success since.
    said: Option<String>,
}

impl Asker {
    fn run(mut self) {
        let mut longest = SHORTEST_PAUSE;
        loop {
            // Who begins to want a pod later, may want one that came after the list was made.
            let asked = self.shared.lock().wanted.clone();
            let round = self.round();
            let is_well = round.is_ok();
            self.told(&round);
            let mut state = self.shared.lock();
            if let Ok(Round { pods, .. }) = round {
                state.learn(asked, pods);
            }
            state.failing = !is_well;
            drop(state);
            self.shared.changed.notify_all();
            longest = if is_well { SHORTEST_PAUSE } else { (longest * 2).min(LONGEST_PAUSE) };
            let pause = if is_well { SHORTEST_PAUSE } else { spread(longest) };
            if !self.wait(Instant::now() + pause) {
                return;
            }
        }
    }

    /// Waits for that time, and then until somebody wants to know something; false where nobody will.
    fn wait(&self, until: Instant) -> bool {
        let mut state = self.shared.lock();
        loop {
            if state.ended {
                return false;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() && !state.wanted.is_empty() {
                return true;
            }
            let wait = if left.is_zero() { LONGEST_PAUSE } else { left };
            let waited = self.shared.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn round(&mut self) -> Result<Round, Failure> {
        let client = self.server.client()?;
        let documents = client.pods(&self.node)?;
        let keys: Vec<_> = documents.iter().filter_map(parent_of).collect();
        let uids: HashSet<&str> = keys.iter().map(|key| key.uid.as_str()).collect();
        self.parents.retain(|uid, parent| {
            uids.contains(uid.as_str()) && !matches!(parent, Parent::Unknown)
        });
        let mut refused = None;
        let mut asked = 0;
        for key in keys {
            if self.parents.contains_key(&key.uid) {
                continue;
            }
            asked += 1;
            let found = match asked <= MOST_OBJECTS && refused.is_none() {
                true => known_parent(&client, &key, &mut refused)?,
                false => Parent::Unknown,
            };
            self.parents.insert(key.uid, found);
        }
        let mut pods = HashMap::new();
        for document in &documents {
            let (uids, pod) = owners::pod(document, &self.node, &self.parents);
            let pod = Arc::new(pod);
            pods.extend(uids.into_iter().map(|uid| (uid, Arc::clone(&pod))));
        }
        Ok(Round { pods, refused })
    }

    /// Says a failure once, and that it is over.
    fn told(&mut self, round: &Result<Round, Failure>) {
        let node = &self.node;
        let why = match round {
            Err(failure) => Some(failure.why.clone()),
            Ok(Round { refused: Some(why), .. }) => Some(why.clone()),
            Ok(Round { pods, .. }) if pods.is_empty() => Some(format!(
                "the API server knows no pod of a node {node:?}; --host-name must be the name of the node (spec.nodeName)"
            )),
            Ok(_) => None,
        };
        match why {
            Some(why) if self.said.as_ref() != Some(&why) => {
                (self.say)(&format_args!(
                    "--kubernetes-api: {why}; owners follow from the names of pods until it answers"
                ));
                self.said = Some(why);
            }
            None if self.said.take().is_some() => {
                (self.say)(&"--kubernetes-api: the API server tells owners of pods");
            }
            Some(_) | None => {}
        }
    }
}

/// What a round of requests came to.
struct Round {
    pods: HashMap<String, Arc<Pod>>,
    /// Pods may be asked for, but not whose they are.
    refused: Option<String>,
}

/// Whose a replicaset or a job is. One that may not be asked for does not keep others from being.
fn known_parent(
    client: &Client<'_>,
    key: &owners::ParentKey,
    refused: &mut Option<String>,
) -> Result<Parent, Failure> {
    match client.object(key) {
        Ok(object) => Ok(object.map_or(Parent::Unknown, |object| parent(&object.metadata))),
        Err(failure) if failure.status == Some(403) => {
            *refused = Some(failure.why);
            Ok(Parent::Unknown)
        }
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests;
