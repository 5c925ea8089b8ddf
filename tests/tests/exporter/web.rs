//! `hotset export` with a web configuration: TLS, passwords, and what happens when the files change.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use hotset_tests::exporter::Exporter;
use hotset_tests::scratch::text;
use hotset_tests::{Scratch, hotset, until};

/// bcrypt of "sesame", cost 5.
const SESAME: &str = "$2b$05$abcdefghijklmnopqrstuuKcS.CYWVYVaLiiCKrrc0A5s3mGesJ9O";

/// The same, cost 10: a server works on it for some 50 ms.
const SESAME_DEAR: &str = "$2b$10$abcdefghijklmnopqrstuuYoA/Ig5dOcHJ1Uzls.zCgSC7r9v4W76";

/// A certificate for localhost and its key, made by openssl, and a file that names them.
struct Site {
    scratch: Scratch,
}

impl Site {
    fn new() -> Self {
        let site = Self { scratch: Scratch::new("export-web") };
        site.certificate("first");
        site
    }

    fn config(&self) -> PathBuf {
        self.scratch.path("web.yml")
    }

    /// The file; the paths in it are relative to it.
    fn configure(&self, more: &str) {
        let tls = "tls_server_config:\n  cert_file: tls.crt\n  key_file: tls.key\n";
        std::fs::write(self.config(), format!("{tls}{more}")).expect("web.yml");
    }

    /// Makes certificate and key anew, each put in the place of the old one at once.
    fn certificate(&self, organisation: &str) {
        let (cert, key) = (self.scratch.path("new.crt"), self.scratch.path("new.key"));
        let output = Command::new("openssl")
            .args([
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
            ])
            .args(["-days", "2", "-keyout", text(&key), "-out", text(&cert)])
            .args(["-subj", &format!("/CN=localhost/O={organisation}")])
            .args(["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
            .output()
            .expect("openssl; `make setup` installs it (.ci/packages.sh test)");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        std::fs::rename(&key, self.scratch.path("tls.key")).expect("the key");
        std::fs::rename(&cert, self.scratch.path("tls.crt")).expect("the certificate");
    }

    fn start(&self) -> Exporter {
        Exporter::start(&["--web-config", text(&self.config())])
    }

    /// curl's words: the status and the body, or curl's own failure.
    fn curl(&self, exporter: &Exporter, path: &str, words: &[&str]) -> Result<(u16, String), i32> {
        let output = Command::new("curl")
            .args(["--silent", "--max-time", "60", "--write-out", "\n%{http_code}"])
            .args(["--cacert", text(&self.scratch.path("tls.crt"))])
            .args(words)
            .arg(format!("https://{}{path}", exporter.address))
            .output()
            .expect("curl; `make setup` installs it (.ci/packages.sh test)");
        if !output.status.success() {
            return Err(output.status.code().unwrap_or(-1));
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (body, status) = text.rsplit_once('\n').expect("a status");
        Ok((status.parse().expect("a number"), body.to_owned()))
    }
}

#[test]
fn who_has_the_password_reads_and_nobody_else() {
    let site = Site::new();
    site.configure(&format!(
        "  min_version: TLS13\nbasic_auth_users:\n  alice: {SESAME}\nhttp_server_config:\n  headers:\n    X-Frame-Options: deny\n"
    ));
    let exporter = site.start();
    let asked = |words: &[&str]| site.curl(&exporter, "/metrics", words).map(|(status, _)| status);
    assert_eq!(asked(&[]), Ok(401));
    assert_eq!(asked(&["--user", "alice:open"]), Ok(401));
    assert_eq!(asked(&["--user", "bob:sesame"]), Ok(401));
    let (status, body) =
        site.curl(&exporter, "/metrics", &["--user", "alice:sesame"]).expect("an answer");
    assert!(status == 200 && body.contains("hotset_up 1"), "{status}: {body}");
    assert_eq!(asked(&["--user", "alice:sesame"]), Ok(200), "by the memory of good answers");
    let (_, head) =
        site.curl(&exporter, "/", &["--user", "alice:sesame", "--head"]).expect("a head");
    assert!(head.contains("x-frame-options: deny"), "{head}");
    // Plain HTTP, and a TLS that is too old, get nothing.
    assert_eq!(exporter.get("/metrics").status, 0);
    assert!(asked(&["--user", "alice:sesame", "--tls-max", "1.2"]).is_err());
}

#[test]
fn wrong_passwords_of_clients_that_go_away_keep_nobody_out() {
    let site = Site::new();
    std::fs::write(site.config(), format!("basic_auth_users: {{alice: {SESAME_DEAR}}}\n"))
        .expect("web.yml");
    let exporter = site.start();
    // "alice:open", over and over, from clients that stay until their password is being worked out: more than a minute of work.
    for _ in 0..1_500 {
        let mut stream = exporter.connect();
        let _ = stream.write_all(
            b"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWxpY2U6b3Blbg==\r\n\r\n",
        );
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let header = "Authorization: Basic YWxpY2U6c2VzYW1l\r\n";
    // It may come while one of the last is worked out, but behind no pile of them.
    assert_eq!(exporter.ask("GET", "/healthz", header).status, 200);
}

#[test]
fn a_file_that_is_emptied_takes_no_password_away() {
    let site = Site::new();
    let users = format!("basic_auth_users: {{alice: {SESAME}}}\n");
    std::fs::write(site.config(), &users).expect("web.yml");
    let exporter = site.start();
    assert_eq!(exporter.get("/metrics").status, 401);
    std::fs::write(site.config(), "").expect("web.yml");
    assert_eq!(exporter.get("/metrics").status, 401);
    let said = until("a word about it", || {
        let said = exporter.said();
        said.contains("keeping the previous configuration").then_some(said)
    });
    assert!(said.contains("basic_auth_users can't be given up"), "{said}");
}

#[test]
fn renewed_certificates_are_served_and_broken_ones_are_not() {
    let site = Site::new();
    site.configure("");
    let exporter = site.start();
    let who = || {
        let output = Command::new("sh")
            .args(["-c", "openssl s_client -connect \"$0\" </dev/null 2>/dev/null | openssl x509 -noout -subject"])
            .arg(&exporter.address)
            .output()
            .expect("openssl");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(who().contains("first"), "{}", who());
    site.certificate("second");
    until("the second certificate", || who().contains("second").then_some(()));
    std::fs::write(site.scratch.path("tls.crt"), "nothing").expect("a broken certificate");
    assert!(who().contains("second"), "{}", who());
    let said = until("a word about it", || {
        let said = exporter.said();
        said.contains("keeping the previous configuration").then_some(said)
    });
    assert!(said.contains("tls.crt"), "{said}");
    // A password that is added holds at once, also for connections that are open.
    site.certificate("third");
    site.configure(&format!("basic_auth_users: {{alice: {SESAME}}}\n"));
    let status = |words: &[&str]| site.curl(&exporter, "/healthz", words).map(|(status, _)| status);
    assert_eq!((status(&[]), status(&["--user", "alice:sesame"])), (Ok(401), Ok(200)));
}

#[test]
fn clients_need_a_certificate_where_the_file_says_so() {
    let site = Site::new();
    // Its own authority, for the shortest of chains.
    site.configure("  client_ca_file: tls.crt\n  client_auth_type: RequireAndVerifyClientCert\n");
    let exporter = site.start();
    assert!(site.curl(&exporter, "/healthz", &[]).is_err());
}

fn refused(config: &Path) -> (Option<i32>, String) {
    let output = Command::new(hotset())
        .args(["export", "--listen", "127.0.0.1:0", "--web-config", text(config)])
        .output()
        .expect("hotset");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_file_that_asks_for_what_cannot_be_done_is_refused_by_name() {
    let site = Site::new();
    for (more, words) in [
        ("  cipher_suits: [x]\n", &["cipher_suits", "web.yml"][..]),
        ("basic_auth_users: {alice: sesame}\n", &["alice", "bcrypt"]),
        ("  min_version: TLS10\n", &["TLS10", "TLS12"]),
    ] {
        site.configure(more);
        let (code, said) = refused(&site.config());
        assert_eq!(code, Some(1), "{said}");
        for word in words {
            assert!(said.contains(word), "{more}: {said}");
        }
        assert!(!said.contains("sesame"), "{said}");
    }
    let (code, said) = refused(&site.scratch.path("none.yml"));
    assert!(code == Some(1) && said.contains("none.yml"), "{said}");
    std::fs::remove_file(site.scratch.path("tls.key")).expect("removed");
    site.configure("");
    let (code, said) = refused(&site.config());
    assert!(code == Some(1) && said.contains("tls.key"), "{said}");
}
