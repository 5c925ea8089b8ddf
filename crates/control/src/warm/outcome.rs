//! What warming reached for one file, and why it did not reach more.

use hotset_facts::{ControlVerb, ControlledFile, NotCached};
use hotset_sys::cache::{ControlError, Warmed};
use hotset_sys::tree::Found;

use crate::outcomes::changed;

pub(super) fn of(file: &Found<'_>, warmed: Warmed, halt: Option<NotCached>) -> ControlledFile {
    let mut outcome = changed(file.path, file.id, warmed.size_bytes, warmed.change);
    outcome.error = warmed.error.as_ref().map(message);
    if outcome.short_pages(ControlVerb::Warm) != Some(0) {
        let halt = halt.filter(|_| warmed.stopped);
        outcome.not_cached = Some(reason(outcome.error.is_some(), halt));
    }
    outcome
}

/// Why pages are missing: a failure comes first, then what stopped this file.
fn reason(failed: bool, halt: Option<NotCached>) -> NotCached {
    if failed { NotCached::Unreadable } else { halt.unwrap_or(NotCached::Unknown) }
}

/// The path is named where this is shown.
fn message(error: &ControlError) -> String {
    match error {
        ControlError::Read { offset, errno, .. } => {
            format!("reading at byte {offset} failed: {errno}")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_before_what_stopped_it() {
        assert_eq!(reason(true, Some(NotCached::Budget)), NotCached::Unreadable);
        assert_eq!(reason(false, Some(NotCached::Memory)), NotCached::Memory);
        assert_eq!(reason(false, None), NotCached::Unknown, "others were stopped, not this file");
    }

    #[test]
    fn the_message_leaves_the_path_out() {
        let errno = rustix::io::Errno::IO;
        let error = ControlError::Read { path: "/x".into(), offset: 8192, errno };
        assert!(message(&error).starts_with("reading at byte 8192 failed: "), "{error}");
    }
}
