//! `hotset diff`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use hotset_analysis::diff::{ComparedKind, Side, Strip, TraceSide, compare};
use hotset_analysis::explain::Explainer;
use hotset_analysis::summarise;
use hotset_trace::{Columns, is_parquet};
use hotset_view::wire::{Document, documents, read_profile, top};

use super::inputs::{is_trace, read};
use super::open_trace;
use super::trace_batches::each_batch;
use crate::args::DiffArgs;
use crate::destination::{check_destinations, check_not_read};
use crate::exit::{Exit, OrExit, Stop};
use crate::output;

/// What a document to compare may be.
const EXPECTED: &str =
    "expected a profile (hotset run --json, hotset attach --json) or a recording (hotset record)";

/// Compares two profiles or two recordings.
pub(super) fn diff(args: &DiffArgs) -> Result<Exit, Stop> {
    let trouble = trouble(args);
    check(args, trouble)?;
    let before = side(&args.before).or_exit(trouble)?;
    let after = side(&args.after).or_exit(trouble)?;
    let strip = Strip::of(args.strip.iter().cloned());
    let difference = compare(&before, &after, &strip).map_err(|_| {
        let [one, other] = [(&args.before, &before), (&args.after, &after)]
            .map(|(path, side)| format!("{} is a {}", path.display(), word(side.kind)));
        Stop::new(trouble, format_args!("{one}, and {other}; expected two of one kind"))
    })?;
    let written = output::difference(&difference, args);
    Ok(match args.exit_code && difference.differs {
        _ if !written => trouble,
        true => Exit::Failure,
        false => Exit::Success,
    })
}

/// How it ends where hotset fails: as with diff(1), a failure is no difference to who asks for that.
fn trouble(args: &DiffArgs) -> Exit {
    if args.exit_code { Exit::Usage } else { Exit::Failure }
}

fn word(kind: ComparedKind) -> &'static str {
    match kind {
        ComparedKind::Profiles => "profile",
        ComparedKind::Recordings => "recording",
    }
}

/// Checks what can be told before anything is read.
fn check(args: &DiffArgs, trouble: Exit) -> Result<(), Stop> {
    let stdin = Path::new("-");
    if args.before == stdin && args.after == stdin {
        return Err(Stop::usage("both runs come from standard input; give one of them a file"));
    }
    let files = [&args.json, &args.html].into_iter().flatten();
    for input in [&args.before, &args.after].into_iter().filter(|input| *input != stdin) {
        check_not_read(files.clone(), input, "run that is compared")?;
    }
    check_destinations(files, "both --json and --html go to standard output", trouble)
}

/// Reads a run, whichever it is by what it holds.
fn side(path: &Path) -> Result<Side> {
    let named = || match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    };
    if path != Path::new("-") {
        if fs::metadata(path).with_context(named)?.is_dir() {
            bail!("{}: is a directory; {EXPECTED}", named());
        }
        if is_trace(path).with_context(named)? {
            return recording(path);
        }
    }
    let bytes = read(path).with_context(named)?;
    if is_parquet(&bytes) {
        bail!(
            "{}: a recording, through a pipe or compressed; expected the name of its file",
            named()
        );
    }
    profile(path, &bytes).with_context(named)
}

/// A recording, with what its rules find.
fn recording(path: &Path) -> Result<Side> {
    let reader = open_trace(path)?;
    let costs = hotset_sys::costs::table();
    let mut explainer = Explainer::new(reader.head(), reader.lists(), costs.as_value());
    let mut side = TraceSide::new(reader.head(), reader.lists());
    each_batch(path, &reader, Columns::ALL, |batch| {
        explainer.add(batch);
        side.add(batch);
    })?;
    Ok(side.finish(&explainer.finish()).read_from(Some(path), &reader.head().hotset))
}

/// A profile, with what its rules find.
fn profile(path: &Path, bytes: &[u8]) -> Result<Side> {
    let first_line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if top::read_header(first_line).is_ok() {
        bail!("a recording of hotset top; {EXPECTED}");
    }
    let all = documents(bytes).map_err(|error| {
        let said = error.to_string();
        anyhow!("{}; {EXPECTED}", said.split("; expected").next().unwrap_or_default())
    })?;
    let [document] = all.as_slice() else {
        bail!("{} results; expected one profile", all.len());
    };
    refuse_others(document)?;
    let read = read_profile(document)?;
    let summary = summarise(read.profile, read.costs, read.gate);
    let path = Some(path).filter(|path| *path != Path::new("-"));
    Ok(Side::of_summary(&summary).read_from(path, &read.version))
}

/// Says what another document is, and who may have written it.
fn refuse_others(document: &Document<'_>) -> Result<()> {
    let schema = document.schema.as_ref();
    if let Some(version) = schema.strip_prefix("hotset.profile/")
        && version != "1"
    {
        bail!(
            "a profile of version {version}, written by hotset {}; this version reads hotset.profile/1",
            document.hotset
        );
    }
    if !schema.starts_with("hotset.profile/") {
        bail!("it is {schema}; {EXPECTED}");
    }
    Ok(())
}
