//! `hotset export`: samples as `stat` does, and hands the intervals to the exporter.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hotset_export::{
    Exporter, FleetOptions, Listening, Notify, Options, PushOptions, RedactKey, SampleTime,
    SeriesOptions,
};
use hotset_facts::{Interval, NotMeasured};
use hotset_sys::child::Signals;
use hotset_watch::interval::{
    CurveOptions, Drained, Live, LiveOptions, LiveSource, MAX_INTERVAL, Schedule, Waiter, Waiting,
    Woken, watch,
};
use hotset_watch::largest_unmapped_files;

use crate::args::{ExportArgs, FleetArgs};
use crate::exit::{Exit, Stop};
use crate::output;

/// Between two signs of life; the unit in deploy/ expects one a minute.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// One in 2^4 pages is in the sample of `--curves` where nothing else is asked for: with 500 pages in it, curves of recorded programs were up to
/// 0.012 off (`hotset_sizing::sample`), and caches from 1 MiB on are told apart.
const CURVES_EXPONENT: u32 = 4;

/// Serves what the sensor counts until a signal.
pub(super) fn export(args: &ExportArgs) -> Result<Exit, Stop> {
    run(args)?;
    Ok(Exit::Success)
}

fn run(args: &ExportArgs) -> Result<()> {
    // Before any thread begins, so that all of them leave signals to this one.
    let signals = Signals::hold().context("signals can't be held back")?;
    let notify = Notify::from_environment();
    let listening = Listening::open(options(args))?;
    // Metrics have no names of files.
    let names = args.fleet.parquet.is_some();
    let lookups = args.fleet.parquet.is_some();
    let live_options =
        LiveOptions { names, lookups, compat: args.compat, ..LiveOptions::default() };
    let mut live = Live::start(live_options, curves(args))?;
    let mut exporter = listening.start(live.not_measured())?;
    notify.tell("READY=1");
    let sampled = sample(args.interval, &signals, &notify, &mut live, &mut exporter);
    let sampled = sampled.map_err(|error| {
        exporter.stop_sampling(&format!("{error:#}"));
        let mut waiter = Waiting::new(&signals);
        while let Ok(Woken::Time) = waiter.wait(MAX_INTERVAL, None) {}
        error.context("ended after sampling had stopped")
    });
    notify.tell("STOPPING=1");
    exporter.finish();
    sampled
}

fn curves(args: &ExportArgs) -> Option<CurveOptions> {
    let exponent = args.series.curves_period.unwrap_or(CURVES_EXPONENT);
    let wanted = args.series.curves || args.fleet.parquet.is_some();
    wanted.then_some(CurveOptions { exponent, together: false })
}

fn fleet(args: &FleetArgs) -> Option<FleetOptions> {
    Some(FleetOptions {
        root: args.parquet.clone()?,
        every: args.parquet_every,
        spool: args.spool.clone().unwrap_or_else(spool),
        spool_limit_bytes: args.spool_limit,
        files: usize::from(args.parquet_files),
        redact: match &args.redact_key {
            Some(file) => Some(RedactKey::File(file.clone())),
            None => args.redact.then_some(RedactKey::OwnOfHost),
        },
        kubernetes_api: args.kubernetes_api,
        largest_cached: largest_unmapped_files,
    })
}

/// Where a service keeps its state; else where root does, or the user.
fn spool() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_user = || {
        let home = set("HOME").map(|home| home.join(".local/state"));
        set("XDG_STATE_HOME").or(home).map(|state| state.join("hotset"))
    };
    // systemd gives a list, of which the first is enough.
    let of_service = || {
        let all = std::env::var("STATE_DIRECTORY").ok()?;
        Some(PathBuf::from(all.split(':').next().filter(|first| !first.is_empty())?))
    };
    let of_root = rustix::process::geteuid().is_root().then(|| PathBuf::from("/var/lib/hotset"));
    let state = of_service().or(of_root).or_else(of_user);
    state.unwrap_or_else(|| std::env::temp_dir().join("hotset")).join("fleet")
}

fn options(args: &ExportArgs) -> Options {
    let push = args.otlp.otlp.clone().map(|url| PushOptions {
        url,
        headers: args.otlp.otlp_header.clone(),
        interval: args.otlp.otlp_interval,
    });
    let series = SeriesOptions {
        cgroups: usize::from(args.series.cgroups),
        curves: args.series.curves,
        commands: usize::from(args.series.commands),
        mounts: args.series.mounts,
        watch: args.series.watch.clone(),
        watch_interval: args.series.watch_interval,
    };
    Options {
        listen: args.listen.clone(),
        web_config: args.web_config.clone(),
        interval: args.interval,
        series,
        push,
        fleet: fleet(&args.fleet),
        host_name: args.host_name.clone(),
        say: |message| output::say(message),
    }
}

/// Samples until a signal comes or the source fails.
fn sample(
    interval: Duration,
    signals: &Signals,
    notify: &Notify,
    live: &mut Live,
    exporter: &mut Exporter,
) -> Result<()> {
    let (time, gaps) = (Cell::new(SampleTime::default()), RefCell::default());
    let mut source = Clocked { live, notify, told: Instant::now(), time: &time, gaps: &gaps };
    let schedule = Schedule { interval, count: None };
    let ended = watch(&mut source, &mut Waiting::new(signals), schedule, &mut |interval, _| {
        exporter.add(&interval, time.get(), gaps.take());
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(rest) = ended.rest {
        exporter.add(&rest, time.get(), gaps.take());
    }
    Ok(())
}

/// The source with a clock around it, that gives signs of life while it works.
struct Clocked<'a> {
    live: &'a mut Live,
    notify: &'a Notify,
    told: Instant,
    time: &'a Cell<SampleTime>,
    /// What could not be decoded comes up as it runs.
    gaps: &'a RefCell<Vec<NotMeasured>>,
}

impl Drained for Clocked<'_> {
    fn readable(&self) -> Option<BorrowedFd<'_>> {
        self.live.readable()
    }

    fn drain_interval(&self) -> Duration {
        // However long an interval is, there is a sign of life.
        self.live.drain_interval().min(SIGN_OF_LIFE)
    }

    fn drain(&mut self) -> Result<()> {
        if self.told.elapsed() >= SIGN_OF_LIFE {
            self.notify.tell("WATCHDOG=1");
            self.told = Instant::now();
        }
        self.live.drain()
    }
}

impl LiveSource for Clocked<'_> {
    fn interval(&mut self) -> Result<Interval> {
        let begun = Instant::now();
        let interval = self.live.interval();
        self.gaps.replace(self.live.not_measured());
        let last = begun.elapsed();
        self.time.set(SampleTime { total: self.time.get().total + last, last });
        interval
    }
}
