//! What can come up, and how often. A new call is a line here and a function.

use hotset_facts::random::Random;

use super::Outcome;
use super::worker::Worker;
use super::{aio, copies, maps, names, reads, rings, syncs, writes};

/// An operation.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) name: &'static str,
    /// How often it comes up, beside the others.
    weight: u64,
    pub(super) run: fn(&mut Worker) -> std::io::Result<()>,
}

const fn op(
    name: &'static str,
    weight: u64,
    run: fn(&mut Worker) -> std::io::Result<()>,
) -> Operation {
    Operation { name, weight, run }
}

/// The table.
pub(super) const OPERATIONS: &[Operation] = &[
    op("seek", 4, reads::seek),
    op("read", 12, reads::read),
    op("pread", 12, reads::pread),
    op("readv", 4, reads::readv),
    op("preadv", 4, reads::preadv),
    op("preadv2", 4, reads::preadv2),
    op("preadv2-nowait", 2, reads::preadv2_nowait),
    op("read-cut-by-a-fault", 1, reads::cut_by_a_fault),
    op("read-refused", 1, reads::refused),
    op("read-into-a-mapping", 1, reads::into_a_mapping),
    op("write", 10, writes::write),
    op("pwrite", 10, writes::pwrite),
    op("writev", 3, writes::writev),
    op("pwritev", 3, writes::pwritev),
    op("pwritev2-sync", 1, writes::pwritev2_sync),
    op("pwritev2-append", 1, writes::pwritev2_append),
    op("write-from-a-mapping", 1, writes::from_a_mapping),
    op("sendfile", 3, copies::sendfile),
    op("splice-out", 3, copies::splice_out),
    op("splice-through", 3, copies::splice_through),
    op("copy-file-range", 3, copies::copy_file_range),
    op("copy-file-range-within", 1, copies::copy_within),
    op("ring-read", 3, rings::read),
    op("ring-write", 3, rings::write),
    op("ring-append", 1, rings::append),
    op("ring-fsync", 1, rings::fsync),
    op("aio-read", 3, aio::read),
    op("aio-write", 3, aio::write),
    op("map-load", 3, maps::load),
    op("map-store", 3, maps::store),
    op("map-private", 1, maps::private),
    op("map-populate", 1, maps::populate),
    op("truncate", 3, names::truncate),
    op("unlink", 2, names::unlink),
    op("rename-over", 2, names::rename_over),
    op("temporary", 1, names::temporary),
    op("no-such-name", 1, names::no_such_name),
    op("fallocate", 2, names::fallocate),
    op("punch-hole", 1, names::punch_hole),
    op("read-zeros", 4, names::read_zeros),
    op("advise-random", 1, names::advise_random),
    op("fetch", 2, names::fetch),
    op("evict", 4, names::evict),
    op("fsync", 2, syncs::fsync),
    op("fdatasync", 2, syncs::fdatasync),
    op("sync-file-range", 2, syncs::sync_file_range),
    op("msync", 1, syncs::msync),
    op("fsync-directory", 1, syncs::fsync_directory),
    op("syncfs", 1, syncs::syncfs),
    op(DIRECT, 1, names::open_direct),
];

/// Where this one is left out, nothing is opened with O_DIRECT.
pub(super) const DIRECT: &str = "o-direct";

/// The operations that may come up. Where another one's turn is, nothing is done: the rest stays what it is.
pub(super) struct Chosen(Vec<(Operation, bool)>);

impl Chosen {
    /// Whether this one may come up.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names().any(|other| other == name)
    }

    /// What may come up.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter(|(_, allowed)| *allowed).map(|(operation, _)| operation.name)
    }
}

/// All but these.
pub(super) fn chosen(without: &[&str]) -> Outcome<Chosen> {
    let known = |name: &&str| OPERATIONS.iter().any(|operation| operation.name == *name);
    if let Some(unknown) = without.iter().find(|name| !known(name)) {
        return Err(format!("no operation {unknown:?}").into());
    }
    let allowed = |operation: &Operation| !without.contains(&operation.name);
    Ok(Chosen(OPERATIONS.iter().map(|operation| (*operation, allowed(operation))).collect()))
}

/// The next operation, by weight; nothing where it may not come up.
pub(super) fn pick(chosen: &Chosen, random: &mut Random) -> Option<Operation> {
    let mut left = random.below(OPERATIONS.iter().map(|operation| operation.weight).sum());
    for (operation, allowed) in &chosen.0 {
        if left < operation.weight {
            return allowed.then_some(*operation);
        }
        left -= operation.weight;
    }
    None
}
