//! What a recording lacks, in sentences: who reads its trace later can't ask.

use hotset_facts::SensorLosses;
use hotset_facts::units::plural;

use crate::sites::Named;

/// What the sensor lost, beside records that found no room: those are in gaps.
pub(super) fn of_sensor(losses: &SensorLosses) -> Vec<String> {
    let lacks = [
        (losses.tasks, "thread", "could not be followed: no record tells what they did."),
        (
            losses.requests,
            "request",
            "of io_uring or Linux AIO could not be followed, and have no records.",
        ),
        (
            losses.skipped_programs,
            "event",
            "of the kernel were not seen, for the sensor was busy: pages and bytes of them are in no record.",
        ),
        (losses.events, "name", "of files or events of processes were lost: paths can be missing."),
        (
            losses.origins,
            "range of pages",
            "could not be remembered: read-ahead hits in them are recorded as other hits.",
        ),
    ];
    let lost = lacks.into_iter().filter(|(count, ..)| *count > 0);
    lost.map(|(count, what, rest)| format!("{} {rest}", counted(count, what))).collect()
}

/// Records whose call site is not known, in a recording with call sites.
pub(super) fn of_sites(named: &Named) -> Option<String> {
    (named.records > 0).then(|| {
        let records = plural(named.records, "record");
        format!("The call site of {records} is not known: its chain was still looked for, or there were too many.")
    })
}

fn counted(count: u64, what: &str) -> String {
    match what.split_once(' ') {
        Some((noun, rest)) => format!("{} {rest}", plural(count, noun)),
        None => plural(count, what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_loss_is_said_and_nothing_else() {
        assert_eq!(of_sensor(&SensorLosses::default()), [""; 0]);
        let losses = SensorLosses { origins: 1, requests: 2, ..SensorLosses::default() };
        let said = [
            "2 requests of io_uring or Linux AIO could not be followed, and have no records.",
            "1 range of pages could not be remembered: read-ahead hits in them are recorded as other hits.",
        ];
        assert_eq!(of_sensor(&losses), said);
        assert_eq!(of_sites(&Named::default()), None);
        let named = Named { records: 1, ..Named::default() };
        assert!(of_sites(&named).is_some_and(|said| said.contains("of 1 record is")));
    }
}
