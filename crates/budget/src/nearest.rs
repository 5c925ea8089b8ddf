//! The name that somebody may have meant.

/// Names that are less alike are no help; what clap takes for its own suggestions.
const ALIKE: f64 = 0.7;

/// The known name that is most like this one, if one is.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.into_iter().map(|other| (strsim::jaro_winkler(name, other), other));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(alike, _)| *alike > ALIKE).map(|(_, other)| other)
}

/// `; did you mean "X"?`, or nothing.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|other| format!("; did you mean \"{other}\"?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_alike_is_suggested() {
        let known = ["read.calls", "write.calls", "sync.calls"];
        assert_eq!(nearest("read.call", known), Some("read.calls"));
        assert_eq!(nearest("reads", known), Some("read.calls"));
        assert_eq!(nearest("xyz", known), None);
        assert_eq!(did_you_mean("synccalls", known), "; did you mean \"sync.calls\"?");
        assert_eq!(did_you_mean("", []), "");
    }
}
