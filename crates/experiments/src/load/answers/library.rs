//! Where the time of loading a real library goes.

use hotset_analysis::lab::{LabAnswer, compare, confidence, words};
use hotset_facts::LabCell;

use super::{Cells, middle};

/// Parts that were measured apart; the rest is running the library's own code.
const PARTS: [(&str, &str); 3] =
    [("lookup", "looking files up"), ("read", "reading"), ("compile", "compiling")];

/// The parts of the warm time, and what a cold cache makes of it.
pub(super) fn where_its_time_goes(cells: &Cells<'_>, runtime: &str) -> Option<LabAnswer> {
    let part = |part, state| {
        cells.get(&[("runtime", runtime), ("what", "library"), ("part", part), ("state", state)])
    };
    let whole = part("total", "warm")?;
    let all = middle(whole)?;
    let mut evidence = vec![whole.id.clone()];
    let mut known = 0.0;
    let mut complete = true;
    let mut sentences: Vec<String> = Vec::new();
    for (name, doing) in PARTS {
        match part(name, "warm").and_then(|cell| Some((cell, middle(cell)?))) {
            Some((cell, took)) => {
                known += took;
                sentences.push(format!(
                    "{doing} {} ({})",
                    words::percent(took / all),
                    words::time(took)
                ));
                evidence.push(cell.id.clone());
            }
            None => {
                complete = false;
                sentences.push(format!("{doing} not measured"));
            }
        }
    }
    sentences.push(if complete && known < all {
        format!("running it {}", words::percent((all - known) / all))
    } else {
        "running it not measured".to_owned()
    });
    let library = whole.name("library").unwrap_or("the library");
    let mut answer = format!("{library} takes {} warm: {}", words::time(all), sentences.join(", "));
    let cold: Option<(&LabCell, f64)> =
        part("total", "cold").and_then(|cell| Some((cell, middle(cell)?)));
    let mut confidence_of = "one figure, nothing to compare it with".to_owned();
    if let Some((cell, took)) = cold {
        let ratio = compare(whole, cell)?;
        answer += &format!("; {} cold, {}", words::time(took), words::times(ratio.ratio));
        confidence_of = format!("cold against warm: {}", confidence(&ratio));
        evidence.push(cell.id.clone());
    }
    Some(LabAnswer {
        question: format!("{runtime}: where does the time of loading {library} go?"),
        answer: answer + ".",
        number: words::time(all),
        confidence: confidence_of,
        evidence,
    })
}
