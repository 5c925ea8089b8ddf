//! Where built probes are kept.

use std::path::PathBuf;

/// `hotset/probes` below the user's cache directory; none where the user has no home.
pub fn cache_directory() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")))?;
    base.is_absolute().then(|| base.join("hotset").join("probes"))
}
