//! `hotset size`.

use anyhow::Context;
use hotset_analysis::size::{Collector, SizeAsked, SizeHost, size as predict};
use hotset_facts::units::{bytes, exact_bytes};
use hotset_trace::Columns;
use hotset_view::size::SizedTrace;

use super::{each_batch_until, open_trace};
use crate::args::SizeArgs;
use crate::destination::check_destination;
use crate::exit::{Exit, OrExit, Stop};
use crate::{interrupt, output};

/// Predicts how much memory a recorded program needs.
pub(super) fn size(args: &SizeArgs) -> Result<Exit, Stop> {
    args.json.iter().try_for_each(|file| check_destination(file)).or_exit(Exit::Failure)?;
    let stop = interrupt::stop_flag();
    let reader = open_trace(&args.trace).or_exit(Exit::Failure)?;
    let head = reader.head();
    let multi_gen_lru = head.reclaim.is_some_and(|reclaim| reclaim.multi_gen_lru);
    let host = args.kernel.map(|kernel| SizeHost { kernel, multi_gen_lru });
    let mut collector = Collector::new(reader.lists(), host.or_else(|| SizeHost::of(head)));
    let mut full = Ok(());
    each_batch_until(stop, &args.trace, &reader, Columns::ALL, |batch| {
        if full.is_ok() {
            full = collector.add(batch);
        }
    })
    .or_exit(Exit::Failure)?;
    full.with_context(|| args.trace.display().to_string()).or_exit(Exit::Failure)?;
    if stop.load(std::sync::atomic::Ordering::Relaxed) {
        return Ok(interrupt::exit());
    }
    let asked = SizeAsked {
        target: args.target / 100.0,
        limits_bytes: args.limits.clone(),
        policy: args.policy,
        host,
        device_bytes_per_s: args.device_rate,
        other_bytes: args.other,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let summary = predict(head, collector.finish(), &asked);
    // Below that it would not be slow, it would be killed.
    let least = summary.request.map_or(0, |request| request.must_bytes);
    if let Some(&limit) = args.limits.iter().find(|&&limit| limit < least) {
        return Err(Stop::usage(format_args!(
            "--limit {}: the program needs {} beside its file cache, and would be killed; expected a larger limit",
            exact_bytes(limit),
            bytes(least)
        )));
    }
    let sized = SizedTrace { path: &args.trace, head, summary: &summary };
    Ok(if output::size(&sized, args) { Exit::Success } else { Exit::Failure })
}
