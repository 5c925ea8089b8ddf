//! Parts of formats that are not declared in [`crate::wire`] yet.

mod environment_in;

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::SystemTime;

use hotset_facts::{Environment, Filesystem};
use serde::Serialize;

pub(crate) use environment_in::EnvironmentIn;

/// A path as text, and its bytes in hexadecimal where the text is not exact.
pub(crate) fn path_keys(path: &Path) -> (Cow<'_, str>, Option<String>) {
    let bytes = path.as_os_str().as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(exact) => (exact.into(), None),
        Err(_) => {
            let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            (path.to_string_lossy(), Some(hex))
        }
    }
}

/// What [`path_keys`] wrote; none where the hexadecimal text is none.
pub(crate) fn bytes_of(text: &str, hex: Option<&str>) -> Option<std::ffi::OsString> {
    use std::os::unix::ffi::OsStringExt as _;
    let Some(hex) = hex else { return Some(text.into()) };
    let pairs = hex.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair).ok().filter(|pair| pair.len() == 2)?;
        u8::from_str_radix(pair, 16).ok()
    });
    pairs.collect::<Option<Vec<u8>>>().map(std::ffi::OsString::from_vec)
}

/// RFC 3339 in UTC; a clock beyond the year 9999 prints as its end.
pub(crate) fn rfc3339(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::MAX).to_string()
}

#[derive(Serialize)]
struct FilesystemV1<'a> {
    mount: Cow<'a, str>,
    mount_hex: Option<String>,
    #[serde(rename = "type")]
    fs_type: String,
    device: String,
    dev: String,
    options: String,
    read_ahead_kb: Option<u64>,
}

impl<'a> From<&'a Filesystem> for FilesystemV1<'a> {
    fn from(filesystem: &'a Filesystem) -> Self {
        let (mount, mount_hex) = path_keys(&filesystem.mount);
        Self {
            mount,
            mount_hex,
            fs_type: filesystem.fs_type.clone(),
            device: filesystem.device.clone(),
            dev: filesystem.dev.to_string(),
            options: filesystem.options.clone(),
            read_ahead_kb: filesystem.read_ahead_kb.value(),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct EnvironmentV1<'a> {
    kernel: String,
    page_size_bytes: u64,
    cpus: u32,
    memory_bytes: u64,
    memory_limit_bytes: Option<u64>,
    evicts_idle_cache: bool,
    filesystems: Vec<FilesystemV1<'a>>,
}

impl<'a> From<&'a Environment> for EnvironmentV1<'a> {
    fn from(environment: &'a Environment) -> Self {
        Self {
            kernel: environment.kernel.clone(),
            page_size_bytes: environment.page_size_bytes,
            cpus: environment.cpus,
            memory_bytes: environment.memory_bytes,
            memory_limit_bytes: environment.memory_limit_bytes,
            evicts_idle_cache: environment.evicts_idle_cache,
            filesystems: environment.filesystems.iter().map(FilesystemV1::from).collect(),
        }
    }
}
