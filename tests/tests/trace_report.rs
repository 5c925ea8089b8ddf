//! `hotset report` of recordings: the pictures in a browser, the numbers of `trace info`, and traces that can't be shown.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Frame, Operation, RecordFlags, RecordPages, Site, SiteIndex, SiteState, TraceBatch,
    TraceFile, TraceHead, TraceLists, TraceRecord, TraceSource,
};
use hotset_tests::browser::{DARK, attribute, browse, driven, on_a_phone, picture};
use hotset_tests::scratch::text;
use hotset_tests::{
    MIB, Scratch, code, evict_verified, hotset, read_json, stderr, stdout, workload,
};
use hotset_trace::Writer;

fn hotset_with(words: &[&str]) -> Output {
    Command::new(hotset()).args(words).output().expect("hotset")
}

fn report(trace: &Path, page: &Path) -> Output {
    hotset_with(&["report", text(trace), "-o", text(page)])
}

fn page_of(scratch: &Scratch, trace: &Path) -> PathBuf {
    let page = scratch.path("page.html");
    let made = report(trace, &page);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    page
}

/// Random reads of a cold file, recorded.
fn recording(scratch: &Scratch) -> (PathBuf, PathBuf) {
    let file = scratch.file("read-at-random", 16 * MIB);
    let (trace, truth) = (scratch.path("t.parquet"), scratch.path("truth.json"));
    evict_verified(&file);
    let program = workload();
    let mut command = Command::new(hotset());
    command.args(["record", "-q", "-o", text(&trace), "--", text(&program), "random"]);
    command.args(["--file", text(&file), "--truth", text(&truth), "--count", "1000"]);
    let output = command.output().expect("hotset");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    (trace, file)
}

fn head() -> TraceHead {
    TraceHead {
        hotset: "0".to_owned(),
        source: TraceSource::Recorded,
        started_at: None,
        environment: None,
        command: None,
        cost: None,
        memory: None,
        memory_steps: Vec::new(),
        reclaim: None,
        not_measured: Vec::new(),
        lacks: Vec::new(),
    }
}

/// A record of any kind that has a place in a file, anywhere in one of eight files.
fn record(number: u64) -> TraceRecord {
    let pages = |hits, ahead_hits, misses| {
        Some(RecordPages { pages: 1, hits, ahead_hits, misses, ..RecordPages::default() })
    };
    let (operation, pages) = match number % 7 {
        0 => (Operation::Pread, pages(0, 0, 1)),
        1 => (Operation::Pread, pages(1, 1, 0)),
        2 => (Operation::Pread, pages(1, 0, 0)),
        3 => (Operation::Pwrite, pages(1, 0, 0)),
        4 => (Operation::MajorFault, pages(0, 0, 0)),
        5 => (Operation::MinorFault, pages(0, 0, 0)),
        _ => (Operation::Pread, None),
    };
    TraceRecord {
        duration_ns: (operation != Operation::MinorFault).then_some(900),
        tid: Some(1),
        file: Some(FileIndex(u32::try_from(number / 7 % 8).expect("small"))),
        offset: Some(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 20) * 4096),
        asked_bytes: Some(4096),
        result: Some(4096),
        flags: if pages.is_none() { RecordFlags::DIRECT } else { RecordFlags::default() },
        pages,
        site: Some(SiteIndex(u32::try_from(number % 3).expect("small"))),
        ..TraceRecord::new(number * 1000, operation)
    }
}

/// Where they come from: `main`, and three functions that it calls.
fn site(number: u32) -> Site {
    let frame = |function: String| Frame {
        function: Some(function),
        module: Some("/srv/app".to_owned()),
        offset: 16,
        source: None,
        line: None,
    };
    Site {
        frames: [frame(format!("read_{number}")), frame("main".to_owned())].map(Arc::new).to_vec(),
        state: SiteState::Whole,
    }
}

/// A trace of so many of them.
fn synthetic(scratch: &Scratch, records: u64) -> PathBuf {
    const BATCH: u64 = 10_000;
    let trace = scratch.path("synthetic.parquet");
    let file = File::create(&trace).expect("the trace's file");
    let mut writer = Writer::new(file, &head(), None).expect("a trace");
    let one = |number: u32| TraceFile {
        path: Some(format!("/srv/{number}").into()),
        kind: FileKind::Regular,
        id: None,
        size_bytes: None,
        cached_pages: None,
    };
    for from in (0..records).step_by(BATCH as usize) {
        let added = match from {
            0 => TraceLists {
                files: (0..8).map(one).collect(),
                sites: (0..3).map(site).collect(),
                ..TraceLists::default()
            },
            _ => TraceLists::default(),
        };
        let records = (from..records.min(from + BATCH)).map(record).collect();
        let batch = TraceBatch { records, added, ..TraceBatch::default() };
        writer.write(&batch).expect("a batch");
    }
    writer.finish(0, true).expect("the end");
    trace
}

#[test]
fn a_browser_draws_all_that_was_recorded() {
    let scratch = Scratch::new("trace-page");
    let (trace, file) = recording(&scratch);
    let page = page_of(&scratch, &trace);
    let (dom, console) = browse(&scratch, &page, &["--dump-dom"]);
    assert_eq!((attribute(&dom, "data-errors"), console), (vec!["[]"], Vec::new()));
    assert_eq!(attribute(&dom, "data-drawn-points"), attribute(&dom, "data-points"));
    assert_eq!(attribute(&dom, "data-drawn-things"), attribute(&dom, "data-things"));
    let kinds = attribute(&dom, "data-kind");
    assert!(kinds.contains(&"grid") && kinds.contains(&"lanes"), "{kinds:?}");
    for told in [
        &format!("Where in {}, and when?", text(&file)),
        "read, missed",
        "waits for the device",
        "With --sites",
    ] {
        assert!(dom.contains(told), "{told}");
    }
    let phone = on_a_phone(&scratch, &page, 6000);
    let (narrow, _) = browse(&scratch, &phone, &["--dump-dom"]);
    assert_eq!(attribute(&narrow, "data-wider"), ["0"], "only tables scroll sideways");
    assert_eq!(attribute(&narrow, "data-inner-errors"), ["[]"]);
    picture(&scratch, "trace", &page, 3000, &[]);
    picture(&scratch, "trace-dark", &page, 3000, &DARK);
    picture(&scratch, "trace-phone", &phone, 6000, &[]);
}

#[test]
fn a_drag_zooms_and_a_key_goes_back() {
    let scratch = Scratch::new("trace-zoom");
    let (trace, _) = recording(&scratch);
    let page = page_of(&scratch, &trace);
    let script = "
        const place = document.querySelector('.canvas[data-kind=grid]'), figure = place.parentElement;
        const canvas = place.querySelector('canvas'), back = figure.querySelector('.all');
        canvas.setPointerCapture = () => {};
        const box = canvas.getBoundingClientRect();
        const send = (type, x, y) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, clientX: box.left + x, clientY: box.top + y }));
        const press = (key) => place.dispatchEvent(new KeyboardEvent('keydown', { key }));
        const told = [back.disabled];
        send('pointerdown', 300, 100); send('pointermove', 500, 250); send('pointerup', 500, 250);
        told.push(back.disabled);
        press('ArrowRight');
        document.body.dataset.readout = figure.querySelector('.readout').textContent;
        press('Escape');
        told.push(back.disabled);
        document.body.dataset.zoomed = told.join(' ');";
    let (dom, _) = browse(&scratch, &driven(&scratch, &page, script), &["--dump-dom"]);
    assert_eq!(attribute(&dom, "data-zoomed"), ["true false true"]);
    let readout = attribute(&dom, "data-readout");
    assert!(readout.first().is_some_and(|told| told.contains("offset")), "{readout:?}");
    assert_eq!(attribute(&dom, "data-errors"), ["[]"]);
}

#[test]
fn the_page_has_the_numbers_of_trace_info() {
    let scratch = Scratch::new("trace-numbers");
    let (trace, file) = recording(&scratch);
    let page = std::fs::read_to_string(page_of(&scratch, &trace)).expect("the page");
    let row = page.split(&format!("{}</th>", text(&file))).nth(1).expect("the file's row");
    let row = row.split("</tr>").next().expect("its end");
    let told = hotset_with(&["trace", "info", text(&trace)]);
    let shown = stdout(&told);
    let line = shown.lines().find(|line| line.contains("read-at-random")).expect("its line");
    // Time, bytes read, share from the device: numbers with their units.
    let words: Vec<&str> = line.split_whitespace().skip(1).take(6).collect();
    for cell in words.chunks(2).map(|cell| cell.join(" ")) {
        assert!(row.contains(&format!(">{cell}<")), "{cell} of {line:?} in {row}");
    }
}

#[test]
fn a_recording_stands_beside_other_results() {
    let scratch = Scratch::new("trace-beside");
    let (trace, profile) = (scratch.path("t.parquet"), scratch.path("p.json"));
    let (t, p) = (text(&trace), text(&profile));
    let ran = hotset_with(&["record", "-q", "-o", t, "--json", p, "--", "cat", "/etc/passwd"]);
    assert_eq!(code(&ran), 0, "{}", stderr(&ran));
    assert_eq!(read_json(&profile)["schema"], "hotset.profile/1");
    let page = scratch.path("both.html");
    let made = hotset_with(&["report", t, p, "-o", text(&page)]);
    assert_eq!(code(&made), 0, "{}", stderr(&made));
    let html = std::fs::read_to_string(&page).expect("the page");
    let links = html.split("<nav").nth(1).and_then(|nav| nav.split("</nav>").next());
    let links = links.expect("the parts");
    for told in ["t.parquet: Trace of cat", "p.json: cat"] {
        assert!(links.contains(told), "{told} in {links}");
    }
    let itself = report(&trace, &trace);
    assert_eq!(code(&itself), 2, "{}", stderr(&itself));
}

#[test]
fn what_is_no_whole_trace_is_named_and_leaves_no_page() {
    let scratch = Scratch::new("trace-wrong");
    let whole = std::fs::read(synthetic(&scratch, 1000)).expect("the trace");
    let replaced = |from: &[u8], to: &[u8]| {
        let at = whole.windows(from.len()).rposition(|bytes| bytes == from).expect("the place");
        [&whole[..at], to, &whole[at + from.len()..]].concat()
    };
    let mut flipped = whole.clone();
    flipped[whole.len() / 4] ^= 1;
    // Without its checksum the footer is believed.
    let newer = replaced(b"HSCK", b"none");
    let at = newer.windows(14).rposition(|bytes| bytes == b"hotset.trace/1").expect("the schema");
    let newer = [&newer[..at], b"hotset.trace/9", &newer[at + 14..]].concat();
    let foreign = [&b"PAR1"[..], &[0; 64], b"PAR1"].concat();
    for (name, bytes, why) in [
        ("flipped", &flipped[..], "damaged at row group 0"),
        ("cut", &whole[..whole.len() / 2], "is cut off"),
        ("newer", &newer, "hotset.trace/9"),
        ("foreign", &foreign, "damaged at"),
        ("short", b"PAR1", "is cut off"),
    ] {
        let (trace, page) = (scratch.path(name), scratch.path("page.html"));
        std::fs::write(&trace, bytes).expect("write");
        let refused = report(&trace, &page);
        let said = stderr(&refused);
        assert_eq!(code(&refused), 1, "{name}: {said}");
        assert!(said.contains(why) && said.contains(text(&trace)), "{name}: {said}");
        assert!(!page.exists(), "{name}");
    }
}

#[test]
fn a_trace_through_a_pipe_is_refused() {
    let scratch = Scratch::new("trace-pipe");
    let trace = synthetic(&scratch, 10);
    let mut command = Command::new(hotset());
    command.args(["report", "-", "-o", "-"]).stdin(Stdio::from(File::open(&trace).expect("open")));
    let refused = command.output().expect("hotset");
    assert_eq!(code(&refused), 1);
    let said = stderr(&refused);
    assert!(said.contains("expected the name of its Parquet file"), "{said}");
}

#[test]
fn a_recording_without_records_says_so() {
    let scratch = Scratch::new("trace-empty");
    let trace = synthetic(&scratch, 0);
    let page = page_of(&scratch, &trace);
    let (dom, console) = browse(&scratch, &page, &["--dump-dom"]);
    assert_eq!((attribute(&dom, "data-errors"), console), (vec!["[]"], Vec::new()));
    let text_of = hotset_with(&["trace", "info", text(&trace)]);
    for told in [dom, stdout(&text_of)] {
        assert!(told.contains("No records"), "{told}");
    }
}

/// Cells all over eight files, of each kind: pages of longer traces are no larger.
#[test]
fn a_page_of_many_records_is_bounded_as_is_the_memory_for_it() {
    const LIMIT_KIB: u64 = 256 << 10;
    let scratch = Scratch::new("trace-large");
    let trace = synthetic(&scratch, 1_000_000);
    let page = scratch.path("page.html");
    let line = format!("ulimit -d {LIMIT_KIB}; exec \"$0\" report \"$1\" -o \"$2\"");
    let program = hotset();
    let words = ["-c", &line, text(&program), text(&trace), text(&page)];
    let output = Command::new("sh").args(words).output().expect("sh");
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let bytes = std::fs::metadata(&page).expect("the page").len();
    assert!(bytes < 4 * MIB, "{bytes} bytes");
    let (dom, console) = browse(&scratch, &page, &["--dump-dom"]);
    assert_eq!((attribute(&dom, "data-errors"), console), (vec!["[]"], Vec::new()));
    assert_eq!(attribute(&dom, "data-drawn-things"), attribute(&dom, "data-things"));
    assert_eq!(attribute(&dom, "data-kind"), [&["grid"; 8][..], &["lanes", "flame"]].concat());
    picture(&scratch, "trace-large", &page, 6000, &[]);
}
