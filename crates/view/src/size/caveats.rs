//! What could make a prediction wrong, as far as the recording tells.

use hotset_analysis::size::{self, Access, Caveat, Condition, KernelVersion, Sampled, Seen};
use hotset_facts::{Command, Environment, ExitStatus, Observed, Target};

use super::SizedTrace;
use crate::escape::escape_bytes;
use crate::trace::words::untold;
use crate::units::{bytes, count, duration, percent, plural};

/// Direct I/O by all that was moved, from which on it is worth a word.
const MANY_DIRECT: f64 = 0.01;
/// Pages that were read beside those that were asked for, by those, from which on it is worth a word.
const MUCH_BESIDE: f64 = 0.1;
/// Since when folios of ext4 can be large.
const EXT4_LARGE_FOLIOS: KernelVersion = KernelVersion::new(6, 16);
/// Looks at memory that are further apart than this can miss a peak that matters.
const LONG_GAP_NS: u64 = 1_000_000_000;

/// A sentence each.
pub(crate) fn caveats(trace: &SizedTrace<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    match &trace.summary.sampled {
        Some(sampled) => watched(trace, sampled, &mut lines),
        None => recording(trace, &mut lines),
    }
    if let Some(prediction) = &trace.summary.prediction {
        lines.extend(prediction.caveats.iter().map(|caveat| words(*caveat)));
        let conditions = conditions(trace);
        if !conditions.is_empty() {
            let all: Vec<&str> = conditions.into_iter().map(Condition::text).collect();
            lines.push(format!("Not compared with real kernels: {}.", all.join("; ")));
        }
    }
    lines
}

/// What a sample does not tell.
fn watched(trace: &SizedTrace<'_>, sampled: &Sampled, lines: &mut Vec<String>) {
    lines.push(
        "It ran before it was watched: pages that it had requested before count as requested for the first time.".to_owned(),
    );
    lines.push(format!(
        "A sample tells what least recently used would do, not what the kernel's policy does: the error above is of runs of Linux 6.12. \
         Below {} of cache it tells nothing. A recording (`hotset record`) is simulated by the kernel's policy.",
        bytes(sampled.least_cache_bytes)
    ));
    if trace.head.reclaim.is_some_and(|reclaim| reclaim.multi_gen_lru) {
        lines.push(format!(
            "This host has the multi-gen LRU, which evicts by thresholds that do not shrink with a sample. Certain is only the limit with room for all pages that it \
             requested: {} of cache.",
            bytes(sampled.most_bytes())
        ));
    }
    lines.push(
        "Program code, kernel memory for inodes, and what is read ahead are not among what it needs; limits are for the requests per second that were seen."
            .to_owned(),
    );
    if trace.head.command.as_ref().is_some_and(|command| command.target != Target::System) {
        lines.push(
            "Files that other control groups use, too, may be charged to those: they need no room here then."
                .to_owned(),
        );
    }
    if sampled.lost > 0 {
        lines.push(format!(
            "{} to sampled pages were lost: the sample stands for the others.",
            plural(sampled.lost, "request")
        ));
    }
    direct(&trace.summary.seen, lines);
    memory_gap(trace, lines);
}

/// What the recording lacks.
fn recording(trace: &SizedTrace<'_>, lines: &mut Vec<String>) {
    let seen = &trace.summary.seen;
    if seen.lost > 0 {
        lines.push(format!(
            "The recording lacks {}: what it needs may be more.",
            plural(seen.lost, "record")
        ));
    }
    if seen.faults > 0 {
        lines.push(format!(
            "{} were mapped. Only the first touch of a mapped page is recorded, so that pages in constant use can look idle.",
            plural(seen.faults, "page")
        ));
    }
    direct(seen, lines);
    if seen.unplaced > 0 {
        lines.push(format!(
            "{} requests are left out: their place in a file is not known.",
            count(seen.unplaced)
        ));
    }
    let attached = |command: &Command| !matches!(command.target, Target::Command);
    if trace.head.command.as_ref().is_some_and(attached) {
        lines.push("It ran before the recording began: its start, and what was cached by then, are not seen.".to_owned());
    }
    lines.extend(trace.head.command.as_ref().and_then(end));
    let untold = untold(trace.head, &escape_bytes).into_iter();
    lines.extend(untold.map(|what| format!("Not recorded: {what}.")));
    if trace.summary.miss_ns.is_none() && !trace.summary.limits.is_empty() {
        lines.push(
            "How long the device takes is not known, so no time is told; --device-rate tells it."
                .to_owned(),
        );
    }
    memory_gap(trace, lines);
}

/// What its end means for what was seen of it.
fn end(command: &Command) -> Option<String> {
    match &command.exit {
        Observed::Value(ExitStatus::Code(0)) => None,
        Observed::Value(ExitStatus::Code(code)) => Some(format!(
            "It ended with exit code {code} when it was recorded: one that does all its work can need more."
        )),
        Observed::Value(ExitStatus::Signal(signal)) => {
            Some(format!("It was ended by signal {signal} when it was recorded: {NOT_SEEN}."))
        }
        Observed::Missing(_) => Some(format!("It still ran when the recording ended: {NOT_SEEN}.")),
    }
}

const NOT_SEEN: &str = "what it requests again only later looks as if it was requested once";

fn direct(seen: &Seen, lines: &mut Vec<String>) {
    let moved = (seen.read_pages + seen.written_pages).saturating_mul(4096);
    let direct = seen.direct_bytes as f64 / moved.saturating_add(seen.direct_bytes).max(1) as f64;
    if direct > MANY_DIRECT {
        lines.push(format!(
            "{} ({} of all) bypassed the page cache (O_DIRECT): no limit changes that.",
            bytes(seen.direct_bytes),
            percent(direct)
        ));
    }
}

fn memory_gap(trace: &SizedTrace<'_>, lines: &mut Vec<String>) {
    let gap_ns = trace.head.memory.map_or(0, |memory| memory.longest_gap_ns);
    if gap_ns > LONG_GAP_NS {
        lines.push(format!(
            "Memory was not looked at for {}: a peak in that time is not seen.",
            duration(gap_ns)
        ));
    }
}

fn version(KernelVersion { major, minor }: KernelVersion) -> String {
    format!("Linux {major}.{minor}")
}

fn words(caveat: Caveat) -> String {
    match caveat {
        Caveat::NotCompared(access) => {
            let what = match access {
                Access::Read => "read calls",
                Access::Write => "write calls",
                Access::Mapped => "mapped pages",
                Access::MappedRandom => "mapped pages with MADV_RANDOM",
            };
            format!("Predictions of {what} were not compared with this kernel's policy.")
        }
        Caveat::OtherKernel(kernel) => {
            format!("The runs behind the error are of {}, whose policy is the same.", version(kernel))
        }
        Caveat::OutsideCompared(kernel) => format!(
            "Kernels before {} and after {} were not compared: this one may replace pages in another way than {}, of whose runs the error is.",
            version(size::COMPARED_KERNELS.0),
            version(size::COMPARED_KERNELS.1),
            version(kernel)
        ),
        Caveat::OtherPolicy(kernel) => {
            format!("This kernel's policy is not modelled; that of {} is the nearest.", version(kernel))
        }
        Caveat::MomentOfRefresh => {
            "The kernel brings its statistics up to date every 2 s, at a moment that nobody knows: large scans can be off by 4 points."
                .to_owned()
        }
        Caveat::RoughForMappings => "Mapped pages are modelled roughly for the multi-gen LRU.".to_owned(),
    }
}

/// Which of the conditions that no run had are those of this recording.
fn conditions(trace: &SizedTrace<'_>) -> Vec<Condition> {
    let summary = trace.summary;
    let environment = trace.head.environment.as_ref();
    let is_so = |condition: &Condition| match condition {
        Condition::AnonymousMemory => summary.must.is_some_and(|must| must.anon_bytes > 64 << 20),
        Condition::Concurrency => summary.seen.threads > 1,
        Condition::LargeFolios => environment.is_some_and(has_large_folios),
        Condition::Swap => trace.head.reclaim.is_some_and(|reclaim| reclaim.swap_bytes > 0),
        Condition::OtherEviction => environment.is_some_and(|host| host.evicts_idle_cache),
        Condition::ReadAhead => {
            let beside = summary.limits.last().map_or(0, |limit| limit.beside_pages);
            beside as f64 > summary.distinct_pages as f64 * MUCH_BESIDE
        }
        // What other groups and the host do is not in a recording.
        Condition::SharedFiles | Condition::HostPressure => false,
    };
    Condition::ALL.into_iter().filter(is_so).collect()
}

/// Whether a file system that was used caches folios of more than a page: ext4 does so since Linux 6.16.
fn has_large_folios(host: &Environment) -> bool {
    let has_ext4_them =
        size::version(&host.kernel).is_some_and(|kernel| kernel >= EXT4_LARGE_FOLIOS);
    host.filesystems.iter().any(|one| match one.fs_type.as_str() {
        "xfs" | "btrfs" | "bcachefs" => true,
        "ext4" => has_ext4_them,
        _ => false,
    })
}
