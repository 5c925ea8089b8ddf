//! `hotset doctor`.

use hotset_facts::Support;
use hotset_view::Options;

use crate::args::{DoctorArgs, LookArgs};
use crate::exit::{Exit, Stop};
use crate::output;

/// Probes the host and prints what it offers.
pub(super) fn doctor(args: &DoctorArgs) -> Result<Exit, Stop> {
    let mut capabilities = hotset_sys::host_capabilities();
    let (sensor, sensor_start_ms) = hotset_observe::sensor_capabilities();
    capabilities.extend(sensor);
    capabilities.push(hotset_sites::perf_maps());
    let support = Support {
        kernel: hotset_sys::environment::kernel_release(),
        euid: rustix::process::geteuid().as_raw(),
        capabilities,
        sensor_start_ms,
    };
    let bytes = if args.json {
        hotset_view::doctor_json(&support)
    } else {
        let Options { width, color, .. } =
            output::stdout_options(LookArgs { color: args.color, ascii: false });
        hotset_view::doctor_text(&support, width, color).into_bytes()
    };
    output::print(&bytes)?;
    Ok(Exit::Success)
}
