//! `hotset export --otlp`, with a receiver that reads every push as the protocol's JSON form wants it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hotset_tests::exporter::Exporter;
use hotset_tests::until;
use serde_json::Value;

/// A push as it came.
struct Push {
    request: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// Answers each push with the next of `statuses`, and the last of them from then on.
fn receiver(statuses: &'static [&'static str]) -> (String, Receiver<Push>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("its address"));
    let (sender, pushes) = channel();
    std::thread::spawn(move || {
        let mut answered = 0;
        for mut stream in listener.incoming().flatten() {
            while let Some(push) = take(&mut stream) {
                let status = statuses[answered.min(statuses.len() - 1)];
                answered += 1;
                let body = r#"{"partialSuccess":{"rejectedDataPoints":"2","errorMessage":"two"}}"#;
                let kind = "Content-Type: application/json";
                let length = body.len();
                let _ = write!(
                    stream,
                    "HTTP/1.1 {status}\r\n{kind}\r\nContent-Length: {length}\r\n\r\n{body}"
                );
                if sender.send(push).is_err() {
                    return;
                }
            }
        }
    });
    (url, pushes)
}

fn take(stream: &mut TcpStream) -> Option<Push> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        (reader.read_line(&mut line).ok()? > 0).then(|| line.trim_end().to_owned())
    };
    let request = line()?;
    let mut headers = Vec::new();
    while let Some((name, value)) = line()?.split_once(':') {
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Push { request, headers, body })
}

fn keys<'a>(value: &'a Value, allowed: &[&str]) -> &'a serde_json::Map<String, Value> {
    let object = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    for key in object.keys() {
        assert!(allowed.contains(&key.as_str()), "{key:?} is no field there: {value}");
    }
    object
}

/// uint64, int64 and fixed64 are decimal strings in the JSON form of protocol buffers.
fn whole(value: &Value) -> u64 {
    let text = value.as_str().unwrap_or_else(|| panic!("no string: {value}"));
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("no string: {value}"))
}

fn attributes(value: &Value) -> Vec<(String, String)> {
    let list = value.as_array().unwrap_or_else(|| panic!("no list: {value}"));
    (list.iter())
        .map(|pair| {
            keys(pair, &["key", "value"]);
            keys(&pair["value"], &["stringValue"]);
            (text(&pair["key"]).to_owned(), text(&pair["value"]["stringValue"]).to_owned())
        })
        .collect()
}

/// Checks ExportMetricsServiceRequest, field by field, and counts its points.
fn check(body: &Value) -> usize {
    keys(body, &["resourceMetrics"]);
    let resource = &body["resourceMetrics"][0];
    keys(resource, &["resource", "scopeMetrics"]);
    keys(&resource["resource"], &["attributes"]);
    let who = attributes(&resource["resource"]["attributes"]);
    for wanted in ["host.name", "service.instance.id", "service.name", "service.version"] {
        assert!(who.iter().any(|(key, value)| key == wanted && !value.is_empty()), "{who:?}");
    }
    let scope = &resource["scopeMetrics"][0];
    keys(scope, &["scope", "metrics"]);
    keys(&scope["scope"], &["name", "version"]);
    let metrics = scope["metrics"].as_array().expect("metrics");
    metrics.iter().map(check_metric).sum()
}

fn check_metric(metric: &Value) -> usize {
    let object = keys(metric, &["name", "description", "unit", "sum", "gauge"]);
    assert!(!text(&metric["name"]).ends_with("_total") && !text(&metric["description"]).is_empty());
    assert!(["1", "By", "s", "{page}"].contains(&text(&metric["unit"])), "{metric}");
    assert!(object.contains_key("sum") != object.contains_key("gauge"), "one of both: {metric}");
    let is_sum = object.contains_key("sum");
    let data = if is_sum {
        keys(&metric["sum"], &["dataPoints", "aggregationTemporality", "isMonotonic"]);
        // The number and not the name of AGGREGATION_TEMPORALITY_CUMULATIVE.
        assert_eq!(metric["sum"]["aggregationTemporality"], 2);
        assert_eq!(metric["sum"]["isMonotonic"], true);
        &metric["sum"]
    } else {
        keys(&metric["gauge"], &["dataPoints"]);
        &metric["gauge"]
    };
    let points = data["dataPoints"].as_array().expect("points");
    assert!(!points.is_empty(), "{metric}");
    for point in points {
        let allowed = ["attributes", "startTimeUnixNano", "timeUnixNano", "asInt", "asDouble"];
        let object = keys(point, &allowed);
        attributes(&point["attributes"]);
        let at = whole(&point["timeUnixNano"]);
        assert_eq!(object.contains_key("startTimeUnixNano"), is_sum, "{metric}");
        if is_sum {
            assert!(whole(&point["startTimeUnixNano"]) <= at, "{point}");
        }
        match (object.get("asInt"), object.get("asDouble")) {
            (Some(int), None) => drop(whole(int)),
            (None, Some(double)) => assert!(double.is_number(), "{point}"),
            _ => panic!("one of both: {point}"),
        }
    }
    points.len()
}

fn next(pushes: &Receiver<Push>) -> Push {
    pushes.recv_timeout(Duration::from_secs(120)).expect("a push")
}

#[test]
fn a_push_is_what_the_protocol_says() {
    let (url, pushes) = receiver(&["200 OK"]);
    let words =
        ["--otlp", &url, "--otlp-interval", "0.5", "--otlp-header", "X-Api-Key=secret", "--mounts"];
    let exporter = Exporter::start(&words);
    let push = next(&pushes);
    assert_eq!(push.request, "POST /v1/metrics HTTP/1.1");
    let header = |name: &str| {
        let found = push.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    };
    assert_eq!(header("content-type"), Some("application/json"));
    assert_eq!(header("x-api-key"), Some("secret"));
    let body: Value = serde_json::from_slice(&push.body).expect("JSON");
    assert!(check(&body) > 100);
    // Counters go on from one push to the next.
    let samples = |push: &Push| -> u64 {
        let body: Value = serde_json::from_slice(&push.body).expect("JSON");
        let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].clone();
        let all = metrics.as_array().expect("metrics").clone();
        let found =
            all.into_iter().find(|metric| metric["name"] == "hotset_samples").expect("samples");
        whole(&found["sum"]["dataPoints"][0]["asInt"])
    };
    assert!(samples(&next(&pushes)) > samples(&push));
    until("the count of what was refused", || {
        exporter.value("hotset_otlp_rejected_points_total").filter(|count| *count >= 2.0)
    });
    assert_eq!(exporter.said().matches("data points were refused").count(), 1);
    assert!(!exporter.said().contains("secret"));
    assert!(exporter.stop().success());
}

#[test]
fn a_receiver_that_is_busy_is_asked_again_and_sampling_goes_on() {
    let (url, pushes) = receiver(&["503 Busy", "429 Later", "200 OK"]);
    let exporter = Exporter::start(&["--otlp", &url, "--otlp-interval", "0.3"]);
    let (first, second, third) = (next(&pushes), next(&pushes), next(&pushes));
    assert!(first.body == second.body && second.body == third.body, "the same push again");
    exporter.settle();
    until("a push that was taken", || {
        exporter.value("hotset_otlp_pushes_total{result=\"taken\"}").filter(|count| *count >= 1.0)
    });
    assert_eq!(exporter.value("hotset_otlp_pushes_total{result=\"failed\"}"), Some(0.0));
    let said = until("both words", || {
        let said = exporter.said();
        said.contains("taken again").then_some(said)
    });
    assert_eq!(said.matches("the receiver answers").count(), 1, "{said}");
}

#[test]
fn what_is_refused_or_has_no_receiver_is_counted_and_said_once() {
    let (url, pushes) = receiver(&["400 Bad Request"]);
    let exporter = Exporter::start(&["--otlp", &url, "--otlp-interval", "0.3"]);
    let (first, second) = (next(&pushes), next(&pushes));
    assert!(first.body != second.body, "a push that is refused is not sent again");
    until("failures", || {
        exporter.value("hotset_otlp_pushes_total{result=\"failed\"}").filter(|count| *count >= 2.0)
    });
    assert_eq!(exporter.said().matches("400 Bad Request").count(), 1, "{}", exporter.said());
    // Nobody listens there any more.
    let nobody = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let exporter =
        Exporter::start(&["--otlp", &format!("http://{nobody}"), "--otlp-interval", "0.2"]);
    until("a word", || exporter.said().contains("hotset goes on").then_some(()));
    exporter.settle();
    assert_eq!(exporter.get("/healthz").status, 200);
    // It does not wait for a receiver that is not there.
    assert!(exporter.stop().success());
}
