//! What holds for any references.

#![allow(clippy::expect_used, reason = "helpers of tests")]

use hotset_sizing::distance::{self, DenseStack, HashedStack};
use hotset_sizing::policy::{Classic, Fifo, Found, ListSizes, Lru, Mglru, Policy, Touch};
use hotset_sizing::{
    Costs, LimitOutcome, PolicyKind, References, Request, RequestKind, RoomChange, simulate,
};
use proptest::collection::vec;
use proptest::prelude::*;

const PAGES: u32 = 150;
const COSTS: Costs = Costs { hit_ns: 1000, miss_ns: 40_000_000 };

/// A stack of pages and holes, searched from the top. A removed page leaves a hole, which the next page from below fills.
#[derive(Default)]
struct NaiveStack(Vec<Option<u32>>);

impl NaiveStack {
    fn touch(&mut self, page: u32) -> Option<u32> {
        let place = self.0.iter().rposition(|&other| other == Some(page));
        let hole = self.0.iter().rposition(Option::is_none);
        match (place, hole) {
            (Some(place), Some(hole)) if hole > place => {
                self.0[place] = None;
                self.0.remove(hole);
            }
            (None, Some(hole)) => drop(self.0.remove(hole)),
            (Some(place), _) => drop(self.0.remove(place)),
            (None, None) => {}
        }
        // What was above it: one was taken out.
        let distance = place.map(|place| (self.0.len() - place) as u32);
        self.0.push(Some(page));
        distance
    }

    fn remove(&mut self, page: u32) {
        self.0.iter_mut().filter(|other| **other == Some(page)).for_each(|other| *other = None);
    }

    fn len(&self) -> usize {
        self.0.iter().flatten().count()
    }
}

/// Pages, of which some come up often, and runs of pages as scans make them.
fn pages() -> impl Strategy<Value = Vec<u32>> {
    let one = prop_oneof![3 => 0..20_u32, 1 => 0..PAGES].prop_map(|page| vec![page]);
    let scan = (0..PAGES - 60, 1..60_u32).prop_map(|(first, len)| (first..first + len).collect());
    prop_oneof![9 => one, 1 => scan]
}

fn kind() -> impl Strategy<Value = RequestKind> {
    prop_oneof![
        12 => Just(RequestKind::Read),
        2 => Just(RequestKind::WriteWhole),
        2 => Just(RequestKind::WritePart),
        4 => Just(RequestKind::Fault),
        2 => Just(RequestKind::RandomFault),
        2 => Just(RequestKind::Code),
        1 => Just(RequestKind::Remove),
        1 => Just(RequestKind::Sync),
    ]
}

fn references() -> impl Strategy<Value = References> {
    vec((pages(), kind(), 0..1000_u32, any::<bool>()), 0..400).prop_map(|parts| {
        let request = |(pages, kind, own, continues): &(Vec<u32>, RequestKind, u32, bool)| {
            let (own_ns, continues) = (own * 100_000, *continues && *kind == RequestKind::Read);
            Request { pages: pages.len() as u32, own_ns, kind: *kind, continues }
        };
        let requests = parts.iter().map(request).collect();
        let pages = parts.into_iter().flat_map(|(pages, ..)| pages).collect();
        References::new(pages, requests).expect("they fit")
    })
}

fn touch_of(request: &Request) -> Option<Touch> {
    Some(match request.kind {
        RequestKind::Read => Touch::Read,
        RequestKind::WriteWhole => Touch::WriteWhole,
        RequestKind::WritePart => Touch::WritePart,
        RequestKind::Fault => Touch::Fault,
        RequestKind::Code => Touch::Code,
        RequestKind::RandomFault => Touch::RandomFault,
        RequestKind::MapAround | RequestKind::Ahead | RequestKind::Remove | RequestKind::Sync => {
            return None;
        }
    })
}

/// Plays references to a policy, and looks at it after each.
fn examine(
    mut policy: impl Policy,
    mut limit: u64,
    references: &References,
) -> Result<(), TestCaseError> {
    let mut dirty = std::collections::BTreeSet::new();
    let (mut written, mut synced, mut clock_ns) = (0, 0, 0);
    for (request, pages) in references.iter() {
        clock_ns += u64::from(request.own_ns);
        policy.advance(clock_ns);
        if request.own_ns % 10 == 0 {
            limit = u64::from(request.own_ns % 190);
            written += u64::from(policy.set_limit(limit));
            prop_assert!(policy.cached() <= limit.max(1));
        }
        for &page in pages {
            match (touch_of(request), request.kind) {
                (Some(touch), _) => {
                    written += u64::from(policy.touch(page, touch).written);
                    if matches!(touch, Touch::WriteWhole | Touch::WritePart) {
                        dirty.insert(page);
                    }
                    // What was used last is there.
                    prop_assert_eq!(policy.touch(page, Touch::RandomFault).found, Found::Hit);
                }
                (None, RequestKind::Sync) => synced += u64::from(policy.sync(page)),
                (None, _) => policy.remove(page),
            }
            prop_assert!(policy.cached() <= limit.max(1));
        }
    }
    prop_assert_eq!(policy.check(), Ok(()));
    // Each page that is written back was dirty, at most once for each write.
    let writes = references.iter().filter(|(request, _)| {
        matches!(request.kind, RequestKind::WriteWhole | RequestKind::WritePart)
    });
    let writes: u64 = writes.map(|(_, pages)| pages.len() as u64).sum();
    prop_assert!(written + synced <= writes);
    let left = dirty.iter().filter(|&&page| policy.sync(page)).count() as u64;
    prop_assert!(left <= policy.cached());
    Ok(())
}

proptest! {
    #[test]
    fn distances_are_those_of_a_stack(references in references()) {
        let key = |page: u32| u64::from(page) << 33 | 5;
        let (mut naive, mut dense) = (NaiveStack::default(), DenseStack::new(PAGES));
        let mut hashed = HashedStack::new();
        for (request, pages) in references.iter() {
            for &page in pages {
                if request.kind == RequestKind::Remove {
                    naive.remove(page);
                    dense.remove(page);
                    hashed.remove(key(page));
                } else if request.kind.is_reference() {
                    let distance = naive.touch(page);
                    prop_assert_eq!(dense.touch(page), distance);
                    prop_assert_eq!(hashed.touch(key(page)), distance);
                }
                prop_assert_eq!(hashed.len(), naive.len());
            }
        }
        let distances = dense.into_distances();
        prop_assert_eq!(&distances, &distance::of(&references));
        let hashed = hashed.into_distances();
        prop_assert_eq!(distances.counts(), hashed.counts());
    }

    #[test]
    fn least_recently_used_hits_what_is_near(references in references(), limit in 1..200_u64) {
        // Code in use is not evicted, however far its next use is.
        let plain = references.requests().iter().map(|&one| match one.kind {
            RequestKind::Code => Request { kind: RequestKind::Fault, ..one },
            _ => one,
        });
        let references = References::new(references.pages().to_vec(), plain.collect()).expect("they fit");
        let outcome = simulate(&references, PolicyKind::Lru, &[limit], &COSTS, 1)[0];
        let distances = distance::of(&references);
        prop_assert_eq!(outcome.hits, distances.hits(limit));
        prop_assert_eq!(outcome.references, distances.references());
    }

    #[test]
    fn books_are_right(references in references(), limit in 0..200_u64, first_ns in 0..2_000_000_000_u64) {
        examine(Lru::new(PAGES, limit), limit, &references)?;
        examine(Fifo::new(PAGES, limit), limit, &references)?;
        examine(Classic::new(PAGES, limit, ListSizes::Fresh), limit, &references)?;
        examine(Classic::new(PAGES, limit, ListSizes::Refreshed { first_ns }), limit, &references)?;
        examine(Mglru::new(PAGES, limit), limit, &references)?;
    }

    #[test]
    fn room_beside_the_limit_is_room(references in references(), limit in 1..200_u64, spare in 0..100_u64) {
        let spares = |pages| vec![(0, RoomChange::Spare(pages))];
        for policy in [PolicyKind::Lru, PolicyKind::Fifo, PolicyKind::Classic, PolicyKind::Mglru] {
            let outcome = |references: &References, limit| {
                let outcome = simulate(references, policy, &[limit], &COSTS, 1)[0];
                LimitOutcome { limit_pages: 0, ..outcome }
            };
            let with = references.clone().with_room_changes(spares(spare));
            prop_assert_eq!(outcome(&with, limit), outcome(&references, limit + spare));
        }
    }

    #[test]
    fn outcomes_add_up(references in references(), limit in 1..200_u64) {
        let old_sizes = PolicyKind::ClassicOldSizes { phases: 3 };
        for policy in [PolicyKind::Lru, PolicyKind::Fifo, PolicyKind::Classic, old_sizes, PolicyKind::Mglru] {
            let limits = [limit, 200, limit / 2];
            let outcomes = simulate(&references, policy, &limits, &COSTS, 1);
            prop_assert_eq!(&outcomes, &simulate(&references, policy, &limits, &COSTS, 3));
            for one in &outcomes {
                prop_assert_eq!(one.hits + one.misses + one.filled, one.references);
                prop_assert!(one.refaults <= one.misses && one.waited_ns <= one.clock_ns);
                prop_assert!(one.misses_by_phase.0 <= one.misses && one.misses <= one.misses_by_phase.1);
            }
            // Where everything fits, only first references are not hits.
            prop_assert_eq!(outcomes[1].refaults, 0);
            prop_assert_eq!(outcomes[1].hits, distance::of(&references).hits(200));
        }
    }

    #[test]
    fn many_references_count_as_one_by_one(keys in vec(0..400_u64, 0..2000)) {
        let (mut one, mut all) = (HashedStack::new(), HashedStack::new());
        keys.iter().for_each(|&key| _ = one.touch(key));
        all.touch_all(&keys);
        prop_assert_eq!(one.into_distances(), all.into_distances());
        let (mut one, mut all) = (DenseStack::new(400), DenseStack::new(400));
        let pages: Vec<u32> = keys.iter().map(|&key| key as u32).collect();
        pages.iter().for_each(|&page| _ = one.touch(page));
        all.touch_all(&pages);
        prop_assert_eq!(one.into_distances(), all.into_distances());
    }
}
