//! What a run observed.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Pid;
use crate::format::{Cgroup, Hex, TwoKeys};

/// What was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", try_from = "TargetKeys")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Target {
    /// A command that hotset started, with its children.
    Command,
    /// A process that was running already, with its children.
    Pid {
        /// Its PID.
        pid: Pid,
    },
    /// A control group.
    Cgroup {
        /// Its path.
        #[serde(flatten, with = "Cgroup")]
        path: PathBuf,
    },
    /// The whole host.
    System,
}

/// The keys of every kind of target: an error can say which one is wrong.
#[derive(Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct TargetKeys {
    kind: TargetKind,
    pid: Option<Pid>,
    cgroup: Option<String>,
    /// Null is not the same as a key that is not there.
    #[serde(default, deserialize_with = "there")]
    cgroup_hex: Option<Option<Hex>>,
}

/// Reads what a key has that is there.
fn there<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<Hex>>, D::Error> {
    Deserialize::deserialize(from).map(Some)
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
enum TargetKind {
    Command,
    Pid,
    Cgroup,
    System,
}

impl TryFrom<TargetKeys> for Target {
    type Error = &'static str;

    fn try_from(keys: TargetKeys) -> Result<Self, Self::Error> {
        Ok(match keys.kind {
            TargetKind::Command => Self::Command,
            TargetKind::System => Self::System,
            TargetKind::Pid => Self::Pid { pid: keys.pid.ok_or("expected a number in pid")? },
            TargetKind::Cgroup => {
                let text = keys.cgroup.ok_or("expected a path in cgroup")?;
                let hex = keys.cgroup_hex.ok_or("expected cgroup_hex beside cgroup")?;
                Self::Cgroup { path: TwoKeys::join(text, hex)? }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use serde_json::json;

    use super::*;

    #[test]
    fn every_target_comes_back() -> Result<(), serde_json::Error> {
        use std::os::unix::ffi::OsStringExt as _;

        let odd = OsString::from_vec(b"/a\xff.slice".to_vec());
        for target in [
            Target::Command,
            Target::Pid { pid: 77 },
            Target::Cgroup { path: "/a.slice".into() },
            Target::Cgroup { path: odd.into() },
            Target::System,
        ] {
            let json = serde_json::to_value(&target)?;
            assert_eq!(serde_json::from_value::<Target>(json)?, target);
        }
        Ok(())
    }

    #[test]
    fn a_target_that_lacks_a_key_names_it() {
        for (wrong, key) in [
            (json!({"kind": "pid"}), "pid"),
            (json!({"kind": "cgroup", "cgroup_hex": null}), "cgroup"),
            (json!({"kind": "cgroup", "cgroup": "/a"}), "cgroup_hex"),
            (json!({"pid": 7}), "kind"),
            (json!({"kind": "planet"}), "planet"),
        ] {
            let error = serde_json::from_value::<Target>(wrong).expect_err(key).to_string();
            assert!(error.contains(key), "{error}");
        }
    }
}
