//! How far least recently used, which is all that a sample can tell, is from what kernels do.

use super::Prediction;
use crate::PolicyKind;

/// Mean and largest error in points of hit ratio, and runs: read calls of Linux 6.12, by lists and by MGLRU (tests/kernels.rs of this crate).
const LISTS: (f64, f64, u32) = (1.37, 9.48, 53);
const MGLRU: (f64, f64, u32) = (1.43, 7.58, 53);

/// What is known of least recently used as a prediction of the cache of a kernel with these lists, or with MGLRU.
pub fn of_lru(mglru: bool) -> Prediction {
    let (mean, worst, runs) = if mglru { MGLRU } else { LISTS };
    Prediction {
        policy: PolicyKind::Lru,
        mean_error: Some(mean),
        worst_error: Some(worst),
        runs,
        caveats: Vec::new(),
    }
}
