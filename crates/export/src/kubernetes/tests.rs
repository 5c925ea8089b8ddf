//! A server that speaks as Kubernetes' does, and what becomes of its answers.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::owners::ParentKey;
use super::*;
use crate::s3::fake::{Asked, Fake};

const NODE: &str = "node-1";

/// The files of a service account, which are gone with this value.
struct Account(PathBuf);

impl Account {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("hotset-pods-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let account = Self(dir);
        account.set_token("first");
        account
    }

    fn set_token(&self, token: &str) {
        std::fs::write(self.0.join("token"), format!("{token}\n")).expect("a file");
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn asker(fake: &Fake, account: &Account) -> Asker {
    Asker {
        server: Server::at(&fake.url, account.0.clone()),
        node: NODE.to_owned(),
        say: |_| (),
        shared: Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }),
        parents: HashMap::new(),
        said: None,
    }
}

fn owned(name: &str, uid: &str, owner: Option<[&str; 3]>) -> Value {
    let owners = owner.map(|[api, kind, name]| {
        json!([{"apiVersion": api, "kind": kind, "name": name, "uid": format!("uid-of-{name}"), "controller": true}])
    });
    json!({"metadata": {"name": name, "namespace": "shop", "uid": uid, "ownerReferences": owners}})
}

fn list(pods: &[Value], more: &str) -> (u16, String) {
    (200, json!({"kind": "PodList", "metadata": {"continue": more}, "items": pods}).to_string())
}

fn owner_of(round: &Round, uid: &str) -> (String, String) {
    let owner = round.pods[uid].owner.clone().unwrap_or_else(|| panic!("{uid} is nobody's"));
    (owner.kind, owner.name)
}

fn is_pods(asked: &Asked) -> bool {
    asked.line.starts_with("GET /api/v1/pods?")
}

#[test]
fn owners_are_asked_for_up_to_who_decides() {
    let apps = "apps/v1";
    let pods = [
        owned("web-1", "a", Some([apps, "ReplicaSet", "web-7d4b9c6f5d"])),
        owned("roll-1", "b", Some([apps, "ReplicaSet", "roll-66666"])),
        owned("lone-1", "c", Some([apps, "ReplicaSet", "lone"])),
        owned("cron-1", "d", Some(["batch/v1", "Job", "cron-28933320"])),
        owned("once-1", "e", Some(["batch/v1", "Job", "once"])),
        owned("agent-1", "f", Some([apps, "DaemonSet", "agent"])),
        owned("db-0", "g", Some([apps, "StatefulSet", "db"])),
        owned("db-1", "h", Some(["apps.kruise.io/v1beta1", "StatefulSet", "db"])),
        owned("bare", "i", None),
        owned("old-1", "j", Some([apps, "ReplicaSet", "gone"])),
        owned("other-1", "k", Some([apps, "ReplicaSet", "another"])),
    ];
    let fake = Fake::new(move |asked| {
        let object =
            |name: &str, owner| (200, owned(name, &format!("uid-of-{name}"), owner).to_string());
        match asked.line.split([' ', '?']).nth(1).expect("a path") {
            "/api/v1/pods" => list(&pods, ""),
            "/apis/apps/v1/namespaces/shop/replicasets/web-7d4b9c6f5d" => {
                object("web-7d4b9c6f5d", Some([apps, "Deployment", "web"]))
            }
            "/apis/apps/v1/namespaces/shop/replicasets/roll-66666" => {
                object("roll-66666", Some(["argoproj.io/v1alpha1", "Rollout", "roll"]))
            }
            "/apis/apps/v1/namespaces/shop/replicasets/lone" => object("lone", None),
            "/apis/apps/v1/namespaces/shop/replicasets/another" => {
                (200, owned("another", "made-anew", Some([apps, "Deployment", "x"])).to_string())
            }
            "/apis/batch/v1/namespaces/shop/jobs/cron-28933320" => {
                object("cron-28933320", Some(["batch/v1", "CronJob", "cron"]))
            }
            "/apis/batch/v1/namespaces/shop/jobs/once" => object("once", None),
            _ => (404, json!({"kind": "Status", "message": "not found"}).to_string()),
        }
    });
    let account = Account::new();
    let mut asker = asker(&fake, &account);
    let round = asker.round().expect("answers");
    for (uid, kind, name) in [
        ("a", "deployment", "web"),
        ("b", "rollout", "roll"),
        ("c", "replicaset", "lone"),
        ("d", "cronjob", "cron"),
        ("e", "job", "once"),
        ("f", "daemonset", "agent"),
        ("g", "statefulset", "db"),
        ("h", "statefulset.apps.kruise.io", "db"),
        ("i", "pod", "bare"),
    ] {
        assert_eq!(owner_of(&round, uid), (kind.to_owned(), name.to_owned()), "{uid}");
    }
    // A replicaset that is gone, and one that has the name of it by now.
    assert!(["j", "k"].iter().all(|uid| round.pods[*uid].owner.is_none()));
    let first = fake.asked().len();
    asker.round().expect("answers");
    // Only what is not known is asked for again.
    assert_eq!(fake.asked().len() - first, 3, "{:?}", fake.asked());
}

#[test]
fn only_pods_of_the_node_are_asked_for_page_by_page_with_the_token_of_now() {
    let fake = Fake::new(|asked| match asked.line.contains("continue=next") {
        false => list(&[owned("a", "a", None)], "next"),
        true => list(&[owned("b", "b", None)], ""),
    });
    let account = Account::new();
    let mut asker = asker(&fake, &account);
    let round = asker.round().expect("answers");
    assert_eq!(round.pods.len(), 2);
    account.set_token("second");
    asker.round().expect("answers");
    let asked = fake.asked();
    assert_eq!(asked.len(), 4);
    for one in &asked {
        assert!(one.line.contains("fieldSelector=spec.nodeName%3Dnode-1&limit="), "{}", one.line);
        // Where a list goes on, its version is in the mark.
        assert_ne!(one.line.contains("continue="), one.line.contains("resourceVersion="));
    }
    assert!(asked[..2].iter().all(|one| one.has("authorization: Bearer first")), "{asked:?}");
    assert!(asked[2..].iter().all(|one| one.has("authorization: Bearer second")), "{asked:?}");
    std::fs::remove_file(account.0.join("token")).expect("removed");
    let failure = asker.round().err().expect("no token");
    assert!(failure.why.contains("token: No such file"), "{failure:?}");
}

#[test]
fn a_list_without_an_end_ends() {
    let fake = Fake::new(|_| list(&[], "always"));
    let account = Account::new();
    let failure = asker(&fake, &account).round().err().expect("an end");
    assert!(failure.why.contains("pages"), "{failure:?}");
}

#[test]
fn static_pods_have_the_uid_of_their_node_and_no_node_in_their_name() {
    let mut mirror = owned("etcd-node-1", "a", Some(["v1", "Node", NODE]));
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.hash": "a3b1", "x": "y"});
    mirror["spec"] =
        json!({"containers": [{"name": "etcd", "image": "etcd:3.5"}], "initContainers": null});
    mirror["status"] =
        json!({"containerStatuses": [{"name": "etcd", "containerID": "containerd://0123"}]});
    let fake = Fake::new(move |_| list(&[mirror.clone()], ""));
    let account = Account::new();
    let round = asker(&fake, &account).round().expect("answers");
    assert_eq!(owner_of(&round, "a3b1"), ("pod".to_owned(), "etcd".to_owned()));
    let pod = &round.pods["a3b1"];
    assert_eq!(pod, &round.pods["a"]);
    let etcd = Container {
        name: "etcd".to_owned(),
        id: Some("0123".to_owned()),
        image: Some("etcd:3.5".to_owned()),
    };
    assert_eq!(pod.containers, [etcd]);
}

#[test]
fn who_may_not_ask_for_owners_still_has_pods_and_is_told() {
    let fake = Fake::new(|asked| match is_pods(asked) {
        true => list(
            &[
                owned("web-1", "a", Some(["apps/v1", "ReplicaSet", "web"])),
                owned("agent-1", "b", Some(["apps/v1", "DaemonSet", "agent"])),
                owned("job-1", "c", Some(["batch/v1", "Job", "job"])),
            ],
            "",
        ),
        false => (403, json!({"message": "replicasets is forbidden:\n\u{1b}[31mno"}).to_string()),
    });
    let account = Account::new();
    let round = asker(&fake, &account).round().expect("pods");
    assert_eq!(round.pods["a"].owner, None);
    assert_eq!(owner_of(&round, "b"), ("daemonset".to_owned(), "agent".to_owned()));
    let refused = round.refused.expect("a refusal");
    assert!(refused.contains("answers 403 to /apis/apps/v1/"), "{refused}");
    assert!(refused.contains("replicasets is forbidden") && !refused.contains(['\n', '\u{1b}']));
    // It was asked once, not for each.
    assert_eq!(fake.asked().len(), 2);
}

#[test]
fn junk_and_refusals_are_failures_in_words() {
    for (status, body) in [
        (403, json!({"message": "pods is forbidden"}).to_string()),
        (500, "<html>".to_owned()),
        (301, String::new()),
        (200, String::new()),
        (200, "{".to_owned()),
        (200, "[]".to_owned()),
        (200, "{}".to_owned()),
        (200, r#"{"metadata": {}, "items": [{}]}"#.to_owned()),
        (200, r#"{"metadata": {}, "items": [{"metadata": {"name": 1}}]}"#.to_owned()),
        (200, "[".repeat(100_000)),
    ] {
        let answer = body.clone();
        let fake = Fake::new(move |_| (status, answer.clone()));
        let account = Account::new();
        let failure = asker(&fake, &account).round().err();
        let failure = failure.unwrap_or_else(|| panic!("{status} {body:.40} was taken"));
        assert_eq!(failure.status, Some(status), "{failure:?}");
        assert!(failure.why.len() < 400, "{failure:?}");
    }
    let empty = Fake::new(|_| (200, r#"{"metadata": {}, "items": null}"#.to_owned()));
    let account = Account::new();
    assert!(asker(&empty, &account).round().expect("a list").pods.is_empty());
}

#[test]
fn cut_off_answers_never_pass_for_whole_ones() {
    let whole = list(&[owned("web", "a", Some(["apps/v1", "DaemonSet", "web"]))], "").1;
    for length in 0..whole.len() {
        assert!(serde_json::from_str::<documents::PodList>(&whole[..length]).is_err(), "{length}");
    }
}

#[test]
fn names_from_answers_stay_parts_of_a_path() {
    let fake = Fake::new(|_| (404, String::new()));
    let account = Account::new();
    let server = Server::at(&fake.url, account.0.clone());
    let key = ParentKey {
        uid: "a".to_owned(),
        namespace: "../../x?y".to_owned(),
        name: "a/b#c".to_owned(),
        resource: "apis/batch/v1",
    };
    assert!(server.client().expect("a client").object(&key).expect("an answer").is_none());
    let line = fake.asked()[0].line.clone();
    assert!(
        line.starts_with("GET /apis/batch/v1/namespaces/..%2F..%2Fx%3Fy/jobs/a%2Fb%23c "),
        "{line}"
    );
}

#[test]
fn who_waits_for_a_pod_gets_it_and_nobody_waits_for_a_server_that_fails() {
    let wanted = |uid: &str| HashSet::from([uid.to_owned()]);
    let fake = Fake::new(|_| list(&[owned("bare", "a", None)], ""));
    let account = Account::new();
    let pods = Pods::ask(Server::at(&fake.url, account.0.clone()), NODE, |_| ()).expect("a thread");
    assert_eq!(pods.of(&wanted("a"))["a"].name, "bare");
    // A pod that the server did not know just now is not asked for again.
    pods.0.lock().absent.insert("b".to_owned(), Instant::now());
    assert!(pods.of(&wanted("b")).is_empty());
    assert!(pods.0.lock().wanted.is_empty());
    let away = Server::at("http://127.0.0.1:1", account.0.clone());
    let pods = Pods::ask(away, NODE, |_| ()).expect("a thread");
    while !pods.0.lock().failing {
        std::thread::yield_now();
    }
    assert!(pods.of(&wanted("a")).is_empty());
}

#[test]
fn one_waits_for_a_slow_server_and_the_next_does_not() {
    // Nobody asks, as it looks while a request takes long.
    let pods = Pods(Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() }));
    let wanted = HashSet::from(["a".to_owned()]);
    assert!(pods.of_within(&wanted, Duration::ZERO).is_empty());
    assert!(pods.0.lock().failing && pods.0.lock().wanted.contains("a"));
    assert!(pods.of_within(&wanted, Duration::from_secs(3600)).is_empty());
}

#[test]
fn a_pod_that_is_gone_is_known_to_the_rows_that_come_after() {
    let pod = |name: &str| {
        let containers = Vec::new();
        Arc::new(Pod { namespace: "shop".into(), name: name.into(), owner: None, containers })
    };
    let mut state = State { wanted: HashSet::from(["late".to_owned()]), ..State::default() };
    state.learn(HashSet::new(), HashMap::from([("a".to_owned(), pod("a"))]));
    state.learn(HashSet::from(["x".to_owned()]), HashMap::from([("b".to_owned(), pod("b"))]));
    assert!(state.pods.contains_key("a") && state.absent.contains_key("x"));
    // Who was wanted while the server was asked was not asked for.
    assert!(state.wanted.contains("late") && !state.absent.contains_key("late"));
    let many = (0..=REMEMBERED).map(|n| (n.to_string(), pod("c"))).collect();
    state.learn(HashSet::new(), many);
    assert_eq!(state.pods.len(), REMEMBERED + 1);
}

#[test]
fn the_server_is_where_the_kubelet_says() {
    let of = |host: &'static str, port: &'static str| {
        Server::of_pod(|name| {
            let value = if name.ends_with("HOST") { host } else { port };
            Some(value.to_owned())
        })
    };
    for (host, port) in [("10.96.0.1", "443"), ("fd00::1", "6443"), ("api.example", "443")] {
        assert!(of(host, port).is_ok(), "{host}");
    }
    assert!(of("", "443").expect_err("no pod").contains("leave the option out"));
    assert!(of("a b", "443").is_err() && of("10.0.0.1", "x").is_err());
}
