//! Warnings as a reader meets them: each once, with the conditions or commands that it is true of.

use hotset_analysis::bench::{About, BenchSummary, BenchWarning};

use super::look::BenchLook;
use super::words::{condition, letter};
use crate::escape::escape_text;
use crate::page::PageWarning;

/// From so many on, all of them are named together.
const MANY: usize = 3;

/// All warnings, the gravest first.
pub(super) fn of(summary: &BenchSummary, look: BenchLook) -> Vec<PageWarning> {
    let warning = |warning: &BenchWarning| {
        let text = warning.text(&|ns| look.exact_time(ns));
        let text = match names(summary, &warning.about) {
            Some(names) => format!("{names}: {text}"),
            None => text,
        };
        PageWarning { text: escape_text(&text), advice: escape_text(warning.advice()) }
    };
    summary.grouped_warnings().iter().map(warning).collect()
}

/// `A cold, B cold`, or `all conditions`; none where there is only one thing that it can be about.
fn names(summary: &BenchSummary, about: &About) -> Option<String> {
    let commands = summary.session.commands.len();
    match about {
        About::Session => None,
        About::Conditions(own) => {
            // The name of a repeated condition has a comma, which would look like another condition here.
            let name = |&index: &usize| condition(summary, index).replace(", ", " ");
            Some(listed(own, summary.conditions.len(), "conditions", name))
        }
        About::Commands(_) if commands < 2 => None,
        About::Commands(own) => Some(listed(own, commands, "commands", |&index| letter(index))),
    }
}

fn listed(own: &[usize], of: usize, what: &str, name: impl Fn(&usize) -> String) -> String {
    if own.len() == of && of >= MANY {
        return format!("all {what}");
    }
    own.iter().map(name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use hotset_analysis::bench::summarise_bench;
    use hotset_facts::{Observed, Reason};

    use super::*;
    use crate::bench::TimeUnit;
    use crate::bench::testing::{cold_warm, versus};

    fn texts(summary: &BenchSummary, look: BenchLook) -> Vec<String> {
        of(summary, look).into_iter().map(|warning| warning.text).collect()
    }

    #[test]
    fn the_same_words_come_once_with_all_that_they_are_true_of() {
        let mut session = versus();
        for run in &mut session.runs {
            run.reached_before = Observed::Missing(Reason::denied("not this user's"));
        }
        let all = texts(&summarise_bench(session.clone()), BenchLook::default());
        let stay = "all conditions: 100 of 100 runs excluded (1 of them for other reasons, too), e.g. the cache state is unknown";
        assert!(all.contains(&stay.to_owned()), "{all:?}");
        assert_eq!(all.iter().filter(|text| text.contains("state is unknown")).count(), 1);
        let files = all.iter().filter(|text| text.starts_with("A, B: 10.7 % of the pages"));
        assert_eq!(files.count(), 1, "{all:?}");
        session.runs.retain(|run| run.condition != 2);
        let some = texts(&summarise_bench(session), BenchLook::default());
        let named = "A cold, A warm, B warm, A warm again: 80 of 80 runs excluded";
        assert!(some.iter().any(|text| text.starts_with(named)), "{some:?}");
    }

    #[test]
    fn the_only_command_has_no_name() {
        let summary = summarise_bench(cold_warm());
        let all = texts(&summary, BenchLook::default());
        assert!(all[0].starts_with("10.7 % of the pages stay cached"), "{all:?}");
    }

    #[test]
    fn times_have_the_unit_that_was_asked_for() {
        let mut session = cold_warm();
        session.timer.spawn_noise_ns = Observed::Value(23_000_000);
        let summary = summarise_bench(session);
        for (unit, times) in [
            (
                None,
                "97.0 ms is short: the start of a process varied by 23.0 ms here, and differences below five times that, 115 ms,",
            ),
            (
                Some(TimeUnit::Second),
                "0.097 s is short: the start of a process varied by 0.023 s here, and differences below five times that, 0.115 s,",
            ),
        ] {
            let all = texts(&summary, BenchLook { unit, by_time: false });
            assert!(all[0].starts_with(&format!("warm: {times}")), "{all:?}");
        }
    }
}
