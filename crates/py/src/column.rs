//! Columns of integers by Arrow's C data interface, read where they are.
//!
//! The only `unsafe` of the crate: the two structures are Arrow's (<https://arrow.apache.org/docs/format/CDataInterface.html>), and
//! what they point to is trusted to be as they say, as every consumer of the interface must.

use std::ffi::{CStr, c_char, c_void};
use std::slice;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

/// `struct ArrowSchema`; of what is not read, only the size matters.
#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    rest: [*const c_void; 8],
}

/// `struct ArrowArray`.
#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *const c_void,
    dictionary: *const c_void,
    release: *const c_void,
    private_data: *const c_void,
}

/// The values of a column, of any integer type.
#[derive(Clone, Copy)]
enum Values<'a> {
    I8(&'a [i8]),
    U8(&'a [u8]),
    I16(&'a [i16]),
    U16(&'a [u16]),
    I32(&'a [i32]),
    U32(&'a [u32]),
    Bits64(&'a [u64]),
}

/// A column and what keeps its memory alive.
pub(crate) struct Column<'py> {
    _schema: Bound<'py, PyCapsule>,
    array: Bound<'py, PyCapsule>,
    format: String,
}

impl<'py> Column<'py> {
    /// A column of anything that has `__arrow_c_array__`.
    pub(crate) fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        let capsules = object.call_method0("__arrow_c_array__")?;
        let capsules = capsules.cast_into::<PyTuple>()?;
        let (schema, array): (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>) = capsules.extract()?;
        let pointer = schema.pointer_checked(Some(c"arrow_schema"))?.cast::<ArrowSchema>();
        array.pointer_checked(Some(c"arrow_array"))?;
        // SAFETY: a capsule of this name holds an ArrowSchema, which lives as long as the capsule; it has not been moved
        // out, because the capsules were made by this call. Its format is a string that ends with a zero.
        let format = unsafe { CStr::from_ptr(pointer.as_ref().format) };
        let format = format.to_string_lossy().into_owned();
        Ok(Self { _schema: schema, array, format })
    }

    /// References in the column.
    pub(crate) fn len(&self) -> PyResult<usize> {
        let length = self.array()?.length;
        usize::try_from(length).map_err(|_| PyValueError::new_err(format!("a length of {length}")))
    }

    /// The values, for use without Python's lock.
    pub(crate) fn keys(&self) -> PyResult<Keys<'_>> {
        let array = self.array()?;
        if array.null_count != 0 && self.has_validity(array) {
            return Err(PyValueError::new_err("the column has nulls; leave them out first"));
        }
        Ok(Keys(match self.format.as_str() {
            "c" => Values::I8(self.values(array)?),
            "C" => Values::U8(self.values(array)?),
            "s" => Values::I16(self.values(array)?),
            "S" => Values::U16(self.values(array)?),
            "i" => Values::I32(self.values(array)?),
            "I" => Values::U32(self.values(array)?),
            "l" | "L" => Values::Bits64(self.values(array)?),
            other => {
                return Err(PyTypeError::new_err(format!(
                    "a column of Arrow's format \"{other}\"; only columns of integers are counted"
                )));
            }
        }))
    }

    fn array(&self) -> PyResult<&ArrowArray> {
        let pointer = self.array.pointer_checked(Some(c"arrow_array"))?.cast::<ArrowArray>();
        // SAFETY: as for the schema; the reference lives no longer than `self`, which holds the capsule.
        let array = unsafe { pointer.as_ref() };
        if array.release.is_null() {
            return Err(PyValueError::new_err("the column was released"));
        }
        Ok(array)
    }

    /// Whether there is a buffer that says which values are null.
    fn has_validity(&self, array: &ArrowArray) -> bool {
        // SAFETY: an array with buffers has as many pointers to them as it says.
        array.n_buffers > 0 && !array.buffers.is_null() && !unsafe { *array.buffers }.is_null()
    }

    /// The buffer of values. `T` must be an integer type of the width that the column's format says.
    fn values<T: Copy>(&self, array: &ArrowArray) -> PyResult<&[T]> {
        let length = self.len()?;
        if length == 0 {
            return Ok(&[]);
        }
        let offset = usize::try_from(array.offset).unwrap_or(usize::MAX);
        let is_whole =
            array.n_buffers == 2 && !array.buffers.is_null() && offset < isize::MAX as usize;
        // SAFETY: a column of integers has two buffers, validity and values, and the second pointer was found to be there.
        let values = if is_whole { unsafe { *array.buffers.add(1) } } else { std::ptr::null() };
        let values = values.cast::<T>();
        if values.is_null() || !values.is_aligned() {
            return Err(PyValueError::new_err(
                "a column without values, or whose values are not aligned",
            ));
        }
        // SAFETY: Arrow's buffer has `offset + length` values of the format's width, which is that of `T`, aligned as was
        // just seen; any bits are an integer. The capsule keeps the memory. Nobody may write to it meanwhile: Arrow's arrays
        // don't change, and docs/python.md says so of NumPy's.
        Ok(unsafe { slice::from_raw_parts(values.add(offset), length) })
    }
}

/// Keys of references: the values of a column, signed ones with their sign extended.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a>(Values<'a>);

impl Keys<'_> {
    /// Hands keys from `from` to before `to` to a function, many at a time: 64-bit ones where they are, others in small copies.
    pub(crate) fn each(&self, from: usize, to: usize, mut take: impl FnMut(&[u64])) {
        match self.0 {
            Values::I8(values) => widened(&values[from..to], |value| i64::from(value) as u64, take),
            Values::U8(values) => widened(&values[from..to], u64::from, take),
            Values::I16(values) => {
                widened(&values[from..to], |value| i64::from(value) as u64, take)
            }
            Values::U16(values) => widened(&values[from..to], u64::from, take),
            Values::I32(values) => {
                widened(&values[from..to], |value| i64::from(value) as u64, take)
            }
            Values::U32(values) => widened(&values[from..to], u64::from, take),
            Values::Bits64(values) => take(&values[from..to]),
        }
    }
}

fn widened<T: Copy>(values: &[T], wide: impl Fn(T) -> u64, mut take: impl FnMut(&[u64])) {
    let mut buffer = [0; 1024];
    for values in values.chunks(buffer.len()) {
        for (place, &value) in buffer.iter_mut().zip(values) {
            *place = wide(value);
        }
        take(&buffer[..values.len()]);
    }
}
