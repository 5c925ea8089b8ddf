//! The rings that records come through: one for each CPU, so that no CPU waits for another.

use std::os::fd::AsRawFd;

use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType, libbpf_sys};

use crate::ObserveError;
use crate::load::Loaded;

/// CPUs that the kernel may ever have.
pub(crate) fn cpus() -> u32 {
    libbpf_rs::num_possible_cpus().ok().and_then(|cpus| cpus.try_into().ok()).unwrap_or(1).max(1)
}

/// Makes the rings, and hands them to the programs. With `shared` there is one for all CPUs.
pub(super) fn make(
    loaded: &Loaded,
    ring_bytes: u32,
    shared: bool,
) -> Result<Vec<MapHandle>, ObserveError> {
    let outer = loaded.map("op_rings")?;
    let mut rings: Vec<MapHandle> = Vec::new();
    for cpu in 0..cpus() {
        if rings.is_empty() || !shared {
            rings.push(ring(ring_bytes)?);
        }
        if let Some(ring) = rings.last() {
            let fd = std::os::fd::AsFd::as_fd(ring).as_raw_fd();
            outer
                .update(&cpu.to_ne_bytes(), &fd.to_ne_bytes(), MapFlags::ANY)
                .map_err(|error| ObserveError::table("op_rings", error))?;
        }
    }
    Ok(rings)
}

fn ring(bytes: u32) -> Result<MapHandle, ObserveError> {
    let options = libbpf_sys::bpf_map_create_opts {
        sz: size_of::<libbpf_sys::bpf_map_create_opts>() as libbpf_sys::size_t,
        ..Default::default()
    };
    MapHandle::create(MapType::RingBuf, Some("op_ring"), 0, 0, bytes, &options)
        .map_err(|error| ObserveError::table("op_rings", error))
}
