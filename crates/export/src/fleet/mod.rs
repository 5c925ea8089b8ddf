//! The tables of a fleet, from the intervals of this host.

mod curves;
mod findings;
mod identity;
mod idle;
mod lookups;
mod owners;
mod redact;
mod rows;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use hotset_facts::fleet::IntervalKey;
use hotset_facts::{Interval, LiveIo, NotMeasured};
use hotset_fleet::{
    Complete, Directory, Period, Rows, Sink, SinkNumbers, SinkOptions, Store, micros,
};
use hotset_view::metrics::FleetNumbers;

use crate::Say;
use crate::s3::{BucketStore, Destination};
use curves::SpanCurves;
use findings::SpanFindings;
use identity::Identity;
use idle::{EndedSpan, IdleFiles, SpanFiles};
use owners::Owners;
use redact::Redactor;
use rows::{RowMaker, look_at_files};

pub use idle::LargestCached;
pub use redact::RedactKey;

/// How long the last files may take to be delivered when hotset ends.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where the tables of a fleet go.
#[derive(Debug, Clone)]
pub struct FleetOptions {
    /// The root of the fleet.
    pub root: Destination,
    /// How much time a file holds; a day is a whole multiple of it.
    pub every: Duration,
    /// Where rows wait until they are delivered.
    pub spool: PathBuf,
    /// How many bytes of finished files may wait there.
    pub spool_limit_bytes: u64,
    /// Files with rows of their own, in an interval.
    pub files: usize,
    /// Whether names of files are hashed, and by whose key.
    pub redact: Option<RedactKey>,
    /// Whether Kubernetes' API server is asked whose pods are. The name of the host must then be that of the node.
    pub kubernetes_api: bool,
    /// Says which files are cached, for those that nothing used.
    pub largest_cached: LargestCached,
}

/// Makes rows of intervals, and hands them to the sink.
pub(super) struct FleetExport {
    every: Duration,
    sink: Sink,
    maker: RowMaker,
    span: Option<(Period, IntervalKey)>,
    curves: SpanCurves,
    findings: SpanFindings,
    files: SpanFiles,
    ended: EndedSpan,
}

impl FleetExport {
    /// # Errors
    /// Where the root or the spool can't be used, or the API server is to be asked and this is no pod.
    pub(super) fn start(options: &FleetOptions, host: &str, say: Say) -> Result<Self> {
        let identity = Identity::of_this_host(host);
        let session = u64::try_from(micros(SystemTime::now())).unwrap_or(0);
        let store: Box<dyn Store> = match &options.root {
            Destination::Directory(root) => {
                let store = Directory::new(root);
                Box::new(store.with_context(|| root.display().to_string())?)
            }
            Destination::Bucket(url) => Box::new(BucketStore::new(url)?),
        };
        let redactor = options.redact.as_ref();
        let redactor = redactor.map(|key| Redactor::new(key, &options.spool)).transpose()?;
        let owners = options.kubernetes_api.then(|| Owners::start(host, say)).transpose()?;
        let ended = EndedSpan::default();
        let idle = IdleFiles::new(options.largest_cached, ended.clone(), options.files, say);
        let sink = Sink::start(SinkOptions {
            spool: options.spool.clone(),
            spool_limit_bytes: options.spool_limit_bytes,
            host_id: identity.host_id.to_string(),
            session,
            complete: complete(idle, owners, redactor),
            store,
            say,
        });
        Ok(Self {
            every: options.every,
            sink: sink.with_context(|| options.spool.display().to_string())?,
            maker: RowMaker::new(identity, session, options.files),
            span: None,
            curves: SpanCurves::default(),
            // The root of a container may be read-only, but not its spool.
            findings: SpanFindings::new(hotset_sys::costs::table_or_in(
                &options.spool,
                "none of the cache directory, the temporary directory and the spool directory can be written",
            )),
            files: SpanFiles::default(),
            ended,
        })
    }

    /// Adds an interval. Never waits.
    pub(super) fn add(&mut self, interval: &Interval, gaps: &[NotMeasured]) {
        let period = Period::of(interval.at, self.every);
        if self.span.as_ref().is_some_and(|(before, _)| *before != period) {
            self.end_span(false);
        }
        let key = self.maker.key(interval, gaps);
        let groups = self.maker.groups(&key, interval);
        let files = self.maker.files(&key, interval);
        let dropped = self.sink.numbers().dropped_files;
        let host = vec![self.maker.host(&key, interval, gaps, dropped)];
        self.curves.add(interval.curves.as_ref(), interval.length_ns);
        self.findings.add(&groups, interval, gaps);
        self.files.add(interval);
        self.span = Some((period, key));
        self.sink.offer(period, Rows { host, groups, files, ..Rows::default() });
    }

    /// Hands over what is known of a span as a whole.
    fn end_span(&mut self, is_last: bool) {
        let Some((period, key)) = self.span.take() else { return };
        let workloads = &mut self.maker.workloads;
        let curves = self.curves.take(&key, |group: &Arc<str>| workloads.of(group));
        let findings = self.findings.take(&key);
        self.files.end(&self.ended, &key, self.maker.counted(LiveIo::ZERO), is_last);
        // Those of idle files come to them.
        self.sink.offer(period, Rows { curves, findings, ..Rows::default() });
    }

    /// What became of files so far.
    pub(super) fn numbers(&self) -> FleetNumbers {
        numbers(self.sink.numbers())
    }

    /// Delivers what there is, as far as that takes a moment, and says what became of it.
    pub(super) fn finish(mut self) -> FleetNumbers {
        self.end_span(true);
        numbers(self.sink.finish(PATIENCE))
    }
}

/// Files are looked at by their names, which are then hashed: nothing is kept before.
fn complete(
    mut idle: IdleFiles,
    mut owners: Option<Owners>,
    redactor: Option<Redactor>,
) -> Complete {
    Box::new(move |rows| {
        idle.add(rows);
        if let Some(owners) = &mut owners {
            owners.tell(rows);
        }
        look_at_files(rows);
        if let Some(redactor) = &redactor {
            redactor.rows(rows);
        }
    })
}

fn numbers(numbers: SinkNumbers) -> FleetNumbers {
    FleetNumbers {
        delivered_files: numbers.delivered_files,
        dropped_files: numbers.dropped_files,
        dropped_intervals: numbers.dropped_intervals,
        failed_deliveries: numbers.failed_deliveries,
        waiting_files: numbers.waiting_files,
        waiting_bytes: numbers.waiting_bytes,
        last_delivery: numbers.last_delivery,
    }
}
