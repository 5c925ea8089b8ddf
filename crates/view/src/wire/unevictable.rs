//! Why pages stay in the cache.

use hotset_facts::Unevictable;
use serde::{Deserialize, Serialize};

use super::adapt::remote;

/// What keeps pages in the cache.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Unevictable", rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) enum UnevictableDef {
    Dirty,
    Writeback,
    Mapped,
    Locked,
    MemoryOnly,
    Unknown,
}

remote!(UnevictableDef => Unevictable);
