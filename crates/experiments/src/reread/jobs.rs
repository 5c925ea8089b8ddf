//! Reading a file again, with the parsers that stand behind the names of the factor.

use hotset_sys::rawio::{Answer, Arguments, JobError};

type Parser = fn(&mut [u8]) -> Result<u64, String>;

/// By the names that the plan has for them, and `none`.
const PARSERS: &[(&str, Parser)] = &[("none", none), ("serde_json", tree), ("simd-json", tape)];

/// The words of [`hotset_sys::rawio::reread::reread`], and `parser`.
pub(super) fn reread(arguments: &Arguments) -> Result<Answer, JobError> {
    let name = if arguments.has("parser") { arguments.text("parser")? } else { "none" };
    let Some((_, parser)) = PARSERS.iter().find(|(known, _)| *known == name) else {
        let names: Vec<&str> = PARSERS.iter().map(|(known, _)| *known).collect();
        let text = format!("parser={name}: expected one of {}", names.join(", "));
        return Err(JobError::Argument(text));
    };
    hotset_sys::rawio::reread::reread(arguments, &mut |document| parser(document))
}

fn none(_: &mut [u8]) -> Result<u64, String> {
    Ok(0)
}

/// A tree of values that own their strings, in the order of the document; how many values the outermost one holds. Freeing
/// it is a part of the work.
fn tree(document: &mut [u8]) -> Result<u64, String> {
    let value: serde_json::Value =
        serde_json::from_slice(document).map_err(|error| error.to_string())?;
    let held = match &value {
        serde_json::Value::Array(values) => values.len(),
        serde_json::Value::Object(values) => values.len(),
        _ => 1,
    };
    Ok(held as u64)
}

/// A flat list of values that borrow their strings from the document: how many there are. Vector instructions find the
/// structure.
fn tape(document: &mut [u8]) -> Result<u64, String> {
    let tape = simd_json::to_tape(document).map_err(|error| error.to_string())?;
    Ok(tape.0.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reread::plan::{NATIVE_PARSERS, document};

    #[test]
    fn every_parser_that_is_planned_reads_the_document() {
        let text = document(10_000);
        let records = tree(&mut text.clone()).expect("a tree");
        assert!(records > 10, "{records}");
        assert!(tape(&mut text.clone()).expect("a tape") > 10 * records);
        for name in NATIVE_PARSERS {
            let (_, parser) = PARSERS.iter().find(|(known, _)| *known == name).expect(name);
            assert!(parser(&mut b"[1,".to_vec()).is_err(), "{name}");
        }
    }

    #[test]
    fn an_unknown_parser_is_named() {
        let words = ["parser=yaml".into()];
        let error = Arguments::parse(&words).and_then(|words| reread(&words)).expect_err("unknown");
        assert!(
            error.to_string().contains("parser=yaml") && error.to_string().contains("serde_json")
        );
    }
}
