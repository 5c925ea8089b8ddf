//! What is in a baseline, for messages.

use hotset_facts::{Baseline, BenchCommand, ConditionRole, WantedState};

/// The conditions of a baseline, each once: a command's name and a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedBaseline {
    parts: Vec<(String, WantedState)>,
}

impl DescribedBaseline {
    /// True where it has this command in this state.
    pub fn has(&self, command: &str, state: WantedState) -> bool {
        self.parts.iter().any(|(name, known)| name == command && *known == state)
    }

    /// `git status (cold), git status (warm)`.
    pub fn words(&self) -> String {
        let labels = self.parts.iter().map(|(name, state)| label(name, *state));
        labels.collect::<Vec<_>>().join(", ")
    }
}

/// What is in it.
pub fn describe(baseline: &Baseline) -> DescribedBaseline {
    let mut parts: Vec<(String, WantedState)> = Vec::new();
    for session in &baseline.sessions {
        for one in &session.conditions {
            let Some(command) = session.commands.get(one.condition.command) else { continue };
            let part = (command.name.clone(), one.condition.state);
            if one.condition.role == ConditionRole::Measured && !parts.contains(&part) {
                parts.push(part);
            }
        }
    }
    DescribedBaseline { parts }
}

/// `git status (cold)`.
pub(super) fn label(command: &str, state: WantedState) -> String {
    format!("{command} ({state})")
}

/// The words of a command, as far as they are text.
pub(super) fn words(command: &BenchCommand) -> String {
    let words = command.argv.iter().map(|word| word.to_string_lossy());
    words.collect::<Vec<_>>().join(" ")
}
