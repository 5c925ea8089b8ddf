//! What loading is made of.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{Cells, LabAnswer, MeasuredCell, share_confidence, words};

/// The parts measured apart, as shares of loading sources. They don't add up to the whole: an empty file is opened and
/// read too.
pub(super) fn of_loading(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let warm = |what, how| {
        cells.first(&[("what", Name(what)), ("how", Name(how)), ("state", Name("warm"))])
    };
    let whole = warm("load_class", "source").or_else(|| warm("load_class", "require"))?;
    let compiled = warm("compile_one", "source");
    let parts: [(&str, Option<MeasuredCell<'_>>); 3] = [
        ("compiling the same classes", compiled),
        (
            "finding and opening 100 empty files",
            warm("load_empty", "source").or_else(|| warm("load_empty", "require")),
        ),
        ("reading the 100 files", warm("read_class", "binary")),
    ];
    let mut sentences = Vec::new();
    let mut evidence = vec![whole.id()];
    for (name, part) in parts {
        let Some(part) = part else { continue };
        let share = words::percent(part.median / whole.median);
        sentences.push(format!("{name} {share} ({})", words::time(part.median)));
        evidence.push(part.id());
    }
    let leading = compiled.or_else(|| warm("read_class", "binary"))?;
    let share = whole.to(&leading)?;
    Some(LabAnswer {
        question: format!("{runtime}: where does the time of loading 100 source files go?"),
        answer: format!(
            "Of {} warm: {}. Each part was measured separately, so the shares may not add up to 100 %.",
            words::time(whole.median),
            sentences.join(", "),
        ),
        number: format!(
            "{} {}",
            words::percent(share.ratio),
            if compiled.is_some() { "compiling" } else { "reading" }
        ),
        confidence: format!(
            "{}: {}",
            if compiled.is_some() { "compiling" } else { "reading" },
            share_confidence(&share)
        ),
        evidence,
    })
}
