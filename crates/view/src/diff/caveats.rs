//! Caveats of a comparison in words.

use hotset_analysis::diff::{DiffCaveat, DiffCaveatKind, Difference, Which};

use super::words::file;
use crate::escape::escape_text;
use crate::sites::Escape;

/// Every caveat as a sentence without a full stop.
pub(super) fn caveats(difference: &Difference, escape: Escape<'_>) -> Vec<String> {
    let names = Names {
        before: file(&difference.before, Which::Before, escape),
        after: file(&difference.after, Which::After, escape),
    };
    difference.caveats.iter().map(|caveat| names.sentence(caveat)).collect()
}

struct Names {
    before: String,
    after: String,
}

impl Names {
    fn sentence(&self, caveat: &DiffCaveat) -> String {
        use DiffCaveatKind as Kind;
        let two = |what: &str, means: &str| {
            let value = |value: &Option<String>| escape_text(value.as_deref().unwrap_or("unknown"));
            format!(
                "{what}: {} before, {} after{means}",
                value(&caveat.before),
                value(&caveat.after)
            )
        };
        match caveat.kind {
            Kind::SameRun => "both are the same run; expected two".to_owned(),
            Kind::Empty => format!("{} holds nothing: no process and no request", self.who(caveat)),
            Kind::Command => two("different commands", ""),
            Kind::Exit => two("they ended differently", ": one may have done only a part"),
            Kind::Kernel => two(
                "different kernels",
                ": read-ahead, write-back and eviction may differ for the same requests",
            ),
            Kind::PageSize => two("different page sizes", ": pages are not the same size"),
            Kind::Cpus => two("different numbers of CPUs", ": programs may start other threads"),
            Kind::Memory => two("different hosts: memory", ""),
            Kind::MemoryLimit => {
                two("different memory limits", ": what is evicted and read again may differ")
            }
            Kind::IdleEviction => two(
                "host evicts idle page cache",
                ": what came from the device may differ by chance",
            ),
            Kind::FileSystems => two("different file systems", ""),
            Kind::CacheState => two(
                "cached pages of their files at the start",
                ": differences in what came from the device may be due to that",
            ),
            Kind::Instrument => two("measured differently", ""),
            Kind::Version => two("written by different versions of hotset", ""),
            Kind::Lost => format!(
                "{} lost {}: its counts are lower bounds, and a difference may be due to that",
                self.who(caveat),
                self.numbers(caveat, "events or records")
            ),
            Kind::OtherFiles => format!(
                "{} sums its less active files up in one row: a file that only one run names may be among them (run with a larger --files)",
                self.who(caveat)
            ),
            Kind::UnnamedLookups => format!(
                "{} has no path for {}: a path that only one run has may be among them",
                self.who(caveat),
                self.numbers(caveat, "failed lookups")
            ),
            Kind::Lacks => {
                let text = caveat.before.as_deref().or(caveat.after.as_deref()).unwrap_or_default();
                format!("{}: {}", self.who(caveat), escape_text(text))
            }
        }
    }

    /// The runs that it concerns.
    fn who(&self, caveat: &DiffCaveat) -> String {
        match (&caveat.before, &caveat.after) {
            (Some(_), Some(_)) => "each run".to_owned(),
            (Some(_), None) => self.before.clone(),
            _ => self.after.clone(),
        }
    }

    fn numbers(&self, caveat: &DiffCaveat, noun: &str) -> String {
        match (&caveat.before, &caveat.after) {
            (Some(before), Some(after)) => format!("{before} and {after} {noun}"),
            (Some(number), None) | (None, Some(number)) => format!("{number} {noun}"),
            (None, None) => noun.to_owned(),
        }
    }
}
