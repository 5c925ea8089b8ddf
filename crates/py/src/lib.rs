//! `hotset._native`, a module of Python: the curves of `hotset-sizing` over columns of integers.
//!
//! `exact` counts stack distances of all references, `sampled` those of a sample of pages. Both take columns by Arrow's C data
//! interface (`column`), which NumPy, pandas, pyarrow and polars have or become without a copy, and give up Python's lock while
//! they count. What is convenient in Python stands in `python/hotset/curves.py`, whose names are those that users see.
//!
//! The crate must not know a document, start a command or print: the rest of the package runs the binary.

mod column;
mod exact;
mod sampled;

use pyo3::prelude::*;

/// Curves of least recently used, natively.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::exact::{Distances, Exact};
    #[pymodule_export]
    use crate::sampled::{Sampled, limit_grid};
}

/// References that are counted before Python may handle a signal: some tenths of a second.
const AT_ONCE: usize = 1 << 22;

/// Lets Python handle signals, so that Ctrl-C ends a long count.
fn between(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}
