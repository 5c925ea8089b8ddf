//! A run beside its budget.

use std::path::Path;

use hotset_facts::Observed;
use hotset_facts::budget::{Bound, Check, FileLimits, Limit, Limits};

use super::numbers::Number;
use super::parts::{Compared, parts};
use super::sites::{site_parts, without_site};
use super::verdict::{JudgedFinding, JudgedLimit, LimitOf, LimitVerdict};
use crate::diff::{Side, SideRow};

/// Behind a rule: it may be unable to tell.
const IF_MEASURED: &str = ", if measured";

/// Whether a path fits a pattern: the pattern, then the path.
pub type Matches<'a> = &'a dyn Fn(&str, &Path) -> bool;

/// A run that is judged.
pub struct Judged<'a> {
    /// The run.
    pub run: &'a Side,
    /// An earlier one.
    pub baseline: Option<&'a Side>,
    /// Decides which files a pattern is about.
    pub matches: Matches<'a>,
}

/// Rows that a limit is on; all where there are none.
type Chosen<'a> = Option<Box<dyn Fn(&SideRow) -> bool + 'a>>;

/// What a limit is on.
#[derive(Clone, Copy)]
struct On<'a> {
    of: LimitOf,
    /// The pattern or the name.
    which: &'a str,
    except: &'a [String],
}

impl Judged<'_> {
    /// Every limit of the check: of the whole run, then of files, then of processes, each by the names of numbers.
    pub fn limits(&self, check: &Check) -> Vec<JudgedLimit> {
        let compared = self.baseline.map(|before| Compared::new(before, self.run));
        let compared = compared.as_ref();
        let on = On { of: LimitOf::Run, which: "", except: &[] };
        let mut all = self.some(compared, &check.limits, on, &None);
        for files in &check.file {
            let which = |row: &SideRow| self.is_of(files, Path::new(&row.name));
            let on = On { of: LimitOf::Files, which: &files.pattern, except: &files.except };
            all.extend(self.some(compared, &files.limits, on, &Some(Box::new(which))));
        }
        for processes in &check.process {
            let which = |row: &SideRow| row.program.as_deref() == Some(processes.name.as_ref());
            let on = On { of: LimitOf::Processes, which: &processes.name, except: &[] };
            all.extend(self.some(compared, &processes.limits, on, &Some(Box::new(which))));
        }
        all
    }

    fn some(
        &self,
        compared: Option<&Compared<'_>>,
        limits: &Limits,
        on: On<'_>,
        chosen: &Chosen<'_>,
    ) -> Vec<JudgedLimit> {
        // Names that are none are refused when the budget is read.
        let known = limits.0.iter().filter_map(|(name, limit)| Some((Number::named(name)?, limit)));
        known.map(|(number, limit)| self.one(compared, number, limit, on, chosen)).collect()
    }

    fn one(
        &self,
        compared: Option<&Compared<'_>>,
        number: Number,
        limit: &Limit,
        on: On<'_>,
        chosen: &Chosen<'_>,
    ) -> JudgedLimit {
        let of = |side: &Side| match (on.of, chosen) {
            (LimitOf::Files, Some(chosen)) => number.of_files(side, chosen),
            (LimitOf::Processes, Some(chosen)) => {
                number.of_rows(side, side.processes.iter().filter(|row| chosen(row)))
            }
            _ => number.of_run(side),
        };
        let value = of(self.run);
        let baseline = self.baseline.and_then(|side| of(side).value());
        let (bound, fits) = asked(limit.bound, baseline, value);
        let lost = self.run.lost();
        // With losses a count is a lower bound: too much stays too much, and nothing else is known.
        let over = bound.zip(value.value()).is_some_and(|(bound, value)| value > bound);
        let sure = lost == 0 || over && !matches!(limit.bound, Bound::AtLeast(_));
        let verdict = match fits.filter(|_| sure) {
            Some(true) => LimitVerdict::Held,
            Some(false) => LimitVerdict::Broken,
            None if limit.if_measured => LimitVerdict::Allowed,
            None => LimitVerdict::NotMeasured,
        };
        let doubt = (lost > 0 && value.value().is_some())
            .then(|| format!("the sensor lost {lost} events, so this is a lower bound"))
            .or_else(|| no_baseline(limit.bound, self.baseline.is_some(), baseline));
        let (parts, more_parts) = match verdict {
            LimitVerdict::Broken => parts(self.run, compared, number, on.of, chosen.as_deref()),
            _ => (Vec::new(), 0),
        };
        let (sites, more_sites) = match verdict {
            LimitVerdict::Broken if on.of != LimitOf::Processes => {
                site_parts(self.run, self.baseline, number, chosen.as_deref())
            }
            _ => (Vec::new(), 0),
        };
        JudgedLimit {
            on: on.of,
            which: (on.of != LimitOf::Run).then(|| on.which.to_owned()),
            except: on.except.to_vec(),
            rows: self.rows(on.of, chosen.as_deref()),
            number: number.name.to_owned(),
            unit: number.unit,
            limit: limit.to_string(),
            bound,
            value,
            baseline,
            verdict,
            doubt,
            parts,
            more_parts,
            sites,
            more_sites,
        }
    }

    /// How many files or processes a limit is on.
    fn rows(&self, of: LimitOf, chosen: Option<&dyn Fn(&SideRow) -> bool>) -> Option<u64> {
        let rows = match of {
            LimitOf::Run => return None,
            LimitOf::Files => &self.run.files,
            LimitOf::Processes => &self.run.processes,
        };
        let chosen = chosen?;
        Some(rows.iter().filter(|row| chosen(row)).count() as u64)
    }

    fn is_of(&self, files: &FileLimits, path: &Path) -> bool {
        (self.matches)(&files.pattern, path)
            && !files.except.iter().any(|pattern| (self.matches)(pattern, path))
    }

    /// Requests that no call site has a part of; none where call sites were not asked for.
    pub fn requests_without_site(&self) -> Option<u64> {
        self.run.sites.as_ref().map(without_site)
    }

    /// The findings that the check forbids.
    pub fn findings(&self, check: &Check) -> Vec<JudgedFinding> {
        check.forbid.iter().map(|text| self.finding(text)).collect()
    }

    fn finding(&self, text: &str) -> JudgedFinding {
        let (rule, if_measured) = rule_of(text);
        let undecided = self.run.undecided.iter().find(|(other, _)| *other == rule);
        let found = match &self.run.findings {
            Observed::Value(findings) => {
                match findings.iter().find(|finding| finding.rule == rule) {
                    Some(finding) => Ok(Some(finding)),
                    None => undecided.map_or(Ok(None), |&(_, reason)| Err(reason)),
                }
            }
            Observed::Missing(reason) => Err(*reason),
        };
        let (verdict, words) = match found {
            Ok(Some(finding)) => (LimitVerdict::Broken, Some(finding.title.clone())),
            Ok(None) => (LimitVerdict::Held, None),
            Err(reason) if if_measured => (LimitVerdict::Allowed, Some(reason.to_string())),
            Err(reason) => (LimitVerdict::NotMeasured, Some(reason.to_string())),
        };
        JudgedFinding { rule: rule.to_owned(), verdict, words }
    }
}

/// The rule in an entry of `forbid`, and whether it may be unable to tell.
pub fn rule_of(text: &str) -> (&str, bool) {
    match text.trim().strip_suffix(IF_MEASURED) {
        Some(rule) => (rule.trim(), true),
        None => (text.trim(), false),
    }
}

fn no_baseline(bound: Bound, is_there: bool, baseline: Option<u64>) -> Option<String> {
    let Bound::AboveBaseline { .. } = bound else { return None };
    match (is_there, baseline) {
        (_, Some(_)) => None,
        (true, None) => Some("the baseline did not measure it".to_owned()),
        (false, None) => Some("there is no baseline".to_owned()),
    }
}

/// The bound as a number, and whether the value is within it; nothing where one of them is not known.
fn asked(bound: Bound, baseline: Option<u64>, value: Observed<u64>) -> (Option<u64>, Option<bool>) {
    let (most, least) = match bound {
        Bound::AtMost(most) => (Some(most.number), None),
        Bound::AtLeast(least) => (None, Some(least.number)),
        Bound::Exactly(number) => (Some(number.number), Some(number.number)),
        Bound::AboveBaseline { percent } => {
            let Some(baseline) = baseline else { return (None, None) };
            // Rounded down: half a call more is not allowed.
            (Some((baseline as f64 * (1.0 + percent / 100.0)).floor() as u64), None)
        }
    };
    let fits = value.value().map(|value| {
        most.is_none_or(|most| value <= most) && least.is_none_or(|least| value >= least)
    });
    (most.or(least), fits)
}
