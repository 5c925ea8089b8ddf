//! `hotset export`, and clients of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::programs::hotset;
use crate::with_default_signals;

/// How long an answer may take before a test fails for it: far longer than any should.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running exporter, killed at the end.
pub struct Exporter {
    child: Child,
    /// Where it listens, as it says: `127.0.0.1:40001`.
    pub address: String,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

/// An answer to a request.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its headers, as they came.
    pub head: String,
    /// What follows.
    pub body: String,
}

impl Answer {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }
}

impl Exporter {
    /// `hotset export --listen 127.0.0.1:0 --interval 0.2 WORDS…`, once it serves.
    pub fn start(words: &[&str]) -> Self {
        let mut command = Command::new(hotset());
        command.args(["export", "--listen", "127.0.0.1:0", "--interval", "0.2"]).args(words);
        Self::start_command(command)
    }

    /// The same from a whole command.
    pub fn start_command(mut command: Command) -> Self {
        with_default_signals(&mut command);
        let mut child = (command.stderr(Stdio::piped()).spawn())
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
        let (mut address, mut all) = (None, String::new());
        while address.is_none() {
            let mut line = String::new();
            let read = lines.read_line(&mut line).expect("standard error");
            all.push_str(&line);
            if read == 0 {
                let _ = child.wait();
                panic!("{command:?} ended before it served: {all}");
            }
            let place = line.split_once("metrics at ").and_then(|(_, rest)| rest.split_once("://"));
            address = place.and_then(|(_, rest)| Some(rest.split_once('/')?.0.to_owned()));
        }
        let said = Arc::new(Mutex::new(all));
        let more = Arc::clone(&said);
        let reader = std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut said = more.lock().unwrap_or_else(PoisonError::into_inner);
                said.push_str(&line);
                said.push('\n');
            }
        });
        Self { child, address: address.expect("an address"), said, reader: Some(reader) }
    }

    /// Its PID.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it said on standard error so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A GET.
    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    /// Any request; `headers` end with CRLF each.
    pub fn ask(&self, method: &str, path: &str, headers: &str) -> Answer {
        let mut stream = self.connect();
        let host = &self.address;
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{headers}\r\n"
        );
        // A server that speaks something else may hang up meanwhile; then there is no answer to read.
        let _ = stream.write_all(request.as_bytes());
        answer(stream)
    }

    /// A connection.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("a connection");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a time limit");
        stream
    }

    /// The metrics as Prometheus text.
    pub fn metrics(&self) -> String {
        let answer = self.get("/metrics");
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    }

    /// The value of a series as it is written, such as `hotset_lost_total{cause="tasks"}`.
    pub fn value(&self, series: &str) -> Option<f64> {
        value(&self.metrics(), series)
    }

    /// Waits until another two samples have been taken, so that all that was done before is counted.
    pub fn settle(&self) {
        let samples = || self.value("hotset_samples_total").expect("samples");
        let before = samples();
        crate::until("two more samples", || (samples() >= before + 2.0).then_some(()));
    }

    /// Asks it to end by SIGTERM, and waits.
    pub fn stop(self) -> ExitStatus {
        self.stop_with_words().0
    }

    /// The same with all that it said on standard error.
    pub fn stop_with_words(mut self) -> (ExitStatus, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("SIGTERM");
        let status = self.child.wait().expect("its end");
        if let Some(reader) = self.reader.take() {
            reader.join().expect("standard error");
        }
        (status, self.said())
    }
}

impl Drop for Exporter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a server answers, to its end.
pub fn answer(mut stream: impl Read) -> Answer {
    let mut bytes = Vec::new();
    // A TLS stream may end without its goodbye, a refused one by a reset: what came is what counts.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// The value of a series in a text.
pub fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    line.split(' ').next()?.parse().ok()
}

/// Runs a program to its end with this on its standard input.
pub fn fed(command: &mut Command, input: &[u8]) -> std::process::Output {
    let mut child = (command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))
        .spawn()
        .unwrap_or_else(|error| {
            panic!("{command:?}: {error}; `make setup` installs it (.ci/packages.sh test)")
        });
    let mut to = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    let writer = std::thread::spawn(move || to.write_all(&input));
    let output = child.wait_with_output().expect("its output");
    let _ = writer.join();
    output
}
