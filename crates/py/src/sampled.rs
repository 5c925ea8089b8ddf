//! Curves of a sample of pages, in bounded memory.

use hotset_sizing::sample::{self, DEFAULT_EXPONENT, FileIdentity, Sampler, hash};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::column::{Column, Keys};
use crate::{AT_ONCE, between};

/// Counts the distances of sampled references.
#[pyclass(module = "hotset._native")]
pub(crate) struct Sampled {
    sampler: Sampler,
}

/// Limits, hits at each, all references, first references.
type Counts = (Vec<u64>, Vec<u64>, u64, u64);

#[pymethods]
impl Sampled {
    /// Samples one in 2^`exponent` pages, or all until they are more than `most_pages` and then half as many, as often as needed.
    #[new]
    #[pyo3(signature = (most_limit_pages, exponent = None, most_pages = None))]
    fn new(
        most_limit_pages: u64,
        exponent: Option<u32>,
        most_pages: Option<u32>,
    ) -> PyResult<Self> {
        let limits = sample::limit_grid(most_limit_pages);
        let sampler = match (exponent, most_pages) {
            (Some(_), Some(_)) => {
                return Err(PyValueError::new_err("a rate, or a bound of pages: not both"));
            }
            (Some(exponent), None) if exponent >= u64::BITS => {
                let message = format!("one in 2^{exponent} pages; the exponent is at most 63");
                return Err(PyValueError::new_err(message));
            }
            (exponent, None) => Sampler::fixed_rate(exponent.unwrap_or(DEFAULT_EXPONENT), &limits),
            (None, Some(0)) => return Err(PyValueError::new_err("a sample of 0 pages")),
            (None, Some(most)) => Sampler::bounded(most, &limits),
        };
        Ok(Self { sampler })
    }

    /// Counts the references of a column of page indexes, in its order, of one file or of those that another column names.
    #[pyo3(signature = (pages, files = None))]
    fn touch(
        &mut self,
        py: Python<'_>,
        pages: &Bound<'_, PyAny>,
        files: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let pages = Column::of(pages)?;
        let files = files.map(Column::of).transpose()?;
        let len = pages.len()?;
        let of_files = files.as_ref().map(Column::len).transpose()?.unwrap_or(len);
        if of_files != len {
            return Err(PyValueError::new_err(format!("{len} pages of {of_files} files")));
        }
        let (pages, files) = (pages.keys()?, files.as_ref().map(Column::keys).transpose()?);
        for from in (0..len).step_by(AT_ONCE) {
            let to = len.min(from + AT_ONCE);
            let sampler = &mut self.sampler;
            py.detach(|| count(sampler, pages, files, from, to));
            between(py)?;
        }
        Ok(())
    }

    /// One in 2^exponent pages is sampled now.
    #[getter]
    fn exponent(&self) -> u32 {
        self.sampler.exponent()
    }

    /// What was counted since this was asked last.
    fn take(&mut self) -> PyResult<Counts> {
        let curve = self.sampler.take();
        let (hits, limits) = (curve.hits(), curve.limits().to_vec());
        if hits.len() != limits.len() {
            return Err(PyRuntimeError::new_err("a curve without a count for each limit"));
        }
        Ok((limits, hits, curve.references(), curve.first_references()))
    }
}

/// Limits of which each is 2^(1/8) times the one before, up to this one.
#[pyfunction]
pub(crate) fn limit_grid(most_pages: u64) -> Vec<u64> {
    sample::limit_grid(most_pages)
}

fn count(sampler: &mut Sampler, pages: Keys<'_>, files: Option<Keys<'_>>, from: usize, to: usize) {
    let Some(files) = files else {
        let file = FileIdentity::new(0, 0, 0);
        pages.each(from, to, |pages| {
            pages.iter().for_each(|&page| sampler.touch(hash(file, page)));
        });
        return;
    };
    let mut at = from;
    pages.each(from, to, |pages| {
        let mut pages_left = pages.iter();
        files.each(at, at + pages.len(), |files| {
            for (&file, &page) in files.iter().zip(pages_left.by_ref()) {
                sampler.touch(hash(FileIdentity::new(0, file, 0), page));
            }
        });
        at += pages.len();
    });
}
