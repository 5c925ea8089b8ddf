//! A file that is opened again for each use.

use super::culprits::{bounds, culprits, total, worst};
use super::{Answer, RuleInput};
use crate::{Evidence, Finding};

pub(super) const ID: &str = "reopened-file";

/// Opens of one file by a process from which on keeping it open pays; below, opening is part of a normal start (judgement).
const MIN_OPENS: u64 = 100;

pub(super) fn check(input: &RuleInput<'_>) -> Answer {
    input.read()?;
    let costs = input.costs()?;
    let found = culprits(input.profile, |file, _| {
        let opens = file.opens.value()?;
        let again = opens.saturating_sub(u64::from(file.processes));
        let saved_ns = again as f64 * costs.open_close_ns;
        (opens >= MIN_OPENS.saturating_mul(u64::from(file.processes)))
            .then_some((again, saved_ns, saved_ns))
    });
    let (low_ns, high_ns) = bounds(&found);
    let saving = input.saving(low_ns, high_ns);
    if !input.worth(&saving) {
        return Ok(None);
    }
    let again = total(&found, |again| *again);
    let title = format!("Files opened {again} times more than once a process");
    let advice = "Keep the file open, or read it once and keep what was read.";
    let evidence = vec![Evidence::count("opens_again", again)];
    Ok(Some(Finding::with_saving(ID, title, advice, saving, evidence).about(worst(&found))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Run, file, run_of};
    use hotset_facts::{Observed, Reason};

    fn opened(opens: u64) -> Run {
        let mut row = file("/etc/app.conf", 4096);
        row.opens = Observed::Value(opens);
        Run::new(run_of(vec![row]))
    }

    #[test]
    fn hit_near_miss_and_no_data() {
        let finding = opened(1_000_000).finding(check);
        assert_eq!(finding.files.len(), 1);
        assert_eq!(opened(MIN_OPENS - 1).ask(check), Ok(None));
        let mut unknown = opened(1_000_000);
        unknown.profile.files[0].opens = Observed::Missing(Reason::denied("needs root"));
        assert_eq!(unknown.ask(check), Ok(None));
    }
}
