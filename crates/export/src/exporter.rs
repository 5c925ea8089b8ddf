//! The exporter as its caller sees it: opened, started, fed with intervals, ended.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Result;
use hotset_facts::{Interval, NotMeasured};
use hotset_view::live::stat::{gap_words, loss_words};
use hotset_view::metrics::Resource;

use crate::fleet::FleetExport;
use crate::otlp::Push;
use crate::sampler::{Deliveries, SampleTime, Sampler};
use crate::server::{self, Web};
use crate::shared::Shared;
use crate::watch::Watched;
use crate::{Options, PushOptions, Say};

/// Sockets that are open and a web configuration that was read; nobody is answered yet.
pub struct Listening {
    options: Options,
    listeners: Vec<TcpListener>,
    web: Web,
    started: SystemTime,
}

impl Listening {
    /// Reads the web configuration and opens the sockets.
    ///
    /// # Errors
    /// Where the file is wrong, or an address can't be had.
    pub fn open(options: Options) -> Result<Self> {
        let web = Web::new(options.web_config.as_deref(), options.say)?;
        let mut listeners = Vec::new();
        for listen in &options.listen {
            listeners.extend(listen.bind()?);
        }
        Ok(Self { options, listeners, web, started: SystemTime::now() })
    }

    /// Begins to serve, to push and to walk; `gaps` is what the sensor can't count.
    ///
    /// # Errors
    /// Where a thread can't be made, or the host has no authorities for an `https` receiver.
    pub fn start(self, gaps: Vec<NotMeasured>) -> Result<Exporter> {
        let Self { options, listeners, web, started } = self;
        let Options { series, interval, say, .. } = options;
        let fleet = options.fleet.as_ref();
        let host = options.host_name.unwrap_or_else(own_name);
        let fleet = fleet.map(|fleet| FleetExport::start(fleet, &host, say)).transpose()?;
        let push = options.push.map(|push| start_push(push, host, started, say)).transpose()?;
        let watched = Watched::start(series.watch.clone(), series.watch_interval)?;
        let mut sampler = Sampler::new(&series, interval, started, watched);
        gaps.iter().for_each(|gap| say(&gap_words(gap)));
        sampler.set_gaps(gaps);
        let first = sampler.snapshot(None, deliveries(push.as_ref(), fleet.as_ref()));
        let shared = Arc::new(Shared::new(first, interval));
        let served = served_words(&listeners, &web);
        server::start(listeners, web, Arc::clone(&shared))?;
        served.iter().for_each(|line| say(line));
        Ok(Exporter { sampler, shared, push, fleet, say })
    }
}

/// Where metrics are served, and what is doubtful about it.
fn served_words(listeners: &[TcpListener], web: &Web) -> Vec<String> {
    let scheme = if web.has_tls() { "https" } else { "http" };
    let mut words = Vec::new();
    for address in listeners.iter().filter_map(|listener| listener.local_addr().ok()) {
        words.push(format!("metrics at {scheme}://{address}/metrics"));
        if !address.ip().is_loopback() && web.is_open() {
            words.push(format!(
                "{address} can be reached from other hosts, without TLS or a password: see --web-config"
            ));
        }
    }
    words
}

/// What this host calls itself.
fn own_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn start_push(options: PushOptions, host: String, started: SystemTime, say: Say) -> Result<Push> {
    let resource = Resource {
        instance: format!("{host}:{}", std::process::id()),
        host,
        version: env!("CARGO_PKG_VERSION"),
        started,
        at: started,
    };
    Push::start(options, resource, say)
}

fn deliveries(push: Option<&Push>, fleet: Option<&FleetExport>) -> Deliveries {
    Deliveries { otlp: push.map(Push::numbers), fleet: fleet.map(FleetExport::numbers) }
}

/// An exporter that serves.
pub struct Exporter {
    sampler: Sampler,
    shared: Arc<Shared>,
    push: Option<Push>,
    fleet: Option<FleetExport>,
    say: Say,
}

impl Exporter {
    /// Adds an interval, publishes the sums, and pushes them if that is due. Never waits for a reader or a receiver.
    pub fn add(&mut self, interval: &Interval, time: SampleTime, gaps: Vec<NotMeasured>) {
        for loss in self.sampler.add(interval, time) {
            (self.say)(&loss_words(&loss));
        }
        if let Some(fleet) = &mut self.fleet {
            fleet.add(interval, &gaps);
        }
        self.sampler.set_gaps(gaps);
        let deliveries = deliveries(self.push.as_ref(), self.fleet.as_ref());
        let snapshot = self.sampler.publish(&self.shared, deliveries);
        if let Some(push) = &mut self.push {
            push.offer(&snapshot);
        }
    }

    /// Goes on to serve, without counters and with the reason: who scrapes learns more than from a closed port.
    pub fn stop_sampling(&mut self, why: &str) {
        (self.say)(&format_args!("sampling stopped: {why}; /healthz returns 503. Restart hotset"));
        self.sampler.stop(why.to_owned());
        let deliveries = deliveries(self.push.as_ref(), self.fleet.as_ref());
        let stopped = self.sampler.publish(&self.shared, deliveries);
        if let Some(push) = &mut self.push {
            push.send(&stopped);
        }
    }

    /// Pushes the last values, and waits for that a moment.
    pub fn finish(mut self) {
        let delivered = self.fleet.map(FleetExport::finish);
        if let Some(push) = self.push {
            let deliveries = Deliveries { otlp: Some(push.numbers()), fleet: delivered };
            let last = self.sampler.publish(&self.shared, deliveries);
            push.finish(&last);
        }
    }
}
