use hotset_facts::{
    CountedBy, DoubtCode, FactValue, Factor, FilledBy, LabCell, LabDoubt, LabFact, LabSample,
    LabSession, LabUnit, Level, Observed, Percent, Reason, ReasonKind, StateReached, WantedState,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{SCHEMA, read_lab, write_lab_json};
use crate::lab::testing::{access, present, result};
use crate::wire::schema_tests::refused;
use crate::wire::{ReadError, documents};
use hotset_facts::format::constant;

/// All sessions of a file.
fn sessions(bytes: &[u8]) -> Result<Vec<LabSession>, ReadError> {
    documents(bytes)?.iter().map(read_lab).collect()
}

type TestResult = Result<(), Box<dyn std::error::Error>>;

fn written(session: LabSession) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    write_lab_json(&[present(session)], &mut out)?;
    Ok(out)
}

fn value() -> Result<Value, Box<dyn std::error::Error>> {
    let mut out = Vec::new();
    write_lab_json(&[result()], &mut out)?;
    Ok(serde_json::from_slice(&out)?)
}

#[test]
fn it_is_written_like_this() -> TestResult {
    let mut value = value()?;
    let cells = value["cells"].as_array_mut().ok_or("cells")?;
    cells.truncate(4);
    cells.drain(..1);
    cells.drain(1..2);
    value["missing"].as_array_mut().ok_or("missing")?.truncate(3);
    insta::assert_snapshot!(serde_json::to_string_pretty(&value)?);
    Ok(())
}

#[test]
fn what_is_written_is_valid_and_the_schema_is_strict() -> TestResult {
    let errors = |value: &Value| refused(SCHEMA, &serde_json::to_vec(value)?);
    let right = value()?;
    assert_eq!(errors(&right)?, [""; 0]);
    let mut without = right.clone();
    without["cells"][0].as_object_mut().ok_or("a cell")?.remove("major_faults");
    assert_eq!(errors(&without)?.len(), 1);
    let mut beyond = right.clone();
    beyond["cells"][0]["runs"]["guessed"] = json!([]);
    assert_eq!(errors(&beyond)?.len(), 1);
    let mut words = right;
    words["cells"][0]["median"] = json!("12");
    assert_eq!(errors(&words)?.len(), 1);
    Ok(())
}

#[test]
fn it_reads_back_as_it_was() -> TestResult {
    let session = access();
    assert_eq!(sessions(&written(session.clone())?)?, [session]);
    Ok(())
}

#[test]
fn one_object_lines_and_arrays_read_alike() -> TestResult {
    let one = written(access())?;
    let lines = [one.clone(), one.clone()].concat();
    assert_eq!(sessions(&lines)?.len(), 2);
    let text = String::from_utf8(one)?;
    let array = format!("[{}, {}]\n", text.trim(), text.trim());
    assert_eq!(sessions(array.as_bytes())?.len(), 2);
    Ok(())
}

#[test]
fn errors_name_the_place_and_what_would_be_right() -> TestResult {
    let broken = |change: &dyn Fn(&mut Value)| -> Result<String, Box<dyn std::error::Error>> {
        let mut value = value()?;
        change(&mut value);
        match sessions(value.to_string().as_bytes()) {
            Ok(_) => Err("it was read".into()),
            Err(error) => Ok(error.to_string()),
        }
    };
    let all = [
        broken(&|it| it["schema"] = json!("hotset.lab/2"))?,
        broken(&|it| it["started_at"] = json!("yesterday"))?,
        broken(&|it| it["environment"]["cpus"] = json!(-1))?,
        broken(&|it| it["environment"]["filesystems"][1]["dev"] = json!("vda"))?,
        broken(&|it| it["cells"][2]["unit"] = json!("ms"))?,
        broken(&|it| it["cells"][2]["state_wanted"] = json!("lukewarm"))?,
        broken(&|it| it["cells"][2]["factors"]["way"] = json!([1]))?,
        broken(&|it| it["cells"][2]["runs"]["wall_ns"][3] = json!("long"))?,
        broken(&|it| it["cells"][2]["runs"]["bytes"] = json!([1]))?,
        broken(&|it| it["missing"][0]["kind"] = json!("lazy"))?,
    ];
    insta::assert_snapshot!(all.join("\n"));
    Ok(())
}

#[test]
fn what_is_no_result_is_said() -> TestResult {
    let text = String::from_utf8(written(access())?)?;
    let half = &text[..text.len() / 2];
    let all =
        ["", "  \n", "{", half, "not json", "{}", "[{}, {}]", "1", "{\"schema\": 1}"].map(|text| {
            sessions(text.as_bytes()).map_or_else(|error| error.to_string(), |_| "read".to_owned())
        });
    insta::assert_snapshot!(all.join("\n"));
    Ok(())
}

fn observed() -> impl Strategy<Value = Observed<u64>> {
    let kind = prop_oneof![
        Just(ReasonKind::Unsupported),
        Just(ReasonKind::Denied),
        Just(ReasonKind::Lost),
        Just(ReasonKind::NotMeasured)
    ];
    let missing = (kind, "[a-z ]{0,3}")
        .prop_map(|(kind, detail)| Observed::Missing(Reason { kind, detail: constant(&detail) }));
    prop_oneof![any::<u64>().prop_map(Observed::Value), missing]
}

fn code() -> impl Strategy<Value = DoubtCode> {
    prop::sample::select(vec![
        DoubtCode::CallsNotConfirmed,
        DoubtCode::CpuTaken,
        DoubtCode::DeviceReadsWhileWarm,
        DoubtCode::Failed,
        DoubtCode::MajorFaultsWhileWarm,
        DoubtCode::SlowPages,
        DoubtCode::StateNotReached,
        DoubtCode::TooFewDeviceBytes,
        DoubtCode::WrongCount,
    ])
}

fn fact() -> impl Strategy<Value = LabFact> {
    let value =
        prop_oneof![any::<u64>().prop_map(FactValue::Number), ".{0,5}".prop_map(FactValue::Text)];
    let part = || prop::option::of(".{0,3}");
    (".{0,5}", part(), part(), value).prop_map(|(subject, condition, quantity, value)| LabFact {
        subject,
        condition,
        quantity,
        value,
    })
}

fn reached() -> impl Strategy<Value = Observed<StateReached>> {
    (observed(), any::<(u64, u64, u64)>()).prop_map(
        |(pages, (cached_pages, stuck_pages, unknown_files))| {
            pages.map(|pages| StateReached { pages, cached_pages, stuck_pages, unknown_files })
        },
    )
}

fn sample() -> impl Strategy<Value = LabSample> {
    let doubt = (code(), ".{0,8}", any::<bool>()).prop_map(|(code, text, invalidates)| LabDoubt {
        code,
        text,
        invalidates,
    });
    let counts = prop::array::uniform6(observed());
    let doubts = prop::collection::vec(doubt, 0..3);
    (any::<(u32, u64, u64, u64)>(), counts, reached(), doubts).prop_map(
        |((round, wall_ns, operations, bytes), counts, reached_before, doubts)| LabSample {
            round,
            wall_ns,
            operations,
            bytes,
            cpu_ns: counts[0],
            syscalls: counts[1],
            reached_before,
            device_read_bytes: counts[2],
            device_write_bytes: counts[3],
            major_faults: counts[4],
            minor_faults: counts[5],
            doubts,
        },
    )
}

fn cell() -> impl Strategy<Value = LabCell> {
    let level = prop_oneof![any::<u64>().prop_map(Level::Number), ".{0,6}".prop_map(Level::Name)];
    let factors = prop::collection::btree_map("[a-z_]{1,4}", level, 0..4);
    let state = prop_oneof![
        Just(WantedState::AsIs),
        Just(WantedState::Cold),
        Just(WantedState::ColdAll),
        Just(WantedState::Warm),
        (1..100_u8).prop_filter_map("1 to 99", |at| Some(WantedState::Share(Percent::new(at)?)))
    ];
    let filled = prop::sample::select(vec![
        FilledBy::LargeFolios,
        FilledBy::SmallFolios,
        FilledBy::Written,
        FilledBy::Nothing,
    ]);
    let unit = prop::sample::select(vec![LabUnit::Nanoseconds, LabUnit::NanosecondsPerOperation]);
    let by = prop::sample::select(vec![
        CountedBy::Sensor,
        CountedBy::Kernel,
        CountedBy::Probe,
        CountedBy::Nobody,
    ]);
    let samples = prop::collection::vec(sample(), 0..5);
    (".{0,9}", factors, unit, state, filled, by, samples).prop_map(
        |(id, factors, unit, state_wanted, filled_by, by, samples)| LabCell {
            id,
            factors: factors
                .into_iter()
                .map(|(name, level)| Factor { name: name.into(), level })
                .collect(),
            unit,
            state_wanted,
            filled_by,
            syscalls_by: by,
            samples,
        },
    )
}

proptest! {
    #[test]
    fn any_session_reads_back_as_it_was(
        cells in prop::collection::vec(cell(), 0..4),
        experiment in "[a-z]{0,6}",
        clock in observed(),
        load in observed(),
        facts in prop::collection::vec(fact(), 0..3),
        seed in any::<u64>(),
        ns in 0..4_000_000_000_000_000_000_u64,
    ) {
        let mut session = access();
        (session.cells, session.experiment, session.facts, session.seed) = (cells, experiment, facts, seed);
        (session.conditions.clock_ns, session.conditions.load_hundredths_after) = (clock, load);
        session.started_at = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(ns);
        let bytes = written(session.clone()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        prop_assert_eq!(sessions(&bytes).map_err(|error| TestCaseError::fail(error.to_string()))?, [session]);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = sessions(&bytes);
    }

    /// Bytes near to right ones reach deeper than random ones.
    #[test]
    fn no_damage_makes_it_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = written(access()).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let place = at.index(bytes.len());
        bytes[place] = byte;
        if let Ok(all) = sessions(&bytes) {
            all.into_iter().for_each(|session| { let _ = present(session); });
        }
        let _ = sessions(&bytes[..cut.index(bytes.len())]);
    }
}
