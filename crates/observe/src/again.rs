//! Programs that do the work of another where the kernel skipped it (`bpf/again.bpf.h`). Pure.

/// For each program those behind it on its tracepoint. System calls and added pages are what busy tasks are preempted in.
const AGAIN: [(&str, &[&str]); 14] = [
    ("sys_enter", &["sys_enter_again1", "sys_enter_again2"]),
    ("sys_exit", &["sys_exit_again1", "sys_exit_again2"]),
    ("page_added", &["page_added_again1", "page_added_again2"]),
    ("folio_dirtied", &["folio_dirtied_again1"]),
    ("bio_queued", &["bio_queued_again1"]),
    ("fault_lookup", &["fault_lookup_again1"]),
    ("fault_around", &["fault_around_again1"]),
    ("task_new", &["task_new_again1"]),
    ("task_exec", &["task_exec_again1"]),
    ("task_exit", &["task_exit_again1"]),
    ("uring_submit", &["uring_submit_again1"]),
    ("uring_complete", &["uring_complete_again1"]),
    ("direct_begun", &["direct_begun_again1"]),
    ("direct_ended", &["direct_ended_again1"]),
];

/// Where programs are not preempted, this one is skipped only when an interrupt comes while a task on that CPU is in it. That
/// is no loss: direct I/O whose end was not seen is counted as having bypassed the cache as a whole (`past_cache`).
const INTERRUPTS: &str = "direct_ended";

/// Those that stand behind any of these programs.
pub(crate) fn behind(programs: &[&str]) -> Vec<&'static str> {
    let chosen = AGAIN.iter().filter(|(program, _)| programs.contains(program));
    chosen.flat_map(|(_, again)| again.iter().copied()).collect()
}

/// The program whose work this one does; itself, if it is not one of those.
pub(crate) fn original(program: &str) -> &str {
    program.rsplit_once("_again").map_or(program, |(original, _)| original)
}

/// Events that no program handled, at most, by how often each program was skipped, and how many events others rescued.
///
/// An event is lost only where all programs for it were skipped, so that the one that was skipped least says how many there
/// can be; and what the first were skipped for is either rescued or lost (or none of ours).
pub(crate) fn lost<'a>(
    skipped: impl IntoIterator<Item = (&'a str, u64)>,
    rescued: u64,
    preemptible: bool,
) -> u64 {
    let counts = |(program, _): &(&str, u64)| preemptible || *program != INTERRUPTS;
    let skipped: Vec<(&str, u64)> = skipped.into_iter().filter(counts).collect();
    let (mut alone, mut first, mut least) = (0, 0, 0);
    for (program, times) in skipped.iter().filter(|(program, _)| original(program) == *program) {
        let again =
            skipped.iter().filter(|(other, _)| other != program && original(other) == *program);
        match again.map(|(_, times)| *times).min() {
            None => alone += times,
            Some(fewest) => {
                first += times;
                least += fewest.min(*times);
            }
        }
    }
    alone + first.saturating_sub(rescued).min(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stands_behind_a_program_that_is_loaded() {
        let all = behind(&["sys_enter", "task_new", "page_deleted"]);
        assert_eq!(all, ["sys_enter_again1", "sys_enter_again2", "task_new_again1"]);
        for (program, again) in AGAIN {
            assert!(again.iter().all(|again| original(again) == program), "{program}");
        }
    }

    #[test]
    fn lost_is_what_all_skipped() {
        let skipped =
            [("sys_exit", 90), ("page_deleted", 4), ("sys_exit_again1", 2), ("sys_exit_again2", 0)];
        assert_eq!(lost(skipped, 90, true), 4);
        let twice = [("sys_exit", 90), ("sys_exit_again1", 2)];
        assert_eq!([0, 89, 90, 91].map(|rescued| lost(twice, rescued, true)), [2, 1, 0, 0]);
    }

    #[test]
    fn an_end_in_an_interrupt_is_lost_to_preempted_programs_only() {
        let skipped = [("direct_ended", 70), ("bio_queued", 1)];
        assert_eq!([true, false].map(|preemptible| lost(skipped, 0, preemptible)), [71, 1]);
    }
}
