//! hotset's own account: whether it samples, what it lost, what it costs.

use std::time::{SystemTime, UNIX_EPOCH};

use hotset_facts::{NotMeasured, Observed};

use super::{
    Family, FleetNumbers, Kind, Labels, Measured, OtlpNumbers, SamplingState, Unit, Value, curves,
    host,
};

pub(super) fn families(measured: &Measured<'_>) -> Vec<Family> {
    let mut families = Vec::new();
    about(measured, &mut families);
    sampling(measured, &mut families);
    losses(measured, &mut families);
    if matches!(measured.state, SamplingState::Running) {
        process(measured, &mut families);
        server(measured, &mut families);
    }
    if let Some(otlp) = &measured.own.otlp {
        pushing(otlp, &mut families);
    }
    if let Some(fleet) = &measured.own.fleet {
        delivering(fleet, &mut families);
    }
    families
}

fn gauge(name: &str, unit: Unit, help: &str) -> Family {
    Family::new(name, Kind::Gauge, unit, help)
}

fn counter(name: &str, unit: Unit, help: &str) -> Family {
    Family::new(name, Kind::Counter, unit, help)
}

fn about(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let own = measured.own;
    let mut build = gauge("hotset_build_info", Unit::Count, "1, with the version of hotset");
    build.push(Labels::from([("version", own.version.to_owned())]), Value::Whole(1));
    families.push(build);
    let mut gaps = gauge(
        "hotset_not_measured",
        Unit::Count,
        "1 for each thing that can't be measured here, with the reason; its metrics are absent",
    );
    let labels_of = |gap: &NotMeasured| {
        let reason = steady(&gap.reason);
        gap.feature
            .unmeasured()
            .into_iter()
            .map(move |what| Labels::from([("what", what.to_owned()), ("reason", reason.clone())]))
    };
    let mut labels: Vec<Labels> = measured.not_measured.iter().flat_map(labels_of).collect();
    if measured.counted.intervals > 0 {
        labels.extend(host::missing(measured));
    }
    labels.extend(curves::missing(measured));
    labels.sort();
    labels.dedup();
    labels.into_iter().for_each(|labels| gaps.push(labels, Value::Whole(1)));
    if !gaps.points.is_empty() {
        families.push(gaps);
    }
}

/// A reason without the count that it begins with: labels that change make a new series each time.
fn steady(reason: &str) -> String {
    reason.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start().to_owned()
}

fn since_epoch(at: SystemTime) -> Value {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    Value::Nanos(hotset_facts::units::nanos(since))
}

fn sampling(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let own = measured.own;
    let running = u64::from(matches!(measured.state, SamplingState::Running));
    let help = "1 while the page cache is sampled; 0 when that stopped, and then what it counted is absent";
    families.push(gauge("hotset_up", Unit::Count, help).single(Value::Whole(running)));
    let help = "When the session began, and all counters were zero, since the epoch";
    let start = gauge("hotset_start_timestamp_seconds", Unit::Seconds, help);
    families.push(start.single(since_epoch(own.started)));
    if let Some(at) = own.last_sample {
        let help = "When the last sample was taken, since the epoch";
        let last = gauge("hotset_last_sample_timestamp_seconds", Unit::Seconds, help);
        families.push(last.single(since_epoch(at)));
    }
    let help = "Time between samples, as asked for";
    let interval = gauge("hotset_sample_interval_seconds", Unit::Seconds, help);
    families.push(interval.single(Value::Nanos(own.interval_ns)));
    let samples = counter("hotset_samples", Unit::Count, "Samples that were taken");
    families.push(samples.single(Value::Whole(measured.counted.intervals)));
    let help = "Time that taking samples took";
    let busy = counter("hotset_sample_duration_seconds", Unit::Seconds, help);
    families.push(busy.single(Value::Nanos(own.sample_ns)));
    let help = "Time that taking the last sample took";
    let last = gauge("hotset_last_sample_duration_seconds", Unit::Seconds, help);
    families.push(last.single(Value::Nanos(own.last_sample_ns)));
    for (name, help, value) in [
        ("rows", "Pairs of process and file that were active in the last interval", own.rows),
        ("processes", "Processes that were active in the last interval", own.processes),
    ] {
        let name = format!("hotset_active_{name}");
        families.push(gauge(&name, Unit::Count, help).single(Value::Whole(value)));
    }
}

fn losses(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let losses = &measured.counted.losses;
    let causes = [
        ("unattributed", losses.unattributed),
        ("events", losses.events),
        ("origins", losses.origins),
        ("tasks", losses.tasks),
        ("requests", losses.requests),
        ("skipped_programs", losses.skipped_programs),
        ("calls", losses.calls),
    ];
    let help = "What got lost, by cause; docs/metrics.md says what each damages";
    let mut family = counter("hotset_lost", Unit::Count, help);
    for (cause, count) in causes {
        family.push(Labels::from([("cause", cause.to_owned())]), Value::Whole(count));
    }
    for (cause, count) in curves::losses(measured) {
        family.push(Labels::from([("cause", cause.to_owned())]), Value::Whole(count));
    }
    families.push(family);
    let counted = measured.counted;
    let help = "How often somebody who had no series of their own was counted as other";
    let mut refused = counter("hotset_counted_as_other", Unit::Count, help);
    let sets = [("cgroup", counted.cgroups.refused()), ("command", counted.commands.refused())];
    let mounts = measured.mount.map(|_| ("mount", counted.mounts.refused()));
    for (kind, count) in sets.into_iter().chain(mounts) {
        refused.push(Labels::from([("kind", kind.to_owned())]), Value::Whole(count));
    }
    families.push(refused);
}

/// The names that every Prometheus client uses.
fn process(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let Observed::Value(process) = &measured.own.process else { return };
    let cpu = counter("process_cpu_seconds", Unit::Seconds, "CPU time of hotset itself");
    families.push(cpu.single(Value::Nanos(process.cpu_ns)));
    let help = "Resident memory of hotset itself";
    let resident = gauge("process_resident_memory_bytes", Unit::Bytes, help);
    families.push(resident.single(Value::Whole(process.resident_bytes)));
    let fds = gauge("process_open_fds", Unit::Count, "Descriptors that hotset itself has open");
    families.push(fds.single(Value::Whole(process.open_fds)));
}

fn server(measured: &Measured<'_>, families: &mut Vec<Family>) {
    let own = measured.own;
    if !own.responses.is_empty() {
        let mut family = counter("hotset_http_responses", Unit::Count, "Answers, by HTTP status");
        for (code, count) in &own.responses {
            family.push(Labels::from([("code", code.to_string())]), Value::Whole(*count));
        }
        families.push(family);
    }
    let help = "Connections that were closed because there were too many";
    let refused = counter("hotset_http_refused_connections", Unit::Count, help);
    families.push(refused.single(Value::Whole(own.refused_connections)));
}

fn pushing(otlp: &OtlpNumbers, families: &mut Vec<Family>) {
    let mut pushes = counter("hotset_otlp_pushes", Unit::Count, "Pushes by OTLP, by result");
    let results = [("taken", otlp.pushed), ("failed", otlp.failed), ("dropped", otlp.dropped)];
    for (result, count) in results {
        pushes.push(Labels::from([("result", result.to_owned())]), Value::Whole(count));
    }
    families.push(pushes);
    let help = "Data points that a receiver refused in pushes that it took";
    let rejected = counter("hotset_otlp_rejected_points", Unit::Count, help);
    families.push(rejected.single(Value::Whole(otlp.rejected_points)));
}

fn delivering(fleet: &FleetNumbers, families: &mut Vec<Family>) {
    let mut files =
        counter("hotset_parquet_files", Unit::Count, "Finished files of --parquet, by result");
    for (result, count) in [("delivered", fleet.delivered_files), ("dropped", fleet.dropped_files)]
    {
        files.push(Labels::from([("result", result.to_owned())]), Value::Whole(count));
    }
    families.push(files);
    let help = "Attempts to deliver files of --parquet that failed; they are repeated";
    let failures = counter("hotset_parquet_delivery_failures", Unit::Count, help);
    families.push(failures.single(Value::Whole(fleet.failed_deliveries)));
    let help = "Intervals that --parquet lost because the disk of the spool hung";
    let intervals = counter("hotset_parquet_dropped_intervals", Unit::Count, help);
    families.push(intervals.single(Value::Whole(fleet.dropped_intervals)));
    let help = "Finished files of --parquet that wait to be delivered";
    let waiting = gauge("hotset_parquet_waiting_files", Unit::Count, help);
    families.push(waiting.single(Value::Whole(fleet.waiting_files)));
    let help = "Bytes of these files; --spool-limit is the most";
    let bytes = gauge("hotset_parquet_waiting_bytes", Unit::Bytes, help);
    families.push(bytes.single(Value::Whole(fleet.waiting_bytes)));
    if let Some(at) = fleet.last_delivery {
        let help = "When a file of --parquet was last delivered, since the epoch";
        let last = gauge("hotset_parquet_last_delivery_timestamp_seconds", Unit::Seconds, help);
        families.push(last.single(since_epoch(at)));
    }
}
