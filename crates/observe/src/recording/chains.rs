//! Chains of calls that the sensor is told, so that it tells those apart that lead to one place.

use libbpf_rs::{MapCore, MapFlags, MapHandle};

use super::raw::{CHAIN_BYTES, CHAIN_CALLS, CHAINS, Chain, ChainsValue};
use crate::ObserveError;
use crate::load::Loaded;
use crate::record::{bytes_of, read, zeroed};

/// The sensor's table of them. It can be told from another thread than the session's.
pub struct Chains {
    table: MapHandle,
}

impl Chains {
    pub(crate) fn of(loaded: &Loaded) -> Result<Self, ObserveError> {
        let failed = |error| ObserveError::table("site_chains", error);
        let table = MapHandle::try_from(&loaded.map("site_chains")?).map_err(failed)?;
        Ok(Self { table })
    }

    /// Tells the chain that the stack of a site was of: where on it, in bytes from the stack pointer on, return addresses stand, and
    /// which ones, innermost first. A chain that can't be told stays the one that its place is taken for.
    pub fn tell(&self, place: u64, site: u64, returns: &[(u64, u64)]) {
        let key = place.to_ne_bytes();
        let known = self.table.lookup(&key, MapFlags::ANY).ok().flatten();
        let mut chains: ChainsValue = known.as_deref().and_then(read).unwrap_or_else(zeroed);
        let count = chains.count as usize;
        let Some(room) = chains.chain.get_mut(count) else { return };
        *room = chain(site, returns);
        chains.bytes = chains.bytes.max(room.bytes);
        chains.count += 1;
        chains
            .pending
            .iter_mut()
            .filter(|pending| pending.site == site)
            .for_each(|told| *told = zeroed());
        // Where there is no room, whoever comes to this place is asked for again.
        let _ = self.table.update(&key, bytes_of(&chains), MapFlags::ANY);
    }
}

/// As the sensor compares it: as many calls as it has room for.
fn chain(site: u64, returns: &[(u64, u64)]) -> Chain {
    let mut chain = Chain { site, ..zeroed() };
    let fits = |&&(at, _): &&(u64, u64)| at % 8 == 0 && at + 8 <= CHAIN_BYTES;
    for (place, (at, from)) in returns.iter().filter(fits).take(CHAIN_CALLS).enumerate() {
        chain.at[place] = u16::try_from(*at).unwrap_or(0);
        chain.from[place] = *from;
        chain.calls = place as u32 + 1;
        chain.bytes = chain.bytes.max(u32::try_from(at + 8).unwrap_or(0));
    }
    chain
}

const _: () = assert!(CHAINS > 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_what_the_sensor_can_compare() {
        let returns: Vec<(u64, u64)> = (0..20).map(|at| (at * 8 + 16, 0x1000 + at)).collect();
        let all = chain(7, &returns);
        assert_eq!((all.site, all.calls as usize, all.bytes), (7, CHAIN_CALLS, 16 + 8 * 12));
        assert_eq!((all.at[1], all.from[1]), (24, 0x1001));
        let few = chain(7, &[(0, 1), (3, 2), (CHAIN_BYTES - 8, 3), (CHAIN_BYTES, 4)]);
        assert_eq!((few.calls, few.bytes, few.from[1]), (2, CHAIN_BYTES as u32, 3));
        assert_eq!(chain(7, &[]).calls, 0, "whoever comes there is in it");
    }
}
