use hotset_analysis::trace::TraceSummary;
use hotset_analysis::trace::pictures::{PictureSize, TracePictures};
use hotset_analysis::trace::testing::{batches, head, imported, imported_head, passes};
use hotset_facts::trace::{TraceHead, TraceSource};

use super::{Trace, info, info_picture_size, trace_page, write_trace_html};
use crate::escape::columns;
use crate::page::testing::lines;
use crate::report::Options;
use crate::wire::schema_tests::refused;
use crate::wire::trace_info_json;

const RECORDS: usize = 6_000;

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// A trace with what it consists of.
struct Whole {
    head: TraceHead,
    summary: TraceSummary,
    pictures: TracePictures,
}

impl Whole {
    fn recorded(size: &PictureSize) -> Self {
        let (summary, pictures) = passes(TraceSource::Recorded, &batches(RECORDS), size);
        Self { head: head(), summary, pictures }
    }

    fn imported(size: &PictureSize) -> Self {
        let (summary, pictures) = passes(TraceSource::Strace, &imported(RECORDS), size);
        Self { head: imported_head(), summary, pictures }
    }

    fn trace(&self) -> Trace<'_> {
        let Self { head, summary, pictures } = self;
        Trace { head, summary, pictures, file_bytes: Some(84_000) }
    }
}

fn shown(of: impl Fn(&PictureSize) -> Whole, options: &Options) -> String {
    info(&of(&info_picture_size(options)).trace(), options)
}

#[test]
fn a_recording_reads_like_this() {
    let options = Options::default();
    insta::assert_snapshot!("recorded_80", shown(Whole::recorded, &options));
    let wide = Options { width: 140, top: 4, ..options };
    insta::assert_snapshot!("recorded_140", shown(Whole::recorded, &wide));
}

#[test]
fn an_import_says_what_it_lacks_and_shows_no_zeros_for_it() {
    let text = shown(Whole::imported, &Options { top: 3, ..Options::default() });
    insta::assert_snapshot!("imported_80", text);
    for claim in ["from the device", "waiting", "read-ahead", " 0 %"] {
        assert!(!text.contains(claim), "{claim}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal_and_ascii_is_ascii() {
    for width in [72, 80, 97, 110, 160] {
        for ascii in [false, true] {
            let text = shown(Whole::recorded, &Options { width, ascii, ..Options::default() });
            assert!(!ascii || text.is_ascii(), "{text}");
            for line in text.lines() {
                assert!(columns(line) <= width, "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn the_page_reads_like_this() {
    let whole = Whole::recorded(&PictureSize::PAGE);
    insta::assert_snapshot!("page", lines(&trace_page(&whole.trace())));
    let whole = Whole::imported(&PictureSize::PAGE);
    let page = lines(&trace_page(&whole.trace()));
    insta::assert_snapshot!("page_of_an_import", page);
}

#[test]
fn without_a_record_both_say_so_and_draw_nothing() {
    let size = PictureSize::PAGE;
    let (summary, pictures) = passes(TraceSource::Recorded, &[], &size);
    let whole = Whole { head: head(), summary, pictures };
    let text = info(&whole.trace(), &Options::default());
    let page = trace_page(&whole.trace());
    let answers: Vec<&str> = page.sections.iter().map(|one| one.answer.as_str()).collect();
    assert_eq!(answers, ["No records: nothing that was observed used a file."]);
    assert!(text.contains(answers[0]) && !text.contains("offset"), "{text}");
    let mut summary = whole.summary.clone();
    summary.lost.records = 7;
    let lost = Whole { summary, ..whole };
    assert!(info(&lost.trace(), &Options::default()).contains("all of them were lost"));
}

#[test]
fn the_page_carries_the_script_of_its_pictures_and_stays_small() -> TestResult {
    let whole = Whole::recorded(&PictureSize::PAGE);
    let mut out = Vec::new();
    write_trace_html(&whole.trace(), &mut out)?;
    let html = String::from_utf8(out)?;
    assert_eq!(html.matches("<script>").count(), 5);
    assert_eq!(html.matches("<figure class=\"picture\">").count(), 7);
    assert!(html.len() < 1 << 20, "{}", html.len());
    Ok(())
}

#[test]
fn the_json_is_what_its_schema_says() -> TestResult {
    for whole in [Whole::recorded(&PictureSize::PAGE), Whole::imported(&PictureSize::PAGE)] {
        let json = trace_info_json(&whole.trace());
        assert_eq!(refused("hotset.trace-info/1", &json)?, [""; 0]);
    }
    Ok(())
}

#[test]
fn what_is_not_measured_is_null_in_json() -> TestResult {
    let whole = Whole::imported(&PictureSize::PAGE);
    let json: serde_json::Value = serde_json::from_slice(&trace_info_json(&whole.trace()))?;
    let totals = &json["totals"];
    for key in ["read_pages", "fault_pages", "device_read_bytes", "waited_ns"] {
        assert!(totals.get(key).is_some_and(serde_json::Value::is_null), "{key}");
    }
    assert_eq!(
        (&json["command"], &json["started_at"]),
        (&serde_json::Value::Null, &serde_json::Value::Null)
    );
    Ok(())
}
