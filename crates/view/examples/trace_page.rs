//! Writes the page and the text of the fixture's trace: what one looks at while working on them.
//! `cargo run -p hotset-view --features testing --example trace_page DIRECTORY [RECORDS]`
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a tool for those who work on pages"
)]

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;

use hotset_analysis::trace::pictures::PictureSize;
use hotset_analysis::trace::testing::{batches, head, passes};
use hotset_facts::trace::TraceSource;
use hotset_view::Options;
use hotset_view::trace::{Trace, info, info_picture_size, write_trace_html};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = PathBuf::from(arguments.next().ok_or("expected a directory")?);
    let records = arguments.next().map_or(Ok(60_000), |number| number.parse())?;
    let (head, batches) = (head(), batches(records));
    let (summary, pictures) = passes(TraceSource::Recorded, &batches, &PictureSize::PAGE);
    let trace = Trace { head: &head, summary: &summary, pictures: &pictures, file_bytes: None };
    write_trace_html(&trace, &mut File::create(directory.join("trace.html"))?)?;
    let options = Options { color: true, ..Options::default() };
    let (summary, pictures) = passes(TraceSource::Recorded, &batches, &info_picture_size(&options));
    let trace = Trace { head: &head, summary: &summary, pictures: &pictures, file_bytes: None };
    println!("{}", info(&trace, &options));
    Ok(())
}
