//! Probes of other languages that an experiment shows beside its native cells.

use hotset_facts::LabSkipped;

use super::request::Request;
use crate::probes::{Interpreter, Language, Probe, cache_directory, find};

/// Those of these languages that the host has, by their usual names or by `--interpreter`; and the others, with the way to
/// get them.
pub(super) fn of(request: &Request, languages: &[Language]) -> (Vec<Probe>, Vec<LabSkipped>) {
    let named: Vec<Interpreter> = (request.options.interpreters.iter().cloned())
        .map(|(name, path)| Interpreter { name, path })
        .collect();
    let cache = cache_directory().unwrap_or_else(|| request.path("probes"));
    find(languages, &named, &cache)
}
