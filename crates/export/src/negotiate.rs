//! Which text a client wants, by its `Accept` header (RFC 9110, 12.5.1).

use hotset_view::metrics::Exposition;

/// The format that the client likes best; the older one where it does not say, since every client knows that.
pub(super) fn negotiate(accept: Option<&str>) -> Exposition {
    let (mut open, mut plain) = (0.0_f64, 0.0_f64);
    for range in accept.unwrap_or_default().split(',') {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let parameters: Vec<(&str, &str)> = parts.filter_map(|part| part.split_once('=')).collect();
        let parameter = |name: &str| {
            let found = parameters.iter().find(|(key, _)| key.trim().eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.trim().trim_matches('"'))
        };
        let quality = parameter("q").map_or(1.0, |q| q.parse().unwrap_or(0.0));
        match kind.as_str() {
            "application/openmetrics-text" if parameter("version").is_none_or(|v| v == "1.0.0") => {
                open = open.max(quality);
            }
            "text/plain" | "text/*" | "*/*" => plain = plain.max(quality),
            _ => {}
        }
    }
    if open > 0.0 && open >= plain { Exposition::OpenMetrics } else { Exposition::Prometheus }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_openmetrics_gets_it_and_nobody_else() {
        use Exposition::{OpenMetrics, Prometheus};
        let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;\
                          version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        for (accept, wanted) in [
            (None, Prometheus),
            (Some("*/*"), Prometheus),
            (Some("text/html,application/xhtml+xml,*/*;q=0.8"), Prometheus),
            (Some(prometheus), OpenMetrics),
            (Some("application/openmetrics-text; version=\"1.0.0\"; charset=utf-8"), OpenMetrics),
            (Some("Application/OpenMetrics-Text"), OpenMetrics),
            (Some("application/openmetrics-text;version=0.0.1"), Prometheus),
            (Some("application/openmetrics-text;q=0"), Prometheus),
            (Some("application/openmetrics-text;q=0.4,text/plain;q=0.5"), Prometheus),
            (Some("application/openmetrics-text;q=x"), Prometheus),
            (Some(";;=,,"), Prometheus),
        ] {
            assert_eq!(negotiate(accept), wanted, "{accept:?}");
        }
    }
}
