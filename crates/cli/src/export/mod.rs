//! `hotset export`: the sampler of `stat` and `top`, behind a Prometheus endpoint or a push.
//!
//! The main thread samples and publishes snapshots; a thread serves them, one pushes them, one walks watched paths. None of
//! these can hold up sampling.

mod address;
mod labels;
mod negotiate;
mod notify;
mod otlp;
mod sampler;
mod server;
mod shared;
mod watch;
mod web_config;

use std::cell::{Cell, RefCell};
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use hotset_facts::{Interval, NotMeasured};
use hotset_observe::{DEFAULT_MAX_ROWS, Scope};
use hotset_sys::child::Signals;
use hotset_view::live::stat::{gap_words, loss_words};
use hotset_view::metrics::Resource;

use self::notify::Notify;
use self::otlp::Push;
use self::sampler::{Sampler, Spent};
use self::server::Web;
use self::shared::Shared;
use self::watch::Watched;
use crate::args::ExportArgs;
use crate::exit::Exit;
use crate::live::{
    Live, LiveOptions, LiveSource, MAX_INTERVAL, Rhythm, Waiter, Waiting, Woken, watch,
};
use crate::output;

pub(crate) use address::Listen;
pub(crate) use otlp::{Header, OtlpUrl};

/// Between two signs of life; the unit in deploy/ expects one a minute.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Serves what the sensor counts until a signal.
pub(crate) fn export(args: &ExportArgs) -> Exit {
    match run(args) {
        Ok(()) => Exit::Success,
        Err(error) => {
            output::say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}

fn run(args: &ExportArgs) -> Result<()> {
    // Before any thread begins, so that all of them leave signals to this one.
    let signals = Signals::hold().context("signals can't be held back")?;
    let notify = Notify::from_environment();
    let web = Web::new(args.web_config.as_deref())?;
    let mut listeners = Vec::new();
    for listen in &args.listen {
        listeners.extend(listen.bind()?);
    }
    let words = serving(&listeners, &web);
    let started = SystemTime::now();
    let mut live = Live::start(LiveOptions {
        scope: Scope::System,
        max_rows: DEFAULT_MAX_ROWS,
        names: false,
        compat: args.compat,
    })?;
    let mut push = start_push(args, started)?;
    let watched = Watched::start(args.series.watch.clone(), args.series.watch_interval)?;
    let mut sampler = Sampler::new(&args.series, args.interval, started, watched);
    sampler.set_gaps(live.not_measured());
    live.not_measured().iter().for_each(|gap| output::say(gap_words(gap)));
    let first = sampler.snapshot(None, push.as_ref().map(Push::numbers));
    let shared = Arc::new(Shared::new(first, args.interval));
    server::start(listeners, web, Arc::clone(&shared))?;
    words.iter().for_each(output::say);
    notify.tell("READY=1");
    let sampled = sample(args, &signals, &notify, &mut live, &mut sampler, &shared, &mut push);
    let sampled =
        sampled.map_err(|error| stay(error, &signals, &mut sampler, &shared, push.as_mut()));
    notify.tell("STOPPING=1");
    if let Some(push) = push {
        let last = sampler.publish(&shared, Some(push.numbers()));
        push.finish(&last);
    }
    sampled
}

/// Where metrics are served, and what is doubtful about it.
fn serving(listeners: &[TcpListener], web: &Web) -> Vec<String> {
    let addresses = listeners.iter().filter_map(|one| one.local_addr().ok());
    let mut words = Vec::new();
    for address in addresses {
        let scheme = if web.has_tls() { "https" } else { "http" };
        words.push(format!("metrics at {scheme}://{address}/metrics"));
        if !address.ip().is_loopback() && web.is_open() {
            words.push(format!(
                "{address} can be reached from other hosts, without TLS or a password: see --web-config"
            ));
        }
    }
    words
}

fn start_push(args: &ExportArgs, started: SystemTime) -> Result<Option<Push>> {
    let Some(url) = &args.otlp.otlp else { return Ok(None) };
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let resource = Resource {
        instance: format!("{name}:{}", std::process::id()),
        host: name,
        version: env!("CARGO_PKG_VERSION"),
        started,
        at: started,
    };
    let headers = args.otlp.otlp_header.clone();
    Push::start(url, headers, args.otlp.otlp_interval, resource).map(Some)
}

/// Samples until a signal comes or the source fails.
fn sample(
    args: &ExportArgs,
    signals: &Signals,
    notify: &Notify,
    live: &mut Live,
    sampler: &mut Sampler,
    shared: &Shared,
    push: &mut Option<Push>,
) -> Result<()> {
    let (spent, gaps) = (Cell::new(Spent::default()), RefCell::new(live.not_measured()));
    let mut source = Clocked { live, notify, told: Instant::now(), spent: &spent, gaps: &gaps };
    let rhythm = Rhythm { interval: args.interval, count: None };
    watch(&mut source, &mut Waiting::new(signals), rhythm, &mut |interval, _| {
        for loss in sampler.add(interval, spent.get()) {
            output::say(loss_words(&loss));
        }
        sampler.set_gaps(gaps.borrow().clone());
        let snapshot = sampler.publish(shared, push.as_ref().map(Push::numbers));
        if let Some(push) = push {
            push.offer(&snapshot);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}

/// Goes on to serve, without counters and with the reason, until a signal: who scrapes learns more than from a closed port.
fn stay(
    error: anyhow::Error,
    signals: &Signals,
    sampler: &mut Sampler,
    shared: &Shared,
    push: Option<&mut Push>,
) -> anyhow::Error {
    output::say(format_args!("sampling has stopped: {error:#}; /healthz says so too"));
    sampler.stop(format!("{error:#}"));
    let stopped = sampler.publish(shared, push.as_deref().map(Push::numbers));
    if let Some(push) = push {
        push.send(&stopped);
    }
    let mut waiter = Waiting::new(signals);
    while let Ok(Woken::Time) = waiter.wait(MAX_INTERVAL, None) {}
    error.context("ended after sampling had stopped")
}

/// The source with a clock around it, that gives signs of life while it works.
struct Clocked<'a> {
    live: &'a mut Live,
    notify: &'a Notify,
    told: Instant,
    spent: &'a Cell<Spent>,
    /// What could not be decoded comes up as it runs.
    gaps: &'a RefCell<Vec<NotMeasured>>,
}

impl LiveSource for Clocked<'_> {
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

    fn interval(&mut self) -> Result<Interval> {
        let begun = Instant::now();
        let interval = self.live.interval();
        self.gaps.replace(self.live.not_measured());
        let last = begun.elapsed();
        self.spent.set(Spent { total: self.spent.get().total + last, last });
        interval
    }
}
