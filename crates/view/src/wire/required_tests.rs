//! What a schema requires the reader requires too, but for keys that follow from others, which it doesn't read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::schema_tests::{committed, refused};
use super::testing::{SAMPLES, Sample};

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Keys that follow from others, with all that is below them: a reader derives them again. What recording cost, memory and
/// reclaim are the only ones that a reader does without: older recordings don't say them.
const DERIVED: [(&str, &[&str]); 18] = [
    ("hotset.profile/1", &["lookups_by_directory", "findings", "verdicts"]),
    (
        "hotset.bench/1",
        &[
            "rounds",
            "extended_rounds",
            "warmup_rounds",
            "results",
            "comparisons",
            "noise_floors",
            "undecidable_below",
            "cold_warm",
            "io_differences",
            "baseline",
            "warnings",
        ],
    ),
    ("hotset.lab/1", &["cells[].runs.valid", "answers", "baseline", "doubts"]),
    ("hotset.baseline/1", &[]),
    ("hotset.lab-baseline/1", &[]),
    ("hotset.residency/1", &[]),
    (
        "hotset.system-cache/1",
        &["complete", "files[].file_share", "files[].cache_share", "unlisted", "totals"],
    ),
    ("hotset.control/1", &["reached", "files[].reached"]),
    ("hotset.stat/1", &["at_least"]),
    ("hotset.save/1", &[]),
    ("hotset.restore/1", &["complete"]),
    ("hotset.doctor/1", &[]),
    ("hotset.top/1", &[]),
    ("hotset.size/1", &[]),
    ("hotset.diff/1", &[]),
    ("hotset.fleet/1", &[]),
    (
        "hotset.replay/1",
        &[
            "cells",
            "fidelity",
            "ratios",
            "predictions",
            "head.cost",
            "head.memory",
            "head.memory_steps",
            "head.reclaim",
        ],
    ),
    (
        "hotset.explanation/1",
        &[
            "findings[].proof",
            "recording.cost",
            "recording.memory",
            "recording.memory_steps",
            "recording.reclaim",
            "replays.head.cost",
            "replays.head.memory",
            "replays.head.memory_steps",
            "replays.head.reclaim",
            "replays.cells",
            "replays.fidelity",
            "replays.ratios",
            "replays.predictions",
        ],
    ),
];

/// Those of a cell of an experiment: all of it but what is measured and what tells the cell from others.
const MEASURED_OF_CELL: [&str; 7] =
    ["id", "factors", "unit", "state_wanted", "filled_by", "syscalls_by", "runs"];

/// Those of every group of reads.
const DERIVED_OF_READS: [&str; 4] = ["hits", "from_cache", "from_device", "random_calls"];

fn is_derived(format: &str, name: &str) -> bool {
    let below = |known: &str| {
        name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let of_reads = |key: &str| name.ends_with(&format!("read.{key}"));
    let of_cell = || {
        let key = name.strip_prefix("cells[].")?.split(['.', '[']).next()?;
        Some(!MEASURED_OF_CELL.contains(&key))
    };
    let listed = DERIVED.iter().find(|(known, _)| *known == format);
    listed.is_some_and(|(_, keys)| keys.iter().any(|known| below(known)))
        || DERIVED_OF_READS.iter().any(|key| of_reads(key))
        || of_cell() == Some(true)
}

/// Steps into a document, each a key or an index.
type Place = Vec<String>;

/// Every key of every object, with the place of that object.
fn keys(value: &Value, at: &mut Place, found: &mut Vec<(Place, String)>) {
    let here = at.clone();
    let mut below = |step: String, value: &Value, found: &mut Vec<(Place, String)>| {
        at.push(step);
        keys(value, at, found);
        at.pop();
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                found.push((here.clone(), key.clone()));
                below(key.clone(), value, found);
            }
        }
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                below(index.to_string(), value, found);
            }
        }
        _ => {}
    }
}

/// A place without the indices: `files[].path`.
fn name(place: &[String], key: &str) -> String {
    let step = |step: &String| match step.parse::<usize>() {
        Ok(_) => "[]".to_owned(),
        Err(_) => step.clone(),
    };
    let steps: Vec<String> = place.iter().map(step).chain([key.to_owned()]).collect();
    steps.join(".").replace(".[]", "[]")
}

fn without(document: &Value, place: &[String], key: &str) -> Option<Value> {
    let mut document = document.clone();
    let pointer: String = place.iter().map(|step| format!("/{step}")).collect();
    document.pointer_mut(&pointer)?.as_object_mut()?.remove(key)?;
    Some(document)
}

/// Takes each key of a document away. Of equal objects in a list the first speaks for all.
fn check(sample: &Sample) -> TestResult {
    let format = sample.format;
    let document: Value = serde_json::from_slice(&sample.bytes)?;
    assert_eq!(refused(format, &sample.bytes)?, [""; 0], "{format}");
    (sample.read)(&sample.bytes)?;
    let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
    keys(&document, &mut Vec::new(), &mut all);
    for (place, key) in all {
        let name = name(&place, &key);
        let inside = name.rsplit_once('.').map_or("", |(inside, _)| inside);
        if is_derived(format, inside) || !seen.insert(name.clone()) {
            continue;
        }
        let without = without(&document, &place, &key).ok_or("a key that is there")?;
        let bytes = serde_json::to_vec(&without)?;
        let is_refused = (sample.read)(&bytes).is_err();
        if is_derived(format, &name) {
            assert!(!is_refused, "{format}: {name} is read, and does not follow from others");
        } else if !is_refused {
            assert_eq!(
                refused(format, &bytes)?,
                [""; 0],
                "{format}: {name} is required and not read"
            );
        }
    }
    Ok(())
}

fn check_all(chosen: impl Fn(&str) -> bool) -> TestResult {
    let samples: Vec<&Sample> = SAMPLES.iter().filter(|sample| chosen(sample.format)).collect();
    assert!(!samples.is_empty());
    samples.into_iter().try_for_each(check)
}

#[test]
fn a_required_key_of_a_benchmark_that_is_gone_is_an_error() -> TestResult {
    check_all(|format| format == super::bench::SCHEMA)
}

#[test]
fn a_required_key_of_another_result_that_is_gone_is_an_error() -> TestResult {
    check_all(|format| format != super::bench::SCHEMA)
}

#[test]
fn every_format_has_a_sample() {
    let formats: BTreeSet<&str> = SAMPLES.iter().map(|sample| sample.format).collect();
    assert_eq!(formats, DERIVED.iter().map(|(format, _)| *format).collect());
}

/// Every key that any part of a schema requires.
fn required_anywhere(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(map) => {
            let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
            found.extend(required.filter_map(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| required_anywhere(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| required_anywhere(value, found)),
        _ => {}
    }
}

#[test]
fn the_samples_have_every_required_key() -> TestResult {
    let mut lacking: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for sample in SAMPLES.iter() {
        if !lacking.contains_key(sample.format) {
            let mut required = BTreeSet::new();
            required_anywhere(&committed(sample.format)?, &mut required);
            lacking.insert(sample.format, required);
        }
        let mut all = Vec::new();
        keys(&serde_json::from_slice(&sample.bytes)?, &mut Vec::new(), &mut all);
        let lacking = lacking.get_mut(sample.format).ok_or("a format")?;
        lacking.retain(|required| !all.iter().any(|(_, key)| key == required));
    }
    // Nothing that they hold can be missing.
    for format in ["hotset.save/1", "hotset.restore/1", "hotset.fleet/1"] {
        let keys = lacking.remove(format).ok_or("a format")?;
        // A chart has a `kind`, too.
        let keys: Vec<_> = keys.iter().filter(|key| *key != "kind").collect();
        assert_eq!(keys, ["detail", "entries", "key"]);
    }
    for (format, keys) in lacking {
        assert!(keys.is_empty(), "no sample of {format} has {keys:?}");
    }
    Ok(())
}
