//! Work for the kernel that every CPU takes a part of.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does all of `work`, the heaviest first, so that no thread is left with one of them at the end. After a failure nothing more is
/// begun: what was not done has no answer.
pub(crate) fn side_by_side<T: Sync, R: Send + Sync, E: Send + Sync>(
    work: &[T],
    weight: impl Fn(&T) -> u64,
    one: impl Fn(&T) -> Result<R, E> + Sync,
) -> Vec<Option<Result<R, E>>> {
    let mut order: Vec<usize> = (0..work.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(weight(&work[i])));
    let answers: Vec<OnceLock<Result<R, E>>> = work.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let answer = one(&work[i]);
            if answer.is_err() {
                next.store(order.len(), Ordering::Relaxed);
            }
            let _ = answers[i].set(answer);
        }
    };
    thread::scope(|scope| {
        for _ in 1..thread::available_parallelism().map_or(1, NonZero::get).min(order.len()) {
            // Where no thread can be had, this one does all.
            let _ = thread::Builder::new().spawn_scoped(scope, worker);
        }
        worker();
    });
    answers.into_iter().map(OnceLock::into_inner).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_stand_where_the_work_stood() {
        let work: Vec<u64> = (0..100).collect();
        let answers = side_by_side(&work, |&i| i % 7, |&i| Ok::<_, ()>(i * 2));
        let wanted: Vec<_> = work.iter().map(|i| Some(Ok(i * 2))).collect();
        assert_eq!(answers, wanted);
        assert_eq!(side_by_side(&[0; 0], |_| 0, |_| Ok::<(), ()>(())), []);
    }

    #[test]
    fn after_a_failure_no_more_is_begun() {
        let work: Vec<u64> = (0..1_000).collect();
        let answers = side_by_side(
            &work,
            |&i| i,
            |&i| {
                thread::sleep(std::time::Duration::from_millis(u64::from(i < 999)));
                if i == 999 { Err(i) } else { Ok(()) }
            },
        );
        assert_eq!(answers[999], Some(Err(999)));
        let begun = |answer: &&Option<Result<(), u64>>| answer.is_some();
        assert!(answers.iter().filter(begun).count() < 1_000, "the heaviest came first");
    }
}
