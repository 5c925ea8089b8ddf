//! Why a change can't be made.

use std::fmt;

use super::{Change, all};

/// Why a change can't be read or made.
#[derive(Debug, Clone)]
pub enum ChangeError {
    /// There is no such change.
    Unknown {
        /// What was asked for.
        text: String,
    },
    /// It was asked for with another argument than it takes.
    Argument {
        /// What was asked for.
        text: String,
        /// The change that its name is of.
        change: &'static Change,
        /// What is wrong with the argument.
        why: String,
    },
    /// The plan has nothing that it would change.
    NotApplicable {
        /// The change as it was asked for.
        change: String,
        /// What the plan lacks.
        why: String,
    },
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { text } => {
                write!(f, "unknown change {text:?}; valid changes: ")?;
                for (at, change) in all().iter().enumerate() {
                    let comma = if at == 0 { "" } else { ", " };
                    write!(f, "{comma}{change}")?;
                }
                Ok(())
            }
            Self::Argument { text, change, why } => {
                write!(f, "cannot apply {text:?}: {why}; use {change}")
            }
            Self::NotApplicable { change, why } => {
                write!(f, "change {change} does not apply to this recording: {why}")
            }
        }
    }
}

impl std::error::Error for ChangeError {}
