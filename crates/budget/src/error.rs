//! What is wrong with a budget.

use std::fmt;

/// Something that a budget can't mean, with its place where that is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct BudgetError {
    /// The line, from 1 on.
    pub line: Option<usize>,
    /// What it is, and what would be right.
    pub message: String,
}

impl BudgetError {
    /// Without a place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into() }
    }

    /// At a byte of the text.
    pub(crate) fn at(text: &str, byte: Option<usize>, message: impl Into<String>) -> Self {
        let before = byte.and_then(|byte| text.as_bytes().get(..byte));
        let line = before.map(|before| 1 + before.iter().filter(|&&one| one == b'\n').count());
        Self { line, message: message.into() }
    }
}

impl fmt::Display for BudgetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}
