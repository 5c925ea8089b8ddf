//! Work for the kernel that every CPU takes a part of.

use std::convert::Infallible;
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What came of each piece of work, in the order of the work; nothing where it was not begun.
pub(crate) type Answers<R, E> = Vec<Option<Result<R, E>>>;

/// Does all of `work`, the heaviest first, so that no thread is left with one of them at the end. After a failure nothing more is
/// begun: what was not done has no answer.
pub(crate) fn side_by_side<T: Sync, R: Send + Sync, E: Send + Sync>(
    work: &[T],
    weight: impl Fn(&T) -> u64,
    one: impl Fn(&T) -> Result<R, E> + Sync,
) -> Answers<R, E> {
    let queue = Queue::new(work, weight);
    let helpers = other_cpus().min(work.len().saturating_sub(1));
    let Ok(()) = queue.run(helpers, one, || Ok::<(), Infallible>(()));
    queue.answers()
}

/// Does all of `work` in the same way on the other CPUs while this thread is busy with `first`, and with its help when that is
/// done. Where `first` fails, nothing more is begun either.
pub(crate) fn beside<T: Sync, R: Send + Sync, E: Send + Sync, F, X>(
    work: &[T],
    weight: impl Fn(&T) -> u64,
    one: impl Fn(&T) -> Result<R, E> + Sync,
    first: impl FnOnce() -> Result<F, X>,
) -> Result<(F, Answers<R, E>), X> {
    let queue = Queue::new(work, weight);
    let first = queue.run(other_cpus().min(work.len()), one, first)?;
    Ok((first, queue.answers()))
}

/// The CPUs that this process may use beside the one that it is on. To ask takes files of control groups: once is enough.
fn other_cpus() -> usize {
    static OTHERS: OnceLock<usize> = OnceLock::new();
    *OTHERS.get_or_init(|| thread::available_parallelism().map_or(0, |cpus| NonZero::get(cpus) - 1))
}

/// Work, and how far it came.
struct Queue<'w, T, R, E> {
    work: &'w [T],
    order: Vec<usize>,
    next: AtomicUsize,
    answers: Vec<OnceLock<Result<R, E>>>,
}

impl<'w, T: Sync, R: Send + Sync, E: Send + Sync> Queue<'w, T, R, E> {
    fn new(work: &'w [T], weight: impl Fn(&T) -> u64) -> Self {
        let mut order: Vec<usize> = (0..work.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(weight(&work[i])));
        let answers = work.iter().map(|_| OnceLock::new()).collect();
        Self { work, order, next: AtomicUsize::new(0), answers }
    }

    /// Has as many threads do the work, and this one do `first` and then work too. All of them have ended afterwards.
    fn run<F, X>(
        &self,
        helpers: usize,
        one: impl Fn(&T) -> Result<R, E> + Sync,
        first: impl FnOnce() -> Result<F, X>,
    ) -> Result<F, X> {
        let worker = || self.take_part(&one);
        thread::scope(|scope| {
            for _ in 0..helpers {
                // Where no thread can be had, this one does all.
                let _ = thread::Builder::new().spawn_scoped(scope, worker);
            }
            let first = first();
            if first.is_err() {
                self.stop();
            }
            worker();
            first
        })
    }

    fn take_part(&self, one: impl Fn(&T) -> Result<R, E>) {
        while let Some(&i) = self.order.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let answer = one(&self.work[i]);
            if answer.is_err() {
                self.stop();
            }
            let _ = self.answers[i].set(answer);
        }
    }

    fn stop(&self) {
        self.next.store(self.order.len(), Ordering::Relaxed);
    }

    fn answers(self) -> Answers<R, E> {
        self.answers.into_iter().map(OnceLock::into_inner).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
                thread::sleep(Duration::from_millis(u64::from(i < 999)));
                if i == 999 { Err(i) } else { Ok(()) }
            },
        );
        assert_eq!(answers[999], Some(Err(999)));
        let begun = |answer: &&Option<Result<(), u64>>| answer.is_some();
        assert!(answers.iter().filter(begun).count() < 1_000, "the heaviest came first");
    }

    #[test]
    fn another_cpu_works_while_this_thread_is_busy() {
        let work: Vec<u64> = (0..8).collect();
        let queue = Queue::new(&work, |_| 1);
        let done = AtomicUsize::new(0);
        let one = |&i: &u64| Ok::<_, ()>(done.fetch_add(1, Ordering::SeqCst) as u64 - i + i);
        let all_done = || {
            // For ever, if this thread had to do it.
            while done.load(Ordering::SeqCst) < 8 {
                thread::yield_now();
            }
            Ok::<_, ()>(7)
        };
        assert_eq!(queue.run(1, one, all_done), Ok(7));
        assert!(queue.answers().iter().all(|answer| matches!(answer, Some(Ok(_)))));
    }

    #[test]
    fn alone_a_thread_does_its_own_work_first() {
        let work: Vec<u64> = (0..8).collect();
        let queue = Queue::new(&work, |_| 1);
        let done = AtomicUsize::new(0);
        let one = |&i: &u64| {
            done.fetch_add(1, Ordering::SeqCst);
            Ok::<_, ()>(i)
        };
        let first = || Ok::<_, ()>(done.load(Ordering::SeqCst));
        assert_eq!(queue.run(0, one, first), Ok(0));
        assert_eq!(queue.answers(), work.iter().map(|&i| Some(Ok(i))).collect::<Vec<_>>());
    }

    #[test]
    fn work_that_nobody_will_need_is_not_begun() {
        let work: Vec<u64> = (0..8).collect();
        let queue = Queue::new(&work, |_| 1);
        let failed = queue.run(0, |&i| Ok::<_, ()>(i), || Err::<(), _>("no"));
        assert_eq!(failed, Err("no"));
        assert!(queue.answers().iter().all(Option::is_none));
        assert_eq!(beside(&work, |_| 1, |&i| Ok::<_, ()>(i), || Err::<(), _>("no")), Err("no"));
    }
}
