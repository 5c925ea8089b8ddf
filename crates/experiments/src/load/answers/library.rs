//! Where the time of loading a real library goes.

use hotset_analysis::lab::ConstLevel::Name;
use hotset_analysis::lab::{Cells, LabAnswer, confidence, unless_shown, words};
use hotset_facts::{FactValue, LabFact, LabSession};

use crate::load::plan::compiled_of;

/// Parts that were measured apart; the rest is running the library's own code.
const PARTS: [(&str, &str); 3] =
    [("lookup", "looking up files"), ("read", "reading"), ("compile", "compiling")];

/// Whether none of its files is compiled while it loads, as the session found.
fn compiles_nothing(session: &LabSession, library: &str) -> bool {
    let compiled = compiled_of(library);
    let is_none = |fact: &LabFact| fact.subject == compiled && fact.value == FactValue::Number(0);
    session.facts.iter().any(is_none)
}

/// The parts of the warm time, and what a cold cache makes of it.
pub(super) fn where_its_time_goes(
    session: &LabSession,
    cells: &Cells<'_>,
    runtime: &str,
) -> Option<LabAnswer> {
    let part = |part, state| {
        cells.first(&[("what", Name("library")), ("part", Name(part)), ("state", Name(state))])
    };
    let whole = part("total", "warm")?;
    let library = whole.cell.name("library").unwrap_or("the library");
    let compiles_nothing = compiles_nothing(session, library);
    let all = whole.median;
    let mut evidence = vec![whole.id()];
    let mut known = 0.0;
    let mut complete = true;
    let mut sentences: Vec<String> = Vec::new();
    for (name, doing) in PARTS {
        match part(name, "warm") {
            Some(one) => {
                known += one.median;
                let share = words::percent(one.median / all);
                sentences.push(format!("{doing} {share} ({})", words::time(one.median)));
                evidence.push(one.id());
            }
            None if name == "compile" && compiles_nothing => {
                sentences.push("none of its files is compiled".to_owned());
            }
            None => {
                complete = false;
                sentences.push(format!("{doing} not measured"));
            }
        }
    }
    sentences.push(if complete && known < all {
        format!("running its code {}", words::percent((all - known) / all))
    } else {
        "running its code not measured".to_owned()
    });
    let mut answer = format!("{library} takes {} warm: {}", words::time(all), sentences.join(", "));
    let mut confidence_of = "no comparison: the cold time was not measured".to_owned();
    if let Some(cold) = part("total", "cold") {
        let ratio = whole.to(&cold)?;
        answer += &format!(
            "; {} cold, {} the time{}",
            words::time(cold.median),
            words::times(ratio.ratio),
            unless_shown(&ratio)
        );
        confidence_of = format!("time cold / warm: {}", confidence(&ratio));
        evidence.push(cold.id());
    }
    Some(LabAnswer {
        question: format!("{runtime}: where does the time of loading {library} go?"),
        answer: answer + ".",
        number: words::time(all),
        confidence: confidence_of,
        evidence,
    })
}
