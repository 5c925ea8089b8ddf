//! `hotset export --parquet --kubernetes-api`: an API server over TLS, of which hotset has the token and the certificate where the kubelet puts
//! them.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{MIB, NamedGroup, Scratch, code, hotset, stderr};
use parquet::record::Field;

use super::fleet::{Row, files_below, rows_of};

/// Answers two requests by files, to whoever has the token; all others are refused.
const SERVER: &str = r#"
import http.server, ssl, sys
class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path, _, query = self.path.partition("?")
        kind = path.rsplit("/", 2)[-2] if path.startswith("/apis/") else path.rsplit("/", 1)[-1]
        allowed = self.headers["Authorization"] == "Bearer sesame"
        allowed = allowed and (kind != "pods" or "fieldSelector=spec.nodeName%3Dnode-7&" in query)
        body = open(kind + ".json", "rb").read() if allowed else b'{"message": "no such right"}'
        self.send_response(200 if allowed else 403)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("ca.crt", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

const UID: &str = "1f2e3d4c-5b6a-7988-9706-a5b4c3d2e1f0";
const ID: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A cluster of one node, with one pod.
struct Cluster {
    scratch: Scratch,
    server: Child,
    port: String,
}

impl Cluster {
    fn new(name: &str, token: &str) -> Self {
        let scratch = Scratch::new(name);
        let write = |name: &str, content: &str| {
            fs::write(scratch.path(name), content).expect(name);
        };
        write("token", token);
        write(
            "pods.json",
            &format!(
                r#"{{"metadata": {{}}, "items": [{{
                "metadata": {{"name": "web-x", "namespace": "shop", "uid": "{UID}", "ownerReferences": [
                    {{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-1", "uid": "r", "controller": true}}]}},
                "spec": {{"containers": [{{"name": "app", "image": "shop/web:2"}}]}},
                "status": {{"containerStatuses": [{{"name": "app", "containerID": "containerd://{ID}"}}]}}}}]}}"#
            ),
        );
        write(
            "replicasets.json",
            r#"{"metadata": {"name": "web-1", "namespace": "shop", "uid": "r", "ownerReferences": [
                {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "web", "uid": "o", "controller": true}]}}"#,
        );
        let made = Command::new("openssl")
            .current_dir(scratch.dir())
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"])
            .args(["-nodes", "-days", "2", "-keyout", "key.pem", "-out", "ca.crt"])
            .args(["-subj", "/CN=api", "-addext", "subjectAltName=IP:127.0.0.1"])
            .args(["-addext", "basicConstraints=critical,CA:FALSE"])
            .output()
            .expect("openssl; `make setup` installs it (.ci/packages.sh test)");
        assert!(made.status.success(), "{}", stderr(&made));
        let mut server = Command::new("python3")
            .args(["-c", SERVER])
            .current_dir(scratch.dir())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("python3");
        let mut port = String::new();
        let stdout = server.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut port).expect("a port");
        Self { scratch, server, port: port.trim().to_owned() }
    }

    /// A container's work in a pod, and the rows of its group, with what hotset said.
    fn watched(&self) -> (Vec<Row>, String) {
        let pod = NamedGroup::new(&format!("pod{UID}"));
        let container = NamedGroup::new(&format!("pod{UID}/{ID}"));
        let (fleet, spool) = (self.scratch.path("fleet"), self.scratch.path("spool"));
        let mut command = Command::new("unshare");
        // Files of a service account are seen by hotset alone.
        let script = "mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount && \
                      cp \"$0\"/token \"$0\"/ca.crt /run/secrets/kubernetes.io/serviceaccount && exec \"$@\"";
        command.args(["--mount", "sh", "-c", script, text(self.scratch.dir()), text(&hotset())]);
        command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2", "--host-name"]);
        command.args(["node-7", "--kubernetes-api", "--parquet", text(&fleet)]);
        command.args(["--spool", text(&spool)]);
        command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1");
        command.env("KUBERNETES_SERVICE_PORT", &self.port);
        let exporter = Exporter::start_command(command);
        let file = self.scratch.file("data", MIB);
        container.run(&format!("cat {} > /dev/null", text(&file)));
        let (status, said) = exporter.stop_with_words();
        assert!(status.success(), "{said}");
        drop(container);
        drop(pod);
        let files = files_below(&fleet.join("group_interval"));
        let rows = files.iter().flat_map(|file| rows_of(file));
        let path = format!("/pod{UID}/{ID}");
        (rows.filter(|row| row["cgroup"] == Field::Str(path.clone())).collect(), said)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn words(row: &Row) -> Vec<String> {
    let names = ["workload_kind", "workload", "namespace", "pod", "container", "image"];
    let text = |name: &str| match &row[name] {
        Field::Str(text) => text.clone(),
        _ => "-".to_owned(),
    };
    names.map(text).to_vec()
}

/// One test after another, for both make the same group.
#[test]
fn the_api_server_tells_whose_a_pod_is_and_may_refuse() {
    let (rows, said) = Cluster::new("kubernetes-api", "sesame\n").watched();
    assert!(!rows.is_empty());
    for row in &rows {
        let told = ["rollout", "shop/web/app", "shop", "web-x", "app", "shop/web:2"];
        assert_eq!(words(row), told, "{said}");
    }
    assert!(!said.contains("--kubernetes-api"), "{said}");
    let (rows, said) = Cluster::new("kubernetes-refused", "no longer valid").watched();
    assert!(!rows.is_empty());
    for row in &rows {
        let own = ["container", "0123456789ab", "-", UID, "0123456789ab", "-"];
        assert_eq!(words(row), own, "{said}");
    }
    let refused = "the API server answers 403 to /api/v1/pods: no such right";
    assert_eq!(said.matches(refused).count(), 1, "{said}");
    assert!(!said.contains("no longer valid"), "{said}");
}

#[test]
fn outside_of_a_pod_there_is_no_api_server() {
    let scratch = Scratch::new("kubernetes-none");
    let mut command = Command::new(hotset());
    command.args(["export", "--listen", "127.0.0.1:0", "--kubernetes-api", "--parquet"]);
    command.args([text(&scratch.path("fleet")), "--spool", text(&scratch.path("spool"))]);
    command.env_remove("KUBERNETES_SERVICE_HOST");
    let output = command.output().expect("hotset");
    assert_eq!(code(&output), 1);
    let said = stderr(&output);
    assert!(said.contains("--kubernetes-api: KUBERNETES_SERVICE_HOST"), "{said}");
    assert!(said.contains("leave the option out"), "{said}");
}
