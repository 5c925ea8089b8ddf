//! A server that answers as it is told, for tests: what gives credentials on a cloud's hosts can't be had elsewhere.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

/// A request: its first line, headers in lower case, and what follows.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) line: String,
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl Asked {
    pub(crate) fn has(&self, header: &str) -> bool {
        self.headers.iter().any(|one| one == header)
    }
}

type Answers = Box<dyn Fn(&Asked) -> (u16, String) + Send>;

/// Answers until the process ends.
pub(crate) struct Fake {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    pub(crate) fn new(answers: impl Fn(&Asked) -> (u16, String) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answers): (_, Answers) = (Arc::clone(&asked), Box::new(answers));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                serve(&stream, &kept, &answers);
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("lock").clone()
    }
}

fn serve(mut stream: &TcpStream, kept: &Mutex<Vec<Asked>>, answers: &Answers) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).unwrap_or(0) == 0 {
        return;
    }
    let mut headers = Vec::new();
    let mut length = 0;
    for header in reader.by_ref().lines().map_while(Result::ok).take_while(|one| !one.is_empty()) {
        let (name, value) = header.split_once(':').unwrap_or((&header, ""));
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        if name == "content-length" {
            length = value.parse().expect("a length");
        }
        headers.push(format!("{name}: {value}"));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let body = String::from_utf8_lossy(&body).into_owned();
    let asked = Asked { line: line.trim().to_owned(), headers, body };
    kept.lock().expect("lock").push(asked.clone());
    let (status, text) = answers(&asked);
    let length = text.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
    );
}

/// A file that is gone with this value.
pub(crate) struct TextFile(pub(super) PathBuf);

impl TextFile {
    pub(crate) fn new(text: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("hotset-s3-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("a file");
        Self(path)
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().expect("UTF-8")
    }
}

impl Drop for TextFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
