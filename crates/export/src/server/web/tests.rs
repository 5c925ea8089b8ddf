use super::*;

/// bcrypt of "sesame", cost 5.
const USERS: &str =
    "basic_auth_users: {alice: $2b$05$abcdefghijklmnopqrstuuKcS.CYWVYVaLiiCKrrc0A5s3mGesJ9O}\n";

/// A directory with a file, removed at the end.
struct Site(PathBuf);

impl Site {
    fn new(name: &str, text: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("hotset-web-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("a directory");
        let site = Self(dir);
        site.write(text);
        site
    }

    fn write(&self, text: &str) {
        std::fs::write(self.0.join("web.yml"), text).expect("web.yml");
    }

    fn web(&self) -> Web {
        Web::new(Some(&self.0.join("web.yml")), |_| ()).expect("a good file")
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_that_is_being_written_opens_nothing() {
    let site = Site::new("written", USERS);
    let web = site.web();
    assert!(!web.is_open());
    for text in
        ["", "# nothing yet\n", "http_server_config: {http2: false}\n", "basic_auth_users:\n"]
    {
        site.write(text);
        assert!(web.current().auth.is_some(), "{text:?}");
    }
    std::fs::remove_file(site.0.join("web.yml")).expect("removed");
    assert!(web.current().auth.is_some(), "removed");
    // What it says once it is whole holds.
    site.write(&format!("{USERS}http_server_config: {{headers: {{X-Frame-Options: deny}}}}\n"));
    assert_eq!(web.current().headers.len(), 1);
}

#[test]
fn a_password_that_is_added_holds_from_then_on() {
    let site = Site::new("added", "");
    let web = site.web();
    assert!(web.is_open());
    site.write(USERS);
    assert!(web.current().auth.is_some());
}

#[test]
fn a_file_that_comes_after_its_name_is_found() {
    let site = Site::new("named", USERS);
    let web = site.web();
    let tls = "tls_server_config: {cert_file: new.crt, key_file: new.key}\n";
    site.write(&format!("{USERS}{tls}"));
    assert!(web.current().tls.is_none(), "its files are not there");
    let watched = |web: &Web| {
        web.current
            .lock()
            .expect("a lock")
            .files
            .0
            .iter()
            .any(|(file, _)| file.ends_with("new.crt"))
    };
    assert!(watched(&web));
    std::fs::write(site.0.join("new.crt"), "no certificate").expect("a file");
    assert!(web.current.lock().expect("a lock").files.have_changed());
    let _ = web.current();
    assert!(!web.current.lock().expect("a lock").files.have_changed(), "said once");
}

#[test]
fn a_file_that_was_not_to_be_read_and_then_is_has_another_stamp() {
    use std::os::unix::fs::PermissionsExt;
    let site = Site::new("mode", USERS);
    let path = site.0.join("web.yml");
    let before = stamp(&path);
    // The clock of a file system may stand still for a tick.
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("its mode");
    assert!(stamp(&path) != before);
}
