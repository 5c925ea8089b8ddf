//! What is recommended as a file that another tool takes, with the reason of each number as a comment beside it.

mod comment;
mod k8s;
mod reasons;
mod systemd;
#[cfg(test)]
mod tests;
mod vpa;

use std::fmt;

use hotset_analysis::size::TooLittle;

use super::SizedTrace;
use comment::Lines;

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeForm {
    /// A patch of the resources of a container.
    K8s,
    /// A drop-in of a service.
    Systemd,
    /// A VerticalPodAutoscaler with a recommendation as its status.
    Vpa,
}

impl SizeForm {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::K8s, Self::Systemd, Self::Vpa];

    /// As `--emit` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::K8s => "k8s",
            Self::Systemd => "systemd",
            Self::Vpa => "vpa",
        }
    }

    /// Whether it names a container.
    pub fn is_of_container(self) -> bool {
        self != Self::Systemd
    }
}

/// Why there is no such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotEmitted {
    /// What the program must have is not known.
    NoMemory,
    /// Nothing is known of its files.
    NoReferences,
    /// Too many records are missing.
    Gaps,
    /// There is no limit to set, for this reason.
    NoLimit(String),
}

impl fmt::Display for NotEmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMemory => f.write_str(
                "the recording does not say how much memory the program uses beside its file cache; --other SIZE tells it",
            ),
            Self::Gaps => f.write_str(
                "too many records of the recording are missing to predict from; record it again with a larger --buffer, or with --lossless",
            ),
            Self::NoReferences => f.write_str(
                "no request of the recording has a known place in a file, so that the need of file cache is not known; \
                 expected a recording of `hotset record`",
            ),
            Self::NoLimit(why) => write!(f, "there is no limit to set. {why} `--emit k8s` writes the request alone"),
        }
    }
}

/// The file of this form. `container` is the name of the container that it is for; without it, a name stands there that Kubernetes
/// refuses.
///
/// # Errors
/// A number that it needs is not known.
pub fn emit_size(
    trace: &SizedTrace<'_>,
    form: SizeForm,
    container: Option<&str>,
) -> Result<String, NotEmitted> {
    let summary = trace.summary;
    let request = summary.request.ok_or(NotEmitted::NoMemory)?;
    match summary.too_little {
        Some(TooLittle::NoReferences) => return Err(NotEmitted::NoReferences),
        Some(TooLittle::Gaps) => return Err(NotEmitted::Gaps),
        _ => {}
    }
    let mut lines = Lines::default();
    match form {
        SizeForm::K8s => k8s::write(&mut lines, trace, &request, container),
        SizeForm::Systemd => systemd::write(&mut lines, trace)?,
        SizeForm::Vpa => vpa::write(&mut lines, trace, &request, container),
    }
    Ok(lines.finish())
}

/// What stands where a container's name belongs: Kubernetes refuses capital letters.
const CONTAINER: &str = "CONTAINER";

/// What to put in place of it, a sentence for a comment; nothing where the name is known.
fn replace(container: Option<&str>) -> String {
    match container {
        Some(_) => String::new(),
        None => {
            format!(
                "Replace {CONTAINER} by the name of the container (--emit-container NAME writes it). "
            )
        }
    }
}

/// A size in the largest unit that it is a whole number of: `182Mi`, `188420Ki`.
fn quantity(bytes: u64, units: [&str; 3]) -> String {
    let [mebi, kibi, none] = units;
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}{mebi}", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}{kibi}", bytes >> 10),
        _ => format!("{bytes}{none}"),
    }
}

/// As Kubernetes has it.
fn kubernetes(bytes: u64) -> String {
    quantity(bytes, ["Mi", "Ki", ""])
}
