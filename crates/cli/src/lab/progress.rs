//! The line that shows how far an experiment is.

use hotset_lab::experiment::{LabProgress, Watcher};

use crate::output::StatusLine;

impl Watcher for StatusLine {
    fn progress(&mut self, progress: &LabProgress<'_>) {
        self.show(|| line(progress));
    }
}

fn line(progress: &LabProgress<'_>) -> String {
    let LabProgress { experiment, doing, rounds_done, rounds, samples_done, samples, left } =
        progress;
    let Some(left) = left else {
        return format!("lab {experiment}: {doing} ({samples_done}/{samples})");
    };
    let round = rounds_done + 1;
    let seconds = left.as_secs();
    let left = if seconds < 120 { format!("{seconds} s") } else { format!("{} min", seconds / 60) };
    format!(
        "lab {experiment}: round {round} of {rounds}, {samples_done}/{samples}, {left} left: {doing}"
    )
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_time_left_is_told_once_it_is_known() {
        let progress = LabProgress {
            experiment: "access",
            doing: "access/pread",
            rounds_done: 0,
            rounds: 15,
            samples_done: 3,
            samples: 60,
            left: None,
        };
        assert_eq!(line(&progress), "lab access: access/pread (3/60)");
        let later = LabProgress { rounds_done: 2, left: Some(Duration::from_secs(25)), ..progress };
        assert_eq!(line(&later), "lab access: round 3 of 15, 3/60, 25 s left: access/pread");
        let long = LabProgress { left: Some(Duration::from_secs(600)), ..later };
        assert!(line(&long).contains("10 min left"));
    }
}
