//! Passwords. bcrypt takes 50 ms and more on purpose, so that a good answer is remembered and few are worked out at once.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Result, anyhow};
use base64::Engine;
use ring::{hmac, rand};
use tokio::sync::Semaphore;

use crate::shared::lock;

/// Good answers that are remembered, as in the exporters.
const REMEMBERED: usize = 100;
/// How long somebody waits whose password is not worked out yet.
const TIMEOUT: Duration = Duration::from_secs(5);

/// What became of a name and a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// Let in.
    Welcome,
    /// Wrong, or none.
    Refused,
    /// Too many are being worked out.
    Busy,
}

/// Who may read.
pub(super) struct Auth {
    /// Of no use to whoever could read it: bcrypt hashes.
    users: BTreeMap<String, String>,
    key: hmac::Key,
    good: Mutex<HashSet<Vec<u8>>>,
    one_at_a_time: Arc<Semaphore>,
}

impl Auth {
    /// Nothing where everybody may.
    pub(super) fn new(users: BTreeMap<String, String>) -> Result<Option<Self>> {
        if users.is_empty() {
            return Ok(None);
        }
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &rand::SystemRandom::new())
            .map_err(|_| anyhow!("the system has no random numbers"))?;
        let (good, one_at_a_time) = (Mutex::default(), Arc::new(Semaphore::new(1)));
        Ok(Some(Self { users, key, good, one_at_a_time }))
    }

    /// Checks the value of `Authorization`.
    pub(super) async fn check(&self, header: Option<&str>) -> Answer {
        let Some((name, password)) = header.and_then(parse) else { return Answer::Refused };
        let known = self.users.get(&name);
        // A name that nobody has takes as long as one that somebody has.
        let Some(hash) = known.or_else(|| self.users.values().next()).cloned() else {
            return Answer::Refused;
        };
        let tag = self.tag(&[name.as_bytes(), hash.as_bytes(), &password]);
        // Found by a keyed hash: how long that takes says nothing of the password.
        if known.is_some() && lock(&self.good).contains(tag.as_ref()) {
            return Answer::Welcome;
        }
        let turn = Arc::clone(&self.one_at_a_time).acquire_owned();
        let Ok(Ok(permit)) = tokio::time::timeout(TIMEOUT, turn).await else {
            return Answer::Busy;
        };
        // The work holds the permit and not whoever waits for it: a client that goes away leaves its work behind, and clients
        // that come and go would pile it up.
        let work = move || {
            let right = bcrypt::verify(password, &hash).unwrap_or(false);
            drop(permit);
            right
        };
        let right = tokio::task::spawn_blocking(work).await.unwrap_or(false);
        if !right || known.is_none() {
            return Answer::Refused;
        }
        let mut good = lock(&self.good);
        if good.len() >= REMEMBERED {
            good.clear();
        }
        good.insert(tag.as_ref().to_vec());
        Answer::Welcome
    }

    fn tag(&self, parts: &[&[u8]]) -> hmac::Tag {
        let mut context = hmac::Context::with_key(&self.key);
        for part in parts {
            // Lengths keep "ab" + "c" apart from "a" + "bc".
            context.update(&(part.len() as u64).to_le_bytes());
            context.update(part);
        }
        context.sign()
    }
}

/// `Basic`, then base64 of NAME:PASSWORD (RFC 7617).
fn parse(header: &str) -> Option<(String, Vec<u8>)> {
    let (scheme, word) = header.trim().split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = base64::engine::general_purpose::STANDARD.decode(word.trim()).ok()?;
    let colon = bytes.iter().position(|&byte| byte == b':')?;
    let name = String::from_utf8(bytes[..colon].to_vec()).ok()?;
    Some((name, bytes[colon + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auth() -> Auth {
        let hash = bcrypt::hash("sesame", 4).expect("a hash");
        let users = BTreeMap::from([("alice".to_owned(), hash)]);
        Auth::new(users).expect("random numbers").expect("users")
    }

    fn basic(text: &str) -> String {
        format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))
    }

    fn answer(auth: &Auth, header: Option<&str>) -> Answer {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(auth.check(header))
    }

    #[test]
    fn the_right_password_is_let_in_and_remembered() {
        let auth = auth();
        let good = basic("alice:sesame");
        assert_eq!(answer(&auth, Some(&good)), Answer::Welcome);
        assert_eq!(lock(&auth.good).len(), 1);
        assert_eq!(answer(&auth, Some(&good)), Answer::Welcome);
        for bad in ["alice:sesam", "alice:", "bob:sesame", "alice", ":sesame", "alices:esame"] {
            assert_eq!(answer(&auth, Some(&basic(bad))), Answer::Refused, "{bad}");
        }
        for bad in [None, Some("Basic"), Some("Basic ???"), Some("Bearer YWxpY2U6c2VzYW1l")] {
            assert_eq!(answer(&auth, bad), Answer::Refused, "{bad:?}");
        }
        assert_eq!(lock(&auth.good).len(), 1);
    }

    #[test]
    fn clients_that_go_away_pile_up_no_work() {
        let hash = bcrypt::hash("sesame", 8).expect("a hash");
        let auth = Auth::new(BTreeMap::from([("alice".to_owned(), hash)]));
        let auth = auth.expect("random numbers").expect("users");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("a runtime").block_on(async {
            let bad = basic("alice:open");
            let mut first = Box::pin(auth.check(Some(&bad)));
            // Polled until its work has begun, and then dropped as the server drops it.
            std::future::poll_fn(|context| {
                assert!(first.as_mut().poll(context).is_pending());
                std::task::Poll::Ready(())
            })
            .await;
            drop(first);
            assert_eq!(auth.one_at_a_time.available_permits(), 0, "the work still holds it");
            assert_eq!(auth.check(Some(&basic("alice:sesame"))).await, Answer::Welcome);
            assert_eq!(auth.one_at_a_time.available_permits(), 1);
        });
    }

    #[test]
    fn without_users_everybody_may() {
        assert!(Auth::new(BTreeMap::new()).expect("random numbers").is_none());
    }
}
