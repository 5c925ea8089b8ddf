//! What loading is made of.

use hotset_analysis::lab::{LabAnswer, compare, confidence, words};
use hotset_facts::LabCell;

use super::{Cells, middle};

/// The parts measured apart, as shares of loading sources. They don't add up to the whole: an empty file is opened and
/// read too.
pub(super) fn of_loading(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let warm = |what, how| {
        cells.get(&[("runtime", runtime), ("what", what), ("how", how), ("state", "warm")])
    };
    let whole = warm("load_class", "source").or_else(|| warm("load_class", "require"))?;
    let compiled = warm("compile_one", "source");
    let parts: [(&str, Option<&LabCell>); 3] = [
        ("compiling the same classes", compiled),
        (
            "finding and opening 100 empty files",
            warm("load_empty", "source").or_else(|| warm("load_empty", "require")),
        ),
        ("reading the 100 files", warm("read_class", "binary")),
    ];
    let all = middle(whole)?;
    let mut sentences = Vec::new();
    let mut evidence = vec![whole.id.clone()];
    for (name, cell) in parts {
        let Some((cell, took)) = cell.and_then(|cell| Some((cell, middle(cell)?))) else {
            continue;
        };
        sentences.push(format!("{name} {} ({})", words::percent(took / all), words::time(took)));
        evidence.push(cell.id.clone());
    }
    let leading = compiled.or_else(|| warm("read_class", "binary"))?;
    let share = compare(whole, leading)?;
    Some(LabAnswer {
        question: format!("{runtime}: where does the time of loading 100 sources go?"),
        answer: format!(
            "Of {} warm: {}. Each was measured apart, so they need not add up.",
            words::time(all),
            sentences.join(", "),
        ),
        number: format!(
            "{} {}",
            words::percent(share.ratio),
            if compiled.is_some() { "compiling" } else { "reading" }
        ),
        confidence: format!(
            "{}, as a share of 1: {}",
            if compiled.is_some() { "compiling" } else { "reading" },
            confidence(&share)
        ),
        evidence,
    })
}
