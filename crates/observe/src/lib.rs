//! The sensor.
