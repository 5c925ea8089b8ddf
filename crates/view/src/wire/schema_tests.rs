//! `schema/` is written from the declarations: `UPDATE_SCHEMA=1 cargo test -p hotset-view schema`.

#![expect(
    clippy::disallowed_methods,
    reason = "a test of files, which it writes where it is told to"
)]

use std::path::PathBuf;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::observed::Missing;

/// An object with its reasons.
#[derive(JsonSchema)]
#[schemars(inline)]
pub(crate) struct Object<T> {
    #[serde(flatten)]
    _body: T,
    /// Why values of this object are null.
    #[serde(rename = "missing")]
    _missing: Vec<Missing>,
}

type TestResult = Result<(), Box<dyn std::error::Error>>;

/// Every object has its keys and no other; descriptions are without the links that a doc comment has.
fn strict(value: &mut Value, name: &str) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(text)) = map.get_mut("description") {
                *text = text
                    .replace("[`", "`")
                    .replace("`]", "`")
                    .replace("`crate::", "`")
                    .replace("`super::", "`");
            }
            if let Some(keys) = map.get_mut("properties").and_then(Value::as_object_mut) {
                if keys.contains_key("hotset") {
                    keys.insert("schema".to_owned(), json!({ "const": name }));
                }
                map.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            map.values_mut().for_each(|value| strict(value, name));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| strict(value, name)),
        _ => {}
    }
}

/// A line of a recording.
#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
enum Recorded {
    Header(Object<super::Envelope<'static, super::top::Header>>),
    Interval(Object<hotset_analysis::top::TopFrame>),
}

/// The schema of a format, by the declaration that it is written by.
fn schema_of<T: JsonSchema>(name: &str, about: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema: Schema = generator.into_root_schema_for::<T>();
    let mut value = schema.ensure_object().clone().into_iter().collect::<Map<_, _>>();
    value.remove("$schema");
    value.remove("title");
    value.remove("description");
    let mut whole = Map::new();
    let id = name.replace("hotset.", "urn:hotset:schema:").replace('/', "-");
    whole.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    whole.insert("$id".to_owned(), json!(id));
    whole.insert("title".to_owned(), json!(name));
    let about = format!("{about} docs/formats.md says what holds for every format.");
    whole.insert("description".to_owned(), json!(about));
    whole.append(&mut value);
    let mut whole = Value::Object(whole);
    strict(&mut whole, name);
    whole
}

fn file_of(name: &str) -> PathBuf {
    let file = name.trim_start_matches("hotset.").replace('/', "-");
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../schema")
        .join(format!("{file}.schema.json"))
}

/// The committed schema of a format.
pub(crate) fn committed(name: &str) -> Result<Value, Box<dyn std::error::Error>> {
    Ok(serde_json::from_slice(&std::fs::read(file_of(name))?)?)
}

/// What a format's committed schema refuses of a document: nothing where it fits.
pub(crate) fn refused(
    name: &str,
    document: &[u8],
) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let schema = std::fs::read_to_string(file_of(name))?;
    Ok(hotset_validate::violations(&schema, &serde_json::from_slice(document)?))
}

fn check<T: JsonSchema>(name: &str, about: &str) -> TestResult {
    check_whole::<Object<T>>(name, about)
}

fn check_whole<T: JsonSchema>(name: &str, about: &str) -> TestResult {
    let mut text = serde_json::to_string_pretty(&schema_of::<T>(name, about))?;
    text.push('\n');
    let file = file_of(name);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        return Ok(std::fs::write(file, text)?);
    }
    let committed = std::fs::read_to_string(&file)?;
    assert!(
        committed == text,
        "{}: not what is written; UPDATE_SCHEMA=1 cargo test -p hotset-view schema",
        file.display()
    );
    Ok(())
}

/// Every description in a schema.
fn descriptions(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("description").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| descriptions(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| descriptions(value, found)),
        _ => {}
    }
}

#[test]
fn descriptions_name_keys_and_nothing_of_the_source() -> TestResult {
    for file in std::fs::read_dir(file_of("").parent().ok_or("no folder")?)? {
        let path = file?.path();
        let mut found = Vec::new();
        descriptions(&serde_json::from_slice(&std::fs::read(&path)?)?, &mut found);
        assert!(found.len() > 9, "{}", path.display());
        for text in found {
            let source = ["::", "[`", "`]", "`None`", "nothing where", "nothing for", "MIN_"];
            let named = source.into_iter().find(|of| text.contains(of));
            assert_eq!(named, None, "{}: {text}", path.display());
        }
    }
    Ok(())
}

/// What every format is checked with.
type Check = fn() -> TestResult;

#[test]
fn the_schemas_are_those_of_the_declarations() -> TestResult {
    use super::{
        Envelope, bench, control, doctor, lab, profile, residency, save, stat, system, top,
    };
    const PAGES: &str = "Counts of pages are in base pages.";
    let checks: [Check; 11] = [
        || {
            let about = "What `hotset run --json` and `hotset attach --json` write.";
            check::<profile::Whole>(profile::SCHEMA, &format!("{about} {PAGES}"))
        },
        || {
            let about = "What `hotset bench --export-json` and `--json` write: hyperfine's keys in `results`, with \
                         times in seconds, and all that was measured.";
            check::<Envelope<'_, bench::Whole<'_>>>(bench::SCHEMA, about)
        },
        || {
            let about = "What `hotset warm`, `evict` and `pin` write with `--json`.";
            check::<Envelope<'_, control::Whole<'_>>>(control::SCHEMA, &format!("{about} {PAGES}"))
        },
        || {
            let about = "What `hotset doctor --json` writes.";
            check::<Envelope<'_, hotset_facts::Support>>(doctor::SCHEMA, about)
        },
        || {
            let about = "What `hotset save --json` writes.";
            check::<Envelope<'_, hotset_facts::SaveReport>>(save::SAVE, &format!("{about} {PAGES}"))
        },
        || {
            let about = "What `hotset restore --json` writes.";
            check::<Envelope<'_, save::Restored<'_>>>(save::RESTORE, &format!("{about} {PAGES}"))
        },
        || {
            let about = "What `hotset ls --json` writes.";
            check::<Envelope<'_, residency::Whole>>(residency::SCHEMA, &format!("{about} {PAGES}"))
        },
        || {
            let about = "What `hotset ls --system --json` writes.";
            check::<Envelope<'_, system::Whole<'_>>>(system::SCHEMA, &format!("{about} {PAGES}"))
        },
        || {
            let about = "A line of `hotset stat --json`: one interval.";
            check::<Envelope<'_, stat::LineKeys>>(stat::SCHEMA, &format!("{about} {PAGES}"))
        },
        || {
            let about = "What `hotset lab --json` writes for each experiment, a line each. Times are in nanoseconds, \
                         as each cell's unit says.";
            check::<Envelope<'_, lab::Whole<'_>>>(lab::SCHEMA, about)
        },
        || {
            let about = "A line of what `hotset top --record` writes: the header, or an interval.";
            check_whole::<Recorded>(top::SCHEMA, about)
        },
    ];
    checks.iter().try_for_each(|check| check())
}

#[test]
fn the_schema_of_baselines_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, baseline};
    let about = "What `hotset bench --save-baseline` keeps. Times are in nanoseconds.";
    check::<Envelope<'_, hotset_facts::Baseline>>(baseline::SCHEMA, about)
}

#[test]
fn the_schema_of_baselines_of_experiments_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, lab_baseline};
    let about = "What `hotset lab --save-baseline` keeps. Times are in nanoseconds.";
    check::<Envelope<'_, hotset_facts::LabBaseline>>(lab_baseline::SCHEMA, about)
}

#[test]
fn the_schema_of_explanations_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, explanation};
    let about = "What `hotset explain --json` writes. Times are in nanoseconds, counts of pages in base pages.";
    check::<Envelope<'_, explanation::Whole<'_>>>(explanation::SCHEMA, about)
}

#[test]
fn the_schema_of_replays_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, replay};
    let about = "What `hotset replay --json` writes. Times are in nanoseconds, counts of pages in base pages.";
    check::<Envelope<'_, replay::Whole<'_>>>(replay::SCHEMA, about)
}

#[test]
fn the_schema_of_a_trace_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, trace_info};
    let about = "What `hotset trace info --json` writes. Times are in nanoseconds, counts of pages in base pages.";
    check::<Envelope<'_, trace_info::Whole<'_>>>(trace_info::SCHEMA, about)
}

#[test]
fn the_schema_of_a_size_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, size};
    let about = "What `hotset size --json` writes. Times are in nanoseconds, counts of pages in base pages.";
    check::<Envelope<'_, size::Whole<'_>>>(size::SCHEMA, about)
}

#[test]
fn the_schema_of_a_difference_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, diff};
    let about = "What `hotset diff --json` writes. Times are in nanoseconds, counts of pages in base pages.";
    check::<Envelope<'_, hotset_analysis::diff::Difference>>(diff::SCHEMA, about)
}

#[test]
fn the_schema_of_a_fleets_answers_is_that_of_their_declaration() -> TestResult {
    use super::{Envelope, fleet};
    let about = "What `python -m hotset.fleet` writes. Numbers are in the unit of their column.";
    check::<Envelope<'_, hotset_facts::fleet::FleetAnswers>>(fleet::SCHEMA, about)
}

#[test]
fn the_schema_of_checks_is_that_of_its_declaration() -> TestResult {
    use super::{Envelope, check as checks};
    let about = "What `hotset check --json` writes. Times are in nanoseconds.";
    check::<Envelope<'_, hotset_analysis::check::CheckReport>>(checks::SCHEMA, about)
}

/// For editors, whose readers of TOML know this draft.
#[test]
fn the_schema_of_a_budget_is_that_of_its_declaration() -> TestResult {
    let generator = SchemaSettings::draft07().into_generator();
    let schema = generator.into_root_schema_for::<hotset_facts::budget::Budget>();
    let mut schema = serde_json::to_value(schema)?;
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$id".to_owned(), json!("urn:hotset:schema:hotset.toml"));
        schema.insert("title".to_owned(), json!("hotset.toml"));
    }
    let text = format!("{}\n", serde_json::to_string_pretty(&schema)?);
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schema/hotset.toml.schema.json");
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        return Ok(std::fs::write(file, text)?);
    }
    assert!(std::fs::read_to_string(&file)? == text, "{}: not what is read", file.display());
    Ok(())
}
