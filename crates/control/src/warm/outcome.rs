//! What warming reached for one file, and why it did not reach more.

use hotset_facts::{ControlVerb, ControlledFile, StayReason, Stayed};
use hotset_sys::cache::{ControlError, Warmed};
use hotset_sys::tree::Found;

use super::guard::Halt;

pub(super) fn of(file: &Found<'_>, warmed: Warmed, halt: Option<Halt>) -> ControlledFile {
    let mut outcome = ControlledFile {
        path: file.path.to_owned(),
        id: file.id,
        size_bytes: warmed.size_bytes,
        pages: warmed.change.pages,
        cached_before: warmed.change.cached_before,
        cached_after: warmed.change.cached_after,
        stayed: Vec::new(),
        error: warmed.error.as_ref().map(message),
    };
    let short = outcome.short_pages(ControlVerb::Warm);
    if short != Some(0) {
        let reason = reason(outcome.error.is_some(), halt.filter(|_| warmed.stopped));
        outcome.stayed.push(Stayed { reason, pages: short, holder: None });
    }
    outcome
}

/// Why pages are missing: a failure comes first, then what stopped this file.
fn reason(failed: bool, halt: Option<Halt>) -> StayReason {
    match halt {
        _ if failed => StayReason::Unreadable,
        Some(Halt::Budget) => StayReason::Budget,
        Some(Halt::Memory | Halt::Thrashing) => StayReason::Memory,
        Some(Halt::Interrupted) => StayReason::Interrupted,
        None => StayReason::Unknown,
    }
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
        assert_eq!(reason(true, Some(Halt::Budget)), StayReason::Unreadable);
        let reasons = [Halt::Budget, Halt::Memory, Halt::Thrashing, Halt::Interrupted];
        let words = reasons.map(|halt| reason(false, Some(halt)).as_str());
        assert_eq!(words, ["budget", "memory", "memory", "interrupted"]);
        assert_eq!(reason(false, None), StayReason::Unknown, "others were stopped, not this file");
    }

    #[test]
    fn the_message_leaves_the_path_out() {
        let errno = rustix::io::Errno::IO;
        let error = ControlError::Read { path: "/x".into(), offset: 8192, errno };
        assert!(message(&error).starts_with("reading at byte 8192 failed: "), "{error}");
    }
}
