//! S3Proxy over a directory: `make test-fleet` fetches it.

use std::fs::{self, DirBuilder, File};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use std::time::{Duration, Instant};

use crate::Scratch;

/// How long it may take to start.
const START: Duration = Duration::from_secs(120);
/// Whose rights it knows.
pub const ACCESS_KEY: &str = "AKIDEXAMPLE";
/// What belongs to them.
pub const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// Has one bucket, `fleet`, whose objects are files.
pub struct ObjectServer {
    scratch: Scratch,
    port: u16,
    process: Option<Child>,
}

impl ObjectServer {
    /// Starts it.
    pub fn start(name: &str) -> Self {
        let scratch = Scratch::new(name);
        // What others may read is public there.
        let private = |path: &Path| DirBuilder::new().recursive(true).mode(0o700).create(path);
        private(&scratch.path("data/fleet")).expect("a bucket");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let settings = format!(
            "s3proxy.authorization=aws-v2-or-v4\ns3proxy.endpoint=http://127.0.0.1:{port}\n\
             s3proxy.identity={ACCESS_KEY}\ns3proxy.credential={SECRET_KEY}\n\
             jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={}\n",
            scratch.path("data").display()
        );
        fs::write(scratch.path("s3proxy.conf"), settings).expect("settings");
        let mut server = Self { scratch, port, process: None };
        server.restart();
        server
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Begins to answer, on the same port and with the same objects.
    pub fn restart(&mut self) {
        let jar = std::env::var_os("HOTSET_S3PROXY")
            .expect("HOTSET_S3PROXY, the server's jar; `make test-fleet` fetches it");
        let log = File::create(self.scratch.path("log")).expect("a log");
        let mut command = Command::new("java");
        command.args(["-Xmx128m", "-jar"]).arg(jar).arg("--properties");
        command.arg(self.scratch.path("s3proxy.conf")).stdin(Stdio::null());
        command.stdout(log.try_clone().expect("the log")).stderr(log);
        let mut process = command.spawn().expect("java");
        // A JVM takes seconds to start beside other work.
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            let ended = process.try_wait().expect("java's state").is_some();
            if ended || begun.elapsed() > START {
                let said = fs::read_to_string(self.scratch.path("log")).unwrap_or_default();
                panic!("the object server does not answer: {said}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        self.process = Some(process);
    }

    /// Ends without a word.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// The files of the bucket's objects.
    pub fn bucket(&self) -> PathBuf {
        self.scratch.path("data/fleet")
    }
}

impl Drop for ObjectServer {
    fn drop(&mut self) {
        self.kill();
    }
}
