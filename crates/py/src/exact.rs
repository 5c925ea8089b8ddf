//! Exact curves: stack distances of every reference.

use hotset_sizing::distance;
use pyo3::prelude::*;

use crate::column::Column;
use crate::{AT_ONCE, between};

/// Keys in the order of their last use.
#[pyclass(module = "hotset._native")]
#[derive(Default)]
pub(crate) struct Exact {
    stack: distance::HashedStack,
}

#[pymethods]
impl Exact {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Counts the references of a column, in its order.
    fn touch(&mut self, py: Python<'_>, column: &Bound<'_, PyAny>) -> PyResult<()> {
        let column = Column::of(column)?;
        let (keys, len) = (column.keys()?, column.len()?);
        for from in (0..len).step_by(AT_ONCE) {
            let to = len.min(from + AT_ONCE);
            let stack = &mut self.stack;
            py.detach(|| keys.each(from, to, |keys| stack.touch_all(keys)));
            between(py)?;
        }
        Ok(())
    }

    /// Takes keys out: their next references are first ones.
    fn remove(&mut self, column: &Bound<'_, PyAny>) -> PyResult<()> {
        let column = Column::of(column)?;
        let stack = &mut self.stack;
        column
            .keys()?
            .each(0, column.len()?, |keys| keys.iter().for_each(|&key| stack.remove(key)));
        Ok(())
    }

    /// Keys that are in the stack.
    fn __len__(&self) -> usize {
        self.stack.len()
    }

    /// What was counted; this counts no more after it.
    fn finish(&mut self) -> Distances {
        Distances(std::mem::take(&mut self.stack).into_distances())
    }
}

/// References by their stack distance.
#[pyclass(module = "hotset._native")]
pub(crate) struct Distances(distance::Distances);

#[pymethods]
impl Distances {
    #[getter]
    fn references(&self) -> u64 {
        self.0.references()
    }

    #[getter]
    fn first_references(&self) -> u64 {
        self.0.first_references()
    }

    /// References that hit at each of these limits in pages.
    fn hits(&self, py: Python<'_>, limits_pages: Vec<u64>) -> Vec<u64> {
        py.detach(|| self.0.hits_at(&limits_pages))
    }

    /// The smallest limit in pages at which so many references hit.
    fn limit_for(&self, py: Python<'_>, hits: u64) -> Option<u64> {
        py.detach(|| self.0.limit_for(hits))
    }

    /// Adds the counts of other references, of a cache of their own.
    fn add(&mut self, other: &Self) {
        self.0.add(&other.0);
    }
}
