//! What `bench` and `lab` do alike with baselines: their files, hosts that must be the same, sessions that are added, and how it ends.

mod store;

use std::path::PathBuf;

use hotset_analysis::baseline::{FailAbove, HostDifference, MeasuredOn, host_differences};
use hotset_facts::HostIdentity;
use hotset_view::baseline::host_difference;

use crate::args::BaselineArgs;
use crate::destination::check_not_read;
use crate::exit::{Exit, Stop};
use crate::output;
pub(crate) use store::{Kept, Store};

/// A baseline has no more sessions of the same than this: enough to tell how much they differ, and a file that one can commit.
const MOST_SESSIONS: usize = 20;

/// What was asked for, and on which machine.
pub(crate) struct Asked<'a> {
    pub(crate) args: &'a BaselineArgs,
    pub(crate) store: Store<'a>,
    pub(crate) host: HostIdentity,
}

impl<'a> Asked<'a> {
    pub(crate) fn of(args: &'a BaselineArgs) -> Self {
        let store = Store { directory: &args.baseline_dir };
        Self { args, store, host: hotset_sys::host_identity() }
    }

    /// The baseline that is compared with, if one is.
    pub(crate) fn compared<T: Kept>(&self) -> Result<Option<T>, Stop> {
        self.args.baseline.as_deref().map(|name| self.store.read(name)).transpose()
    }

    /// Refuses a result that would replace a baseline.
    pub(crate) fn check_results<'b>(
        &self,
        results: impl Iterator<Item = &'b PathBuf> + Clone,
    ) -> Result<(), Stop> {
        let mut names = [&self.args.baseline, &self.args.save_baseline].into_iter().flatten();
        names.try_for_each(|name| {
            check_not_read(results.clone(), &self.store.path(name), "baseline")
        })
    }

    pub(crate) fn limits(&self) -> FailAbove {
        FailAbove { wall: self.args.fail_above, cpu: self.args.fail_cpu_above }
    }

    /// Refuses sessions of another host, unless they were asked for.
    pub(crate) fn check_host<'b>(
        &self,
        name: &str,
        sessions: impl Iterator<Item = MeasuredOn<'b>>,
    ) -> Result<(), Stop> {
        if self.args.other_host {
            return Ok(());
        }
        let environment = hotset_sys::environment(&[], &[]);
        let version = env!("CARGO_PKG_VERSION");
        let now = MeasuredOn { version, host: &self.host, environment: &environment };
        let differences = host_differences(sessions, now);
        let forbid = differences.iter().filter(|one: &&HostDifference| one.forbids);
        let all: Vec<String> = forbid.map(host_difference).collect();
        if all.is_empty() {
            return Ok(());
        }
        Err(Stop::own(format_args!(
            "the baseline {name} was measured on another host ({}), whose times say nothing about this one's; --other-host uses it \
             all the same",
            all.join("; ")
        )))
    }

    /// How a session that ran to its end ends hotset. `compared`: whether any time could be compared, where that was asked for.
    pub(crate) fn end(&self, failed: bool, compared: Option<bool>) -> Result<Exit, Stop> {
        let limited = self.args.fail_above.is_some() || self.args.fail_cpu_above.is_some();
        match (&self.args.baseline, compared) {
            _ if failed => Ok(Exit::Slower),
            (Some(name), Some(false)) if limited => Err(Stop::own(format_args!(
                "nothing can be compared with the baseline {name}, so --fail-above decides nothing"
            ))),
            _ => Ok(Exit::Success),
        }
    }

    /// Saves what came of `make`, which is handed what is there and whether it is added to; says what it did, unless it is to be
    /// quiet. `words`: which sessions are in it. Nothing is saved of what is too slow.
    pub(crate) fn save<T: Kept>(
        &self,
        failed: bool,
        quiet: bool,
        words: impl Fn(&T) -> String,
        make: impl FnOnce(&str, Option<&T>) -> Result<T, Stop>,
    ) -> Result<(), Stop> {
        let Some(name) = &self.args.save_baseline else { return Ok(()) };
        if failed {
            output::say(format_args!(
                "the session is not saved as the baseline {name}, because it is slower than --fail-above or --fail-cpu-above allows"
            ));
            return Ok(());
        }
        // Another one may have added a session since this one was prepared.
        let there: Option<T> = self.store.check_writable(name)?;
        let kept = self.args.add_session.then_some(there.as_ref()).flatten();
        let baseline = make(name, kept)?;
        self.store.write(&baseline)?;
        if !quiet {
            let path = self.store.path(name);
            let done = match (&there, kept) {
                (_, Some(_)) => format!("now {}", words(&baseline)),
                (Some(old), None) => format!("replacing {}", words(old)),
                (None, None) => "a new one".to_owned(),
            };
            output::say(format_args!("saved as baseline {name}, {done}: {}", path.display()));
        }
        Ok(())
    }
}

/// Why nothing is saved.
pub(crate) fn not_saved(name: &str, why: &str) -> String {
    format!("nothing is saved as the baseline {name}: {why}")
}

/// The sessions that there were and one more, without the oldest of the same where these are too many.
pub(crate) fn with_session<T>(
    kept: Option<&[T]>,
    session: T,
    is_same: impl Fn(&T, &T) -> bool,
) -> Vec<T>
where
    T: Clone,
{
    let mut sessions = kept.map_or_else(Vec::new, <[T]>::to_vec);
    let same = sessions.iter().filter(|one| is_same(one, &session)).count();
    let mut surplus = (same + 1).saturating_sub(MOST_SESSIONS);
    sessions.retain(|one| {
        let goes = surplus > 0 && is_same(one, &session);
        surplus -= usize::from(goes);
        !goes
    });
    sessions.push(session);
    sessions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_session_of_the_same_makes_room() {
        let same = |a: &(char, usize), b: &(char, usize)| a.0 == b.0;
        let mut sessions = with_session(None, ('b', 0), same);
        for number in 0..=MOST_SESSIONS {
            sessions = with_session(Some(&sessions), ('a', number), same);
        }
        assert_eq!(sessions.len(), MOST_SESSIONS + 1);
        assert_eq!(sessions[..2], [('b', 0), ('a', 1)]);
        assert_eq!(sessions[MOST_SESSIONS], ('a', MOST_SESSIONS));
        assert_eq!(with_session(None, ('a', 9), same), [('a', 9)]);
    }
}
