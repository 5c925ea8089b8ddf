//! The code behind a number: the call sites with the largest parts in it, or in its change.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use hotset_facts::trace::{Frame, OperationClass, Site};
use hotset_facts::{CallSites, Observed, SiteRow};

use super::numbers::Number;
use super::verdict::SitePart;
use crate::diff::{Change, Side, SideRow};

/// As many as a person reads of one limit.
const SHOWN: usize = 3;

/// Which rows of sites have a part in a number, and which.
#[derive(Clone, Copy)]
struct Measure {
    classes: &'static [OperationClass],
    part: fn(&SiteRow) -> u64,
    way: Way,
}

/// Of which files. Call sites don't tell buffered from direct requests, so where a file had both nothing is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Any,
    /// Those for which this counter is 0.
    Without(&'static str),
    /// Those for which the first counter is not 0, and the second is.
    Only(&'static str, &'static str),
}

impl Way {
    fn fits(self, row: &SideRow) -> bool {
        let any = |name| matches!(row.counters.get(name), Some(Observed::Value(1..)));
        match self {
            Self::Any => true,
            Self::Without(other) => !any(other),
            Self::Only(wanted, other) => any(wanted) && !any(other),
        }
    }
}

const BUFFERED_READS: Way = Way::Without("direct.read_calls");
const DIRECT_READS: Way = Way::Only("direct.read_calls", "read.calls");
const BUFFERED_WRITES: Way = Way::Without("direct.write_calls");
const DIRECT_WRITES: Way = Way::Only("direct.write_calls", "write.calls");

/// How a number is a sum over call sites; nothing of one that is none.
fn measure(number: Number) -> Option<Measure> {
    use OperationClass::{Exec, Fault, Lookup, Open, Read, Sync, Write};
    let calls: fn(&SiteRow) -> u64 = |row| row.io.calls;
    let bytes: fn(&SiteRow) -> u64 = |row| row.io.bytes;
    // With what was read ahead or around for it: the number counts that where it is used.
    let device: fn(&SiteRow) -> u64 = |row| row.io.device_read_bytes;
    let failed: fn(&SiteRow) -> u64 = |row| row.io.failed;
    let opened: fn(&SiteRow) -> u64 = |row| row.io.calls.saturating_sub(row.io.failed);
    // A row is of a site and a file.
    let file: fn(&SiteRow) -> u64 = |row| u64::from(row.path.is_some() && opened_any(row));
    let (classes, part, way): (&[OperationClass], _, _) = match number.name {
        "read.calls" => (&[Read], calls, BUFFERED_READS),
        "read.bytes" => (&[Read], bytes, BUFFERED_READS),
        "direct.read_calls" => (&[Read], calls, DIRECT_READS),
        "direct.read_bytes" => (&[Read], bytes, DIRECT_READS),
        "write.calls" => (&[Write], calls, BUFFERED_WRITES),
        "write.bytes" => (&[Write], bytes, BUFFERED_WRITES),
        "direct.write_calls" => (&[Write], calls, DIRECT_WRITES),
        "direct.write_bytes" => (&[Write], bytes, DIRECT_WRITES),
        "from_device" => (&[Read, Fault, Exec], device, BUFFERED_READS),
        "sync.calls" => (&[Sync], calls, Way::Any),
        "opens" | "files.opens" => (&[Open], opened, Way::Any),
        "files.opened" => (&[Open], file, Way::Any),
        "lookups.calls" => (&[Open, Lookup], calls, Way::Any),
        "lookups.failed" => (&[Open, Lookup], failed, Way::Any),
        _ => return None,
    };
    Some(Measure { classes, part, way })
}

fn opened_any(row: &SiteRow) -> bool {
    row.io.calls > row.io.failed
}

/// The call sites with the largest parts, and how many more there are.
pub(super) fn site_parts(
    run: &Side,
    baseline: Option<&Side>,
    number: Number,
    chosen: Option<&dyn Fn(&SideRow) -> bool>,
) -> (Vec<SitePart>, u64) {
    let Some((sites, measure)) = run.sites.as_ref().zip(measure(number)) else {
        return (Vec::new(), 0);
    };
    let now = sums(run, sites, measure, chosen);
    // What fits a pattern is known by its name of today.
    let before = baseline
        .filter(|_| chosen.is_none())
        .and_then(|before| Some(sums(before, before.sites.as_ref()?, measure, None)));
    let mut all = match before {
        Some(before) => changes(now, before),
        None => now.into_values().map(|(site, sum)| part(site, None, sum.into())).collect(),
    };
    all.retain(|part| part.amount != 0);
    all.sort_by_cached_key(|part| (std::cmp::Reverse(part.amount.unsigned_abs()), key(&part.site)));
    let more = all.len().saturating_sub(SHOWN);
    all.truncate(SHOWN);
    (all, more as u64)
}

/// Requests that no call site has a part of.
pub(super) fn without_site(sites: &CallSites) -> u64 {
    sites.unknown_requests.saturating_add(sites.lost_requests).saturating_add(sites.other_requests)
}

/// Call sites with their sums.
type Sums = HashMap<Vec<String>, (Site, u64)>;

fn sums(
    run: &Side,
    sites: &CallSites,
    measure: Measure,
    chosen: Option<&dyn Fn(&SideRow) -> bool>,
) -> Sums {
    let fits = |row: &SideRow| measure.way.fits(row) && chosen.is_none_or(|chosen| chosen(row));
    let (of_these, of_others): (Vec<_>, Vec<_>) = run.files.iter().partition(|row| fits(row));
    let (of_these, of_others) = (paths(&of_these), paths(&of_others));
    let named_alone = chosen.is_some() || matches!(measure.way, Way::Only(..));
    let mut all = Sums::new();
    for row in sites.rows.iter().filter(|row| measure.classes.contains(&row.class)) {
        let is_meant = match &row.path {
            Some(path) if named_alone => of_these.contains(path.as_path()),
            Some(path) => !of_others.contains(path.as_path()),
            None => !named_alone,
        };
        let Some(site) = sites.sites.get(row.site as usize).filter(|_| is_meant) else { continue };
        let (_, sum) = all.entry(key(site)).or_insert_with(|| (site.clone(), 0));
        *sum = sum.saturating_add((measure.part)(row));
    }
    all
}

fn paths<'a>(rows: &[&'a SideRow]) -> HashSet<&'a Path> {
    rows.iter().map(|row| Path::new(&row.name)).collect()
}

/// What a call site is known by in another run of a program that may have changed: its functions, without their places.
fn key(site: &Site) -> Vec<String> {
    let name = |frame: &Frame| match (&frame.function, &frame.module) {
        (Some(function), _) => function.clone(),
        (None, Some(module)) => format!("{module}+?"),
        (None, None) => String::new(),
    };
    site.frames.iter().map(|frame| name(frame)).collect()
}

fn changes(now: Sums, mut before: Sums) -> Vec<SitePart> {
    let mut all: Vec<SitePart> = Vec::with_capacity(now.len());
    for (key, (site, sum)) in now {
        let was = before.remove(&key).map(|(_, sum)| sum);
        let by = i128::from(sum) - i128::from(was.unwrap_or(0));
        let change = match was {
            None | Some(0) => Change::Came,
            Some(_) if sum == 0 => Change::Went,
            Some(_) if by < 0 => Change::Shrank,
            Some(_) => Change::Grew,
        };
        all.push(part(site, Some(change), by));
    }
    let gone =
        before.into_values().map(|(site, sum)| part(site, Some(Change::Went), -i128::from(sum)));
    all.extend(gone);
    all
}

fn part(site: Site, change: Option<Change>, amount: i128) -> SitePart {
    let amount = i64::try_from(amount).unwrap_or(if amount > 0 { i64::MAX } else { i64::MIN });
    SitePart { site, change, amount }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hotset_facts::trace::SiteState;
    use hotset_facts::{DirectIo, Profile, ReadIo, SiteIo};

    use super::*;
    use crate::testing::{file, run_of};

    fn site(functions: &[&str], offset: u64) -> Site {
        let frame = |function: &&str| Frame {
            function: Some((*function).to_owned()),
            module: Some("/opt/app".to_owned()),
            offset,
            source: None,
            line: None,
        };
        Site {
            frames: functions.iter().map(frame).map(Arc::new).collect(),
            state: SiteState::Whole,
        }
    }

    fn row(
        site: u32,
        class: OperationClass,
        path: Option<&str>,
        calls: u64,
        failed: u64,
    ) -> SiteRow {
        let io = SiteIo {
            calls,
            failed,
            device_read_bytes: 4_096 * calls,
            bytes: 10 * calls,
            ..SiteIo::default()
        };
        SiteRow { site, class, path: path.map(Into::into), io }
    }

    /// A run with two functions; `/a` is read through the cache, `/d` past it, and `/m` in both ways.
    fn run(rows: Vec<SiteRow>, offset: u64) -> Side {
        let direct = DirectIo { read_calls: 3, ..DirectIo::default() };
        let read = ReadIo { calls: 3, ..ReadIo::default() };
        let mut files = vec![file("/a", 1), file("/d", 2), file("/m", 3)];
        files[0].io.edit(|io| io.read = Observed::Value(read));
        files[1].io.edit(|io| io.direct = Observed::Value(direct));
        files[2].io.edit(|io| {
            io.read = Observed::Value(read);
            io.direct = Observed::Value(direct);
        });
        let sites = vec![site(&["read", "load"], offset), site(&["read", "scan"], offset)];
        let sites = CallSites { sites, rows, lost_requests: 2, ..CallSites::default() };
        Side::of_profile(&Profile { sites: Some(sites), ..run_of(files) })
    }

    fn parts(
        run: &Side,
        before: Option<&Side>,
        number: &str,
        path: Option<&str>,
    ) -> Vec<(String, i64)> {
        let number = Number::named(number).expect("a number");
        let chosen = path.map(|path| move |row: &SideRow| row.name == path);
        let chosen = chosen.as_ref().map(|chosen| chosen as &dyn Fn(&SideRow) -> bool);
        let (parts, _) = site_parts(run, before, number, chosen);
        let name = |part: &SitePart| part.site.frames[1].function.clone().expect("a name");
        parts.iter().map(|part| (name(part), part.amount)).collect()
    }

    fn named(parts: &[(&str, i64)]) -> Vec<(String, i64)> {
        parts.iter().map(|&(name, amount)| (name.to_owned(), amount)).collect()
    }

    #[test]
    fn each_number_is_the_sum_of_its_own_requests() {
        use OperationClass::{Fault, Lookup, Open, Read};
        let run = run(
            vec![
                row(0, Read, Some("/a"), 5, 0),
                row(1, Read, Some("/a"), 9, 0),
                row(1, Read, Some("/d"), 100, 0),
                row(1, Read, Some("/m"), 1_000, 0),
                row(0, Fault, Some("/a"), 2, 0),
                row(0, Open, Some("/a"), 3, 0),
                row(0, Open, Some("/d"), 1, 0),
                row(0, Open, Some("/nowhere"), 4, 4),
                row(1, Lookup, None, 7, 6),
            ],
            0,
        );
        let of = |number| parts(&run, None, number, None);
        assert_eq!(
            of("read.calls"),
            named(&[("scan", 9), ("load", 5)]),
            "not of what is read past the cache"
        );
        assert_eq!(of("direct.read_bytes"), named(&[("scan", 1_000)]));
        assert_eq!(of("from_device"), named(&[("scan", 9 * 4_096), ("load", 7 * 4_096)]));
        assert_eq!(of("files.opened"), named(&[("load", 2)]));
        assert_eq!(of("opens"), named(&[("load", 4)]));
        assert_eq!(of("lookups.failed"), named(&[("scan", 6), ("load", 4)]));
        assert_eq!(of("sync.calls"), []);
        assert_eq!(of("peak_rss"), [], "no code asks for it");
        assert_eq!(parts(&run, None, "read.calls", Some("/a")), named(&[("scan", 9), ("load", 5)]));
        assert_eq!(parts(&run, None, "read.calls", Some("/d")), []);
        assert_eq!(run.sites.as_ref().map(without_site), Some(2));
    }

    #[test]
    fn with_a_baseline_that_has_sites_they_are_what_changed() {
        let before = run(vec![row(0, OperationClass::Sync, None, 3, 0)], 0);
        let rows = vec![
            row(0, OperationClass::Sync, None, 4, 0),
            row(1, OperationClass::Sync, None, 9, 0),
        ];
        // Functions moved.
        let now = run(rows, 64);
        assert_eq!(
            parts(&now, Some(&before), "sync.calls", None),
            named(&[("scan", 9), ("load", 1)])
        );
        assert_eq!(
            parts(&before, Some(&now), "sync.calls", None),
            named(&[("scan", -9), ("load", -1)])
        );
        let (came, _) =
            site_parts(&now, Some(&before), Number::named("sync.calls").expect("one"), None);
        assert_eq!(came[0].change, Some(Change::Came));
        let mut without = before;
        without.sites = None;
        assert_eq!(
            parts(&now, Some(&without), "sync.calls", None),
            named(&[("scan", 9), ("load", 4)])
        );
        assert_eq!(parts(&without, None, "sync.calls", None), []);
    }
}
