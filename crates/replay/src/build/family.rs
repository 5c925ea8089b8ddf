//! Which threads belong to which process, and which processes one parent started.

use std::collections::HashMap;
use std::ops::Range;

use hotset_facts::Pid;

/// Siblings that are looked at for those that a new one came after: of a parent that starts more while one of them goes on, the last.
const MOST_SIBLINGS: usize = 256;

/// A thread in its place, and when it did what it did.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) pid: Option<Pid>,
    pub(super) parent: Option<Pid>,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
}

/// Threads of processes that one parent started.
#[derive(Debug, Default)]
struct Siblings {
    /// Their places, by when they began.
    at: Vec<usize>,
    /// When the last of those up to each of them had ended.
    ended_ns: Vec<u64>,
}

/// All threads by their place.
#[derive(Debug, Default)]
pub(super) struct Family {
    members: Vec<Member>,
    of_process: HashMap<Pid, Vec<usize>>,
    of_parent: HashMap<Pid, Siblings>,
}

impl Family {
    pub(super) fn new(members: Vec<Member>) -> Self {
        let mut of_process: HashMap<Pid, Vec<usize>> = HashMap::new();
        let mut of_parent: HashMap<Pid, Siblings> = HashMap::new();
        for (at, member) in members.iter().enumerate() {
            if let Some(pid) = member.pid {
                of_process.entry(pid).or_default().push(at);
            }
            if let Some(parent) = member.parent {
                of_parent.entry(parent).or_default().at.push(at);
            }
        }
        for siblings in of_parent.values_mut() {
            let of = |at: &usize| members.get(*at);
            siblings.at.sort_by_key(|at| of(at).map(|member| member.first_ns));
            let ended = siblings.at.iter().filter_map(of).scan(0, |latest, member| {
                *latest = member.last_ns.max(*latest);
                Some(*latest)
            });
            siblings.ended_ns = ended.collect();
        }
        Self { members, of_process, of_parent }
    }

    /// Threads of a process.
    pub(super) fn of_process(&self, pid: Pid) -> &[usize] {
        self.of_process.get(&pid).map_or(&[], Vec::as_slice)
    }

    /// Of the threads of `own`'s siblings that began and ended in a time: those after which none of them began.
    pub(super) fn last_siblings(&self, own: &Member, during_ns: Range<u64>) -> Vec<usize> {
        let Some(siblings) = own.parent.and_then(|parent| self.of_parent.get(&parent)) else {
            return Vec::new();
        };
        let of = |at: usize| self.members.get(at);
        let began_by = siblings
            .at
            .partition_point(|&at| of(at).is_some_and(|sibling| sibling.first_ns <= during_ns.end));
        let (mut last, mut latest_ns) = (Vec::new(), 0);
        // Of each slice by itself: a Zip walks over what is left out at its end.
        let up_to = siblings.at.iter().take(began_by).rev();
        let ended_ns = siblings.ended_ns.iter().take(began_by).rev();
        for (&at, &ended_ns) in up_to.zip(ended_ns).take(MOST_SIBLINGS) {
            let Some(sibling) = of(at) else { continue };
            if ended_ns < latest_ns || sibling.first_ns < during_ns.start {
                break;
            }
            if sibling.pid == own.pid || sibling.last_ns > during_ns.end {
                continue;
            }
            // They come by when they began, the latest first.
            latest_ns = sibling.first_ns.max(latest_ns);
            if sibling.last_ns >= latest_ns {
                last.push(at);
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::random::Random;

    use super::*;

    fn member(pid: Pid, first_ns: u64, last_ns: u64) -> Member {
        Member { pid: Some(pid), parent: Some(1), first_ns, last_ns }
    }

    /// The same as it is defined: a pass over all.
    fn looked_for(members: &[Member], own: &Member, during_ns: Range<u64>) -> Vec<usize> {
        let is_sibling = |other: &Member| {
            other.parent == own.parent
                && other.pid != own.pid
                && other.first_ns >= during_ns.start
                && other.last_ns <= during_ns.end
        };
        let ended: Vec<usize> = (0..members.len()).filter(|&at| is_sibling(&members[at])).collect();
        let latest_ns = ended.iter().map(|&at| members[at].first_ns).max().unwrap_or(0);
        ended.into_iter().filter(|&at| members[at].last_ns >= latest_ns).collect()
    }

    #[test]
    fn the_last_siblings_are_those_of_a_pass_over_all() {
        let mut found = 0;
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut below = |most: u64| random.below(most);
            let members: Vec<Member> = (0..40)
                .map(|_| {
                    let first_ns = below(1_000);
                    member(2 + below(20) as Pid, first_ns, first_ns + below(200))
                })
                .collect();
            let during_ns = below(300)..300 + below(900);
            let family = Family::new(members.clone());
            for own in &members {
                let mut last = family.last_siblings(own, during_ns.clone());
                last.sort_unstable();
                assert_eq!(last, looked_for(&members, own, during_ns.clone()), "seed {seed}");
                found += last.len();
            }
        }
        assert!(found > 1_000, "{found}");
    }

    #[test]
    fn many_siblings_one_after_another_are_not_all_looked_at() {
        let members: Vec<Member> = (0..100_000)
            .map(|at: Pid| member(2 + at, at as u64 * 10, at as u64 * 10 + 5))
            .collect();
        let family = Family::new(members.clone());
        for (at, own) in members.iter().enumerate().skip(1) {
            assert_eq!(family.last_siblings(own, 0..own.first_ns), [at - 1]);
        }
    }
}
