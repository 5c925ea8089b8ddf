//! What `export` serves: one list of metric families, and the forms in which it leaves.
//!
//! [`families`] is the only place that names a metric. [`exposition`] writes the text that Prometheus scrapes,
//! [`otlp_json`] what an OpenTelemetry collector is sent, [`status_page`] the page for people.

mod curves;
mod family;
mod host;
mod io;
mod measured;
mod otlp;
mod own;
mod page;
mod text;
mod watched;

pub use family::{Family, Kind, Labels, Point, Unit, Value};
pub use measured::{
    Curves, FleetNumbers, GroupLabels, GroupMemoryNumbers, Measured, MountLabels, OtlpNumbers,
    OwnNumbers, ProcessNumbers, SamplingState, WatchedNumbers,
};
pub use otlp::{Resource, otlp_json};
pub use page::status_page;
pub use text::{Exposition, exposition};

/// Everything that is exported, in a fixed order. While sampling has stopped, all that comes with a sample is left out:
/// counters that stand still would say that nothing happens.
pub fn families(measured: &Measured<'_>) -> Vec<Family> {
    let mut families = own::families(measured);
    if matches!(measured.state, SamplingState::Running) {
        io::push(measured, &mut families);
        curves::push(measured, &mut families);
        host::push(measured, &mut families);
        // Walked by others, but handed on with a sample: they would stand still as well.
        watched::push(measured, &mut families);
    }
    families
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
