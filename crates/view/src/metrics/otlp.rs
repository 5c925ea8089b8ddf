//! What an OpenTelemetry collector is sent: `ExportMetricsServiceRequest` in the JSON form of OTLP 1.
//!
//! Integers of 64 bits are strings there, enumerations are numbers, names are in camel case.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use super::{Family, Kind, Point, Value};

/// Who sends, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// `host.name`.
    pub host: String,
    /// `service.instance.id`: tells two that run on one host apart.
    pub instance: String,
    /// `service.version`.
    pub version: &'static str,
    /// Where the counters were zero that have no beginning of their own.
    pub started: SystemTime,
    /// When the values were true.
    pub at: SystemTime,
}

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u32 = 2;

/// The body of a request.
pub fn otlp_json(families: &[Family], resource: &Resource) -> Vec<u8> {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    let attributes = [
        text("service.name", "hotset"),
        text("service.version", resource.version),
        text("service.instance.id", &resource.instance),
        text("host.name", &resource.host),
    ];
    let metrics: Vec<Json> = families.iter().map(|family| metric(family, resource)).collect();
    let body = json!({
        "resourceMetrics": [{
            "resource": {"attributes": attributes},
            "scopeMetrics": [{
                "scope": {"name": "hotset", "version": resource.version},
                "metrics": metrics,
            }],
        }],
    });
    body.to_string().into_bytes()
}

fn metric(family: &Family, resource: &Resource) -> Json {
    let points: Vec<Json> =
        family.points.iter().map(|measured| point(measured, family.kind, resource)).collect();
    let mut metric = json!({
        "name": family.name,
        "description": family.help,
        "unit": family.unit.ucum(),
    });
    match family.kind {
        Kind::Counter => {
            metric["sum"] = json!({
                "dataPoints": points,
                "aggregationTemporality": CUMULATIVE,
                "isMonotonic": true,
            });
        }
        Kind::Gauge => metric["gauge"] = json!({"dataPoints": points}),
    }
    metric
}

fn point(point: &Point, kind: Kind, resource: &Resource) -> Json {
    let attributes: Vec<Json> = (point.labels.iter())
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| json!({"key": key, "value": {"stringValue": value}}))
        .collect();
    let mut json = json!({"attributes": attributes});
    if kind == Kind::Counter {
        json["startTimeUnixNano"] = nanos(point.since.unwrap_or(resource.started));
    }
    json["timeUnixNano"] = nanos(resource.at);
    match point.value {
        Value::Whole(value) => {
            // What does not fit into a signed integer is as good as its largest.
            json["asInt"] = i64::try_from(value).unwrap_or(i64::MAX).to_string().into();
        }
        Value::Nanos(ns) => json["asDouble"] = (ns as f64 / 1e9).into(),
    }
    json
}

fn nanos(at: SystemTime) -> Json {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string().into()
}
