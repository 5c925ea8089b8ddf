//! Times, and numbers of devices, as text.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::Dev;

/// A time by RFC 3339, in UTC. A clock beyond the year 9999 is written as its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Time(
    #[cfg_attr(
        feature = "schema",
        schemars(regex(
            pattern = r"^-?[0-9]{4,}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$"
        ))
    )]
    String,
);

/// As text, in UTC.
pub fn rfc3339(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX).to_string()
}

impl From<&SystemTime> for Time {
    fn from(time: &SystemTime) -> Self {
        Self(rfc3339(*time))
    }
}

impl TryFrom<Time> for SystemTime {
    type Error = String;

    fn try_from(Time(text): Time) -> Result<Self, String> {
        let time: Result<jiff::Timestamp, _> = text.parse();
        let wrong = |_| format!("\"{text}\"; expected a time such as 2026-01-31T12:00:00Z");
        time.map(SystemTime::from).map_err(wrong)
    }
}

/// A [`Time`], or null where none is known.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct KnownTime(Option<Time>);

impl From<&Option<SystemTime>> for KnownTime {
    fn from(time: &Option<SystemTime>) -> Self {
        Self(time.as_ref().map(Time::from))
    }
}

impl TryFrom<KnownTime> for Option<SystemTime> {
    type Error = String;

    fn try_from(KnownTime(time): KnownTime) -> Result<Self, String> {
        time.map(SystemTime::try_from).transpose()
    }
}

super::stands_for!(Time => SystemTime, KnownTime => Option<SystemTime>);

/// A device number, such as `253:1`.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Device"))]
pub(crate) struct DeviceNumber(
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9]+:[0-9]+$")))] String,
);

impl From<Dev> for DeviceNumber {
    fn from(dev: Dev) -> Self {
        Self(dev.to_string())
    }
}

impl TryFrom<DeviceNumber> for Dev {
    type Error = String;

    fn try_from(DeviceNumber(text): DeviceNumber) -> Result<Self, String> {
        let numbers = text.split_once(':');
        let dev = numbers.and_then(|(major, minor)| {
            Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
        });
        dev.ok_or_else(|| format!("\"{text}\"; expected a device number such as 253:1"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::{json, value::Serializer};

    use super::*;

    #[test]
    fn times_come_back_to_the_nanosecond() -> Result<(), serde_json::Error> {
        let now = UNIX_EPOCH + Duration::new(1_795_270_000, 123_456_789);
        assert_eq!(rfc3339(now), "2026-11-21T14:06:40.123456789Z");
        for time in [now, UNIX_EPOCH, UNIX_EPOCH - Duration::from_millis(1)] {
            assert_eq!(Time::deserialize(Time::serialize(&time, Serializer)?)?, time);
        }
        Ok(())
    }

    #[test]
    fn a_time_that_is_not_known_is_null() -> Result<(), serde_json::Error> {
        for (time, wanted) in
            [(None, json!(null)), (Some(UNIX_EPOCH), json!("1970-01-01T00:00:00Z"))]
        {
            let written = KnownTime::serialize(&time, Serializer)?;
            assert_eq!(written, wanted);
            assert_eq!(KnownTime::deserialize(written)?, time);
        }
        Ok(())
    }

    #[test]
    fn a_time_beyond_all_calendars_is_their_end() {
        let far = UNIX_EPOCH + Duration::from_secs(1 << 50);
        assert_eq!(rfc3339(far), jiff::Timestamp::MAX.to_string());
    }

    #[test]
    fn what_is_no_time_and_no_device_is_an_error_that_shows_one() {
        for wrong in ["", "yesterday", "2026-13-01T00:00:00Z"] {
            let error = Time::deserialize(json!(wrong)).expect_err(wrong).to_string();
            assert!(error.contains("2026-01-31T12:00:00Z"), "{error}");
        }
        let device = |text: &str| Dev::try_from(DeviceNumber(text.to_owned()));
        assert_eq!(device("253:1"), Ok(Dev { major: 253, minor: 1 }));
        for wrong in ["", "253", "vda", "1:2:3", "-1:2", "4294967296:0"] {
            assert!(device(wrong).is_err_and(|error| error.contains("253:1")), "{wrong}");
        }
    }
}
