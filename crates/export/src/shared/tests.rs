use hotset_analysis::live::testing::{interval, reads};
use hotset_analysis::live::{Accumulated, SeriesLimits, summarise_interval};
use hotset_facts::{Observed, Reason};
use hotset_view::metrics::{GroupLabels, OwnNumbers};

use super::*;

fn own() -> OwnNumbers {
    OwnNumbers {
        version: "0",
        started: SystemTime::UNIX_EPOCH,
        last_sample: None,
        interval_ns: 1,
        sample_ns: 0,
        last_sample_ns: 0,
        rows: 0,
        processes: 0,
        responses: Vec::new(),
        refused_connections: 0,
        process: Observed::Missing(Reason::not_measured("a test")),
        otlp: None,
        fleet: None,
    }
}

/// A hundred pages were read, and the sample may be this old.
fn shared(state: &SamplingState, limit: Duration) -> Shared {
    let mut counted = Accumulated::new(SeriesLimits { commands: 1, cgroups: 1, mounts: 0 });
    let work = interval(vec![reads(0, 100, 0)]);
    counted.add(&work, &summarise_interval(&work));
    let own = own();
    let first = Snapshot::new(
        &Measured {
            state,
            counted: &counted,
            page_bytes: 4096,
            memory: &work.host.memory,
            group: &|_| GroupLabels::default(),
            mount: None,
            curves: None,
            watched: &[],
            not_measured: &[],
            own: &own,
        },
        work.at,
    );
    Shared { limit, ..Shared::new(first, Duration::from_secs(1)) }
}

fn scraped(shared: &Shared) -> String {
    String::from_utf8(shared.scrape(Exposition::Prometheus).to_vec()).expect("UTF-8")
}

#[test]
fn what_is_too_old_is_served_by_no_page() {
    let running = SamplingState::Running;
    let (fresh, old) = (shared(&running, Duration::MAX), shared(&running, Duration::ZERO));
    assert!(fresh.health().is_ok() && scraped(&fresh).contains("hotset_read_pages_total 100"));
    assert!(fresh.page().contains("Sampling runs.") && fresh.page().contains(">100<"));
    assert!(old.health().is_err_and(|why| why.contains("s old")));
    assert!(scraped(&old).contains("hotset_up 0") && !scraped(&old).contains("read_pages"));
    assert!(old.page().contains("the last sample is too old"), "{}", old.page());
    assert!(!old.page().contains("Sampling runs.") && !old.page().contains(">100<"));
}

#[test]
fn the_reason_for_an_end_is_on_every_page() {
    let stopped = SamplingState::Stopped("the sensor is gone".to_owned());
    // However old it is by then.
    let shared = shared(&stopped, Duration::ZERO);
    assert!(shared.health().is_err_and(|why| why.contains("the sensor is gone")));
    assert!(shared.page().contains("the sensor is gone"));
    assert!(scraped(&shared).contains("hotset_up 0"));
}
