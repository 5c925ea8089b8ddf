//! Which policy a kernel has, and how well predictions by it were found to be.
//!
//! An error is the difference between the predicted and the real hit ratio of a whole run, in percentage points. All runs were
//! programs in a control group at its limit, without swap, with one file on ext4 and one thread.

mod conditions;
mod lru;
mod rows;

pub use conditions::Condition;
pub use lru::of_lru;
pub use rows::{ROWS, Row};

use crate::references::{References, RequestKind};
use crate::simulate::PolicyKind;

/// A version of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KernelVersion {
    /// The first number.
    pub major: u32,
    /// The second number.
    pub minor: u32,
}

impl KernelVersion {
    /// This version.
    pub const fn new(major: u32, minor: u32) -> Self {
        Self { major, minor }
    }
}

/// The oldest and the newest kernel of which runs were compared.
pub const COMPARED_KERNELS: (KernelVersion, KernelVersion) = (rows::LINUX_6_1, rows::LINUX_6_18);

/// A kind of access, as far as policies tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// read(2) and calls like it.
    Read,
    /// write(2) and calls like it.
    Write,
    /// Loads and stores through mappings.
    Mapped,
    /// The same with `MADV_RANDOM`.
    MappedRandom,
}

impl Access {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Mapped, Self::MappedRandom];

    /// The kinds among these references, each once.
    pub fn seen(references: &References) -> Vec<Self> {
        let mut seen = [false; Self::ALL.len()];
        for request in references.requests().iter().filter(|request| request.pages > 0) {
            let access = match request.kind {
                RequestKind::Read => Self::Read,
                RequestKind::WriteWhole | RequestKind::WritePart => Self::Write,
                RequestKind::Fault | RequestKind::Code => Self::Mapped,
                RequestKind::RandomFault => Self::MappedRandom,
                RequestKind::MapAround
                | RequestKind::Ahead
                | RequestKind::Remove
                | RequestKind::Sync => continue,
            };
            seen[access as usize] = true;
        }
        Self::ALL.into_iter().filter(|&access| seen[access as usize]).collect()
    }
}

/// A reason why a prediction may be worse than its error says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Caveat {
    /// No run had this kind of access on any kernel with this policy.
    NotCompared(Access),
    /// The runs were on another kernel, whose code is the same as far as it was read.
    OtherKernel(KernelVersion),
    /// Nobody compared kernels as old or as new as this one; the runs were on that one.
    OutsideCompared(KernelVersion),
    /// Nobody compared this kernel's policy: the one of this kernel is the nearest that is modelled.
    OtherPolicy(KernelVersion),
    /// The policy depends on when the kernel brings statistics up to date: scans can be off by up to 4 points.
    MomentOfRefresh,
    /// Mapped pages are modelled only roughly.
    RoughForMappings,
}

/// How a cache is predicted, and how well.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The policy to simulate.
    pub policy: PolicyKind,
    /// The mean error in points, of the kind of access with the largest one; none if no kind was compared.
    pub mean_error: Option<f64>,
    /// The largest error in points.
    pub worst_error: Option<f64>,
    /// Runs of real kernels behind these errors, of all kinds of access together.
    pub runs: u32,
    /// What limits them, besides [`Condition::ALL`].
    pub caveats: Vec<Caveat>,
}

/// Chooses the policy of a kernel, and says how well it predicts these kinds of access.
pub fn predictor(kernel: KernelVersion, mglru: bool, accesses: &[Access]) -> Prediction {
    let mut prediction = Prediction {
        policy: policy(kernel, mglru),
        mean_error: None,
        worst_error: None,
        runs: 0,
        caveats: Vec::new(),
    };
    for access in Access::ALL.into_iter().filter(|access| accesses.contains(access)) {
        let row = ROWS.iter().find(|row| {
            row.access == access && row.mglru == mglru && (row.from..=row.to).contains(&kernel)
        });
        match row {
            Some(row) => prediction.add(kernel, row),
            None => prediction.caveat(Caveat::NotCompared(access)),
        }
    }
    if matches!(prediction.policy, PolicyKind::ClassicOldSizes { .. }) {
        prediction.caveat(Caveat::MomentOfRefresh);
    }
    if mglru && accesses.contains(&Access::Mapped) {
        prediction.caveat(Caveat::RoughForMappings);
    }
    if mglru && kernel >= rows::MGLRU_REWORKED {
        prediction.caveat(Caveat::OtherPolicy(rows::LINUX_6_12));
    }
    prediction
}

/// The policy of a kernel.
fn policy(kernel: KernelVersion, mglru: bool) -> PolicyKind {
    if mglru {
        PolicyKind::Mglru
    } else if kernel >= rows::OLD_SIZES {
        PolicyKind::OLD_SIZES
    } else {
        PolicyKind::Classic
    }
}

/// Whether the kernel can have the multi-gen LRU at all (`CONFIG_LRU_GEN`).
pub fn can_be_mglru(kernel: KernelVersion) -> bool {
    kernel >= rows::LINUX_6_1
}

/// Whether uses through mappings with `MADV_RANDOM` count as recent, so that they are [`RequestKind::Fault`] and not
/// [`RequestKind::RandomFault`]: before 6.3, only `MADV_SEQUENTIAL` took them out (`folio_referenced_one()`, mm/rmap.c).
pub fn counts_random_faults(kernel: KernelVersion) -> bool {
    kernel < KernelVersion::new(6, 3)
}

impl Prediction {
    fn add(&mut self, kernel: KernelVersion, row: &Row) {
        let larger = |known: Option<f64>, one: f64| Some(known.map_or(one, |known| known.max(one)));
        self.mean_error = larger(self.mean_error, row.mean_error);
        self.worst_error = larger(self.worst_error, row.worst_error);
        self.runs += row.runs;
        let (oldest, newest) = COMPARED_KERNELS;
        if !(oldest..=newest).contains(&kernel) {
            self.caveat(Caveat::OutsideCompared(row.measured_on));
        } else if kernel != row.measured_on {
            self.caveat(Caveat::OtherKernel(row.measured_on));
        }
    }

    fn caveat(&mut self, caveat: Caveat) {
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &[Access] = &[Access::Read];

    #[test]
    fn each_kernel_has_its_policy() {
        let policy = |minor, mglru| predictor(KernelVersion::new(6, minor), mglru, READ).policy;
        assert_eq!(policy(1, false), PolicyKind::Classic);
        assert_eq!(policy(11, false), PolicyKind::Classic);
        assert_eq!(policy(12, false), PolicyKind::ClassicOldSizes { phases: 5 });
        assert_eq!(policy(12, true), PolicyKind::Mglru);
        let newest = predictor(KernelVersion::new(7, 0), false, READ);
        assert_eq!(newest.policy, PolicyKind::ClassicOldSizes { phases: 5 });
        assert_eq!(
            newest.caveats,
            [Caveat::OutsideCompared(KernelVersion::new(6, 18)), Caveat::MomentOfRefresh]
        );
        let oldest = predictor(KernelVersion::new(4, 19), false, READ);
        assert_eq!(oldest.caveats, [Caveat::OutsideCompared(KernelVersion::new(6, 1))]);
        let between = predictor(KernelVersion::new(6, 6), false, READ);
        assert_eq!(between.caveats, [Caveat::OtherKernel(KernelVersion::new(6, 1))]);
    }

    #[test]
    fn what_was_measured_has_no_caveat() {
        let measured = predictor(KernelVersion::new(6, 12), true, READ);
        assert_eq!((measured.runs, measured.caveats.len()), (53, 0));
        assert!(measured.mean_error.is_some_and(|mean| mean < 0.1));
        let none = predictor(KernelVersion::new(6, 12), true, &[]);
        assert_eq!((none.mean_error, none.runs), (None, 0));
    }

    #[test]
    fn what_was_not_compared_is_said() {
        let written = predictor(KernelVersion::new(6, 12), true, &[Access::Write, Access::Read]);
        assert_eq!(written.caveats, [Caveat::NotCompared(Access::Write)]);
        assert_eq!(written.runs, 53);
        let mapped = predictor(KernelVersion::new(6, 12), true, &[Access::Mapped]);
        assert_eq!(mapped.caveats, [Caveat::RoughForMappings]);
        let new = predictor(KernelVersion::new(6, 18), true, READ);
        assert!(new.mean_error.is_some());
        assert_eq!(new.caveats, [Caveat::OtherPolicy(KernelVersion::new(6, 12))]);
        assert!(counts_random_faults(KernelVersion::new(6, 2)));
        assert!(!counts_random_faults(KernelVersion::new(6, 3)));
    }

    #[test]
    fn rows_do_not_overlap() {
        for (index, row) in ROWS.iter().enumerate() {
            assert!(row.from <= row.to && row.mean_error <= row.worst_error, "{row:?}");
            assert!((row.from..=row.to).contains(&row.measured_on), "{row:?}");
            let same = |other: &&Row| other.access == row.access && other.mglru == row.mglru;
            for other in ROWS[..index].iter().filter(same) {
                assert!(other.to < row.from || row.to < other.from, "{row:?} and {other:?}");
            }
        }
        let texts: std::collections::BTreeSet<_> =
            Condition::ALL.iter().map(|condition| condition.text()).collect();
        assert_eq!(texts.len(), Condition::ALL.len());
    }

    #[test]
    fn kinds_of_access_are_seen() {
        let request = |kind, pages| crate::Request { pages, own_ns: 0, kind, continues: false };
        let kinds = [
            (RequestKind::Sync, 1),
            (RequestKind::RandomFault, 0),
            (RequestKind::WritePart, 1),
            (RequestKind::Read, 1),
        ];
        let requests = kinds.map(|(kind, pages)| request(kind, pages)).to_vec();
        let references = References::new(vec![0, 1, 2], requests).expect("they fit");
        assert_eq!(Access::seen(&references), [Access::Read, Access::Write]);
    }
}
