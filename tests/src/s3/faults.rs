//! What stands before a server, and lets requests fail.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What becomes of a request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// None: it is passed on.
    Passed,
    /// It is passed on, and answered this much later.
    Slow(Duration),
    /// It is answered with this status and code.
    Refused(u16, &'static str),
    /// The connection ends in the midst of the request.
    Cut,
    /// It is passed on, and the answer is not.
    AnswerLost,
    /// Its body is passed on with another byte in it.
    Damaged,
}

#[derive(Default)]
struct State {
    next: VecDeque<Fault>,
    requests: Vec<String>,
}

/// Passes requests on, but for those that are to fail.
pub struct Faults {
    port: u16,
    state: Arc<Mutex<State>>,
}

impl Faults {
    /// Before a server at this port of the host. Of requests that put something, the next ones meet these faults, one each.
    pub fn before(server: u16, next: Vec<Fault>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let state = Arc::new(Mutex::new(State { next: next.into(), requests: Vec::new() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A connection that breaks is what these tests are about.
                let _ = pass(stream, server, &shared);
            }
        });
        Self { port, state }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// First lines of the requests so far, without what follows a question mark.
    pub fn requests(&self) -> Vec<String> {
        lock(&self.state).requests.clone()
    }

    /// Whether all faults have happened.
    pub fn are_over(&self) -> bool {
        lock(&self.state).next.is_empty()
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One request of a connection, which then ends.
fn pass(mut client: TcpStream, server: u16, state: &Mutex<State>) -> io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut head = String::new();
    let mut length = 0;
    while reader.read_line(&mut head)? > 2 {
        let line = head.lines().last().unwrap_or_default();
        if let Some((_, value)) = line.split_once(':').filter(|(name, _)| is_length(name)) {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let fault = {
        let mut state = lock(state);
        let request = head.split('?').next().unwrap_or_default().to_owned();
        let puts = request.starts_with("PUT ");
        state.requests.push(request);
        if puts { state.next.pop_front().unwrap_or(Fault::Passed) } else { Fault::Passed }
    };
    let mut body = vec![0; length];
    if matches!(fault, Fault::Cut) {
        reader.read_exact(&mut body[..length / 2])?;
        return Ok(());
    }
    reader.read_exact(&mut body)?;
    if let Fault::Refused(status, code) = fault {
        let text = format!("<Error><Code>{code}</Code><Message>So it is.</Message></Error>");
        let length = text.len();
        return write!(
            client,
            "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
        );
    }
    if matches!(fault, Fault::Damaged) {
        body[length / 2] ^= 1;
    }
    if let Fault::Slow(time) = fault {
        std::thread::sleep(time);
    }
    let mut onward = TcpStream::connect(("127.0.0.1", server))?;
    let (first, rest) = head.split_once("\r\n").unwrap_or((&head, ""));
    write!(onward, "{first}\r\nConnection: close\r\n{rest}")?;
    onward.write_all(&body)?;
    let mut answer = Vec::new();
    onward.read_to_end(&mut answer)?;
    if matches!(fault, Fault::AnswerLost) {
        return Ok(());
    }
    client.write_all(&answer)
}

fn is_length(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length")
}
