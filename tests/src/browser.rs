//! Chromium without a window, for pages.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Scratch;

/// Options for a reader who prefers a dark page.
pub const DARK: [&str; 2] = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"];

/// What the browser writes, and what stood on the page's console.
pub fn browse(scratch: &Scratch, file: &Path, options: &[&str]) -> (String, Vec<String>) {
    let profile = format!("--user-data-dir={}", scratch.path("profile").display());
    let output = Command::new("chromium-headless-shell")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=5000"])
        .arg(profile)
        .args(options)
        .arg(format!("file://{}", file.display()))
        .stdin(Stdio::null())
        .output()
        .expect("chromium-headless-shell; .ci/packages.sh test installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8_lossy(&output.stderr);
    let console = log.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    (String::from_utf8_lossy(&output.stdout).into_owned(), console)
}

/// The values of an attribute, in the order of the document.
pub fn attribute<'a>(dom: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!(" {name}=\"");
    dom.split(&begin).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// A copy of a page in which this script runs when the page has loaded: without its policy, which lets none run.
pub fn driven(scratch: &Scratch, page: &Path, script: &str) -> PathBuf {
    let html = std::fs::read_to_string(page).expect("the page");
    let driver = format!(
        "<script>addEventListener('DOMContentLoaded', () => {{ {script} }})</script></body>"
    );
    let open = html.replace("Content-Security-Policy", "x-none").replacen("</body>", &driver, 1);
    let path = scratch.path("driven.html");
    std::fs::write(&path, open).expect("the page's file");
    path
}

/// A page in a frame as wide as a phone: a window can't be as narrow. The outer page tells in `data-wider` by how many
/// pixels the inner one is wider than that, and in `data-inner-errors` which errors it saw.
pub fn on_a_phone(scratch: &Scratch, page: &Path, height: u32) -> PathBuf {
    const WIDTH: u32 = 390;
    let html = std::fs::read_to_string(page).expect("the page");
    let html = html.replace('&', "&amp;").replace('"', "&quot;");
    let outer = format!(
        "<!DOCTYPE html><meta charset='utf-8'><body style='margin:0'>\
         <iframe style='width:{WIDTH}px;height:{height}px;border:0' srcdoc=\"{html}\"></iframe>\
         <script>addEventListener('load', () => {{\
           const inner = document.querySelector('iframe').contentDocument;\
           document.body.dataset.wider = inner.documentElement.scrollWidth - {WIDTH};\
           document.body.dataset.innerErrors = inner.body.dataset.errors;\
           const plots = [...inner.querySelectorAll('.plot')];\
           document.body.dataset.innerDrawn = plots.map((plot) => plot.dataset.drawnPoints).join(' ');\
         }});</script></body>"
    );
    let path = scratch.path("phone.html");
    std::fs::write(&path, outer).expect("the frame's file");
    path
}

/// Where pictures are kept.
pub fn pictures() -> PathBuf {
    let dir = crate::programs::target_dir().join("page-screenshots");
    std::fs::create_dir_all(&dir).expect("the directory of the screenshots");
    dir
}

/// Keeps a screenshot in `target/page-screenshots`, to be looked at; panics where it shows nothing.
pub fn picture(scratch: &Scratch, name: &str, page: &Path, height: u32, options: &[&str]) {
    let picture = pictures().join(format!("{name}.png"));
    let _ = std::fs::remove_file(&picture);
    let screenshot = format!("--screenshot={}", picture.display());
    let size = format!("--window-size=1280,{height}");
    let mut all = vec![size.as_str(), screenshot.as_str()];
    all.extend(options);
    let (_, console) = browse(scratch, page, &all);
    assert_eq!(console, Vec::<String>::new(), "{name}");
    let bytes = std::fs::metadata(&picture).map_or(0, |picture| picture.len());
    assert!(bytes > 20_000, "{name}: a picture of {bytes} bytes shows nothing");
}
