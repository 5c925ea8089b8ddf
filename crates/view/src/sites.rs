//! Words for the code that asked.

use std::path::Path;

use hotset_analysis::sites::telling_frame;
use hotset_facts::trace::{Frame, Site, SiteState};

/// How text becomes fit for a terminal or a page.
pub(crate) type Escape<'a> = &'a dyn Fn(&[u8]) -> String;

/// Callers that are named behind a function.
const CALLERS: usize = 2;

/// A frame: its function, else its place in its module.
pub(crate) fn frame(frame: &Frame, escape: Escape<'_>) -> String {
    match &frame.function {
        Some(function) => escape(function.as_bytes()),
        None => {
            let module = frame.module.as_deref().unwrap_or("?");
            let module = module.rsplit('/').next().unwrap_or(module);
            format!("{}+0x{:x}", escape(module.as_bytes()), frame.offset)
        }
    }
}

/// Where a frame is: its line, else the file of its code where that says more than the function.
fn place(frame: &Frame, escape: Escape<'_>) -> Option<String> {
    let last = |path: &str| {
        let name =
            Path::new(path).file_name().map_or(path.as_bytes(), |name| name.as_encoded_bytes());
        escape(name)
    };
    match (&frame.source, frame.line) {
        (Some(source), Some(line)) => Some(format!("{}:{line}", last(source))),
        (Some(source), None) => Some(last(source)),
        (None, _) => frame.module.as_deref().filter(|_| frame.function.is_some()).map(last),
    }
}

/// The function that a person would look at, with its place: `load_rows (db.c:88)`.
pub(crate) fn asker(site: &Site, escape: Escape<'_>) -> String {
    let Some(telling) = telling_frame(site).and_then(|at| site.frames.get(at)) else {
        return "(unknown code)".to_owned();
    };
    let name = frame(telling, escape);
    match place(telling, escape) {
        Some(place) => format!("{name} ({place})"),
        None => name,
    }
}

/// What calls `main`, or a thread's first function: it is in every chain, and tells nothing.
fn begins_thread(frame: &Frame) -> bool {
    const NAMES: &[&str] = &[
        "__libc_start_call_main",
        "__libc_start_main",
        "__libc_start_main_impl",
        "_start",
        "start_thread",
        "clone",
        "clone3",
        "__clone",
        "__clone3",
        "runtime.goexit",
        "runtime.goexit.abi0",
    ];
    frame.function.as_deref().is_some_and(|name| NAMES.contains(&name))
}

/// The same with those that called it: `load_rows (db.c:88) < read_all < main`.
pub(crate) fn with_callers(site: &Site, escape: Escape<'_>) -> String {
    let at = telling_frame(site).unwrap_or(0);
    let begins =
        site.frames.iter().position(|frame| begins_thread(frame)).unwrap_or(site.frames.len());
    let callers = site.frames.get(at + 1..begins).unwrap_or_default();
    let left = callers.len().saturating_sub(CALLERS);
    let named = callers.iter().take(CALLERS).map(|one| frame(one, escape));
    let end = match (left, site.state) {
        (0, SiteState::Whole) => None,
        (0, SiteState::Lost) => Some("?".to_owned()),
        _ => Some("…".to_owned()),
    };
    [asker(site, escape)].into_iter().chain(named).chain(end).collect::<Vec<_>>().join(" < ")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn site(frames: &[(Option<&str>, &str, Option<u32>)], state: SiteState) -> Site {
        let frames = frames
            .iter()
            .map(|&(function, module, line)| Frame {
                function: function.map(str::to_owned),
                module: Some(module.to_owned()),
                offset: 0x1f,
                source: line.map(|_| "/src/db.c".to_owned()),
                line,
            })
            .map(Arc::new)
            .collect();
        Site { frames, state }
    }

    #[test]
    fn a_site_is_the_function_that_asked_and_its_callers() {
        let plain = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let app = "/opt/app";
        let whole = site(
            &[
                (Some("__pread"), "/lib/libc.so.6", None),
                (Some("load_rows"), app, Some(88)),
                (Some("read_all"), app, Some(9)),
                (Some("main"), app, None),
                (Some("_start"), app, None),
            ],
            SiteState::Whole,
        );
        assert_eq!(with_callers(&whole, &plain), "load_rows (db.c:88) < read_all < main");
        let stripped =
            site(&[(Some("__pread"), "/lib/libc.so.6", None), (None, app, None)], SiteState::Cut);
        assert_eq!(with_callers(&stripped, &plain), "app+0x1f < …");
        let exported =
            site(&[(Some("sqlite3_step"), "/lib/libsqlite3.so.0", None)], SiteState::Whole);
        assert_eq!(with_callers(&exported, &plain), "sqlite3_step (libsqlite3.so.0)");
        assert_eq!(asker(&site(&[], SiteState::Lost), &plain), "(unknown code)");
    }
}
