//! Arrays that a call reads in place. They are locked against writing until the call no longer reads them.
//!
//! A locked array can be read as before; writing to it and resizing it raise `ValueError`. The lock is numpy's own: an array
//! that does not own its memory, whose base offers none for writing, can neither be resized nor made writeable.
//!
//! Earlier views of an array have flags of their own, and numpy cannot list them. They hold references to the array,
//! though: an array is locked only if, besides the references of the call itself, a single reference is left, the
//! caller's name for it. With more references it is copied. numpy's `resize` decides in the same way.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::mem;
use std::ptr;
use std::sync::{Arc, OnceLock, Weak};

use numpy::npyffi::{NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArray_CheckExact};
use numpy::{PyArray2, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::ffi::{Py_DECREF, Py_REFCNT};
use pyo3::prelude::*;
use pyo3::types::PyList;
use sememe::vectors::Matrix;

use crate::arrays::{as_array, base_and_flags, borrowed_rows, unchanging_or_copied};

/// Smaller arrays are copied, which takes less than a tenth of a millisecond.
const LARGE: usize = 1 << 20;

/// Rows that do not change while this value, or a search that took them, lives.
#[pyclass(frozen, module = "sememe._sememe")]
pub struct Lent(pub Matrix);

/// The base of an array that is locked.
#[pyclass(frozen, module = "sememe._sememe")]
struct Lock(OnceLock<Weak<Locked>>);

/// Arrays over the same memory that are locked, the owner last; dropping it unlocks them.
struct Locked {
    arrays: Vec<(Py<PyUntypedArray>, c_int)>,
    lock: Option<Py<Lock>>,
}

/// The rows of arrays for the duration of a call. Arrays that nothing else can write to are locked and read in place; the
/// others are copied. The list must hold the only references of the calling code.
#[pyfunction]
pub fn lend(arrays: &Bound<'_, PyList>, names: Vec<String>) -> PyResult<Vec<Lent>> {
    let py = arrays.py();
    let given = arrays.iter().zip(&names).map(|(array, name)| as_array(&array, name)).collect::<PyResult<Vec<_>>>()?;
    let mut groups: BTreeMap<usize, Vec<Bound<'_, PyUntypedArray>>> = BTreeMap::new();
    for chain in given.iter().filter_map(chain_to_owner) {
        let owner = &chain[chain.len() - 1];
        if owner.len() * owner.dtype().itemsize() >= LARGE {
            groups.entry(owner.as_ptr() as usize).or_default().extend(chain);
        }
    }
    let mut locks = Vec::new();
    for (_, chains) in groups {
        locks.extend(lock(py, chains, &given)?);
    }
    let lent = given.iter().map(|array| match lock_of(array) {
        // SAFETY: a locked array cannot be written to or freed.
        Some(locked) => Ok(Lent(unsafe { borrowed_rows(array, locked) })),
        None => unchanging_or_copied(array).map(Lent),
    });
    lent.collect()
}

/// The array, its base, and so on up to the array that owns the memory; `None` if the owner is not a plain array.
fn chain_to_owner<'py>(array: &Bound<'py, PyArray2<f32>>) -> Option<Vec<Bound<'py, PyUntypedArray>>> {
    let mut chain = vec![array.as_untyped().clone()];
    loop {
        let last = &chain[chain.len() - 1];
        // SAFETY: any object may be asked.
        if unsafe { PyArray_CheckExact(last.py(), last.as_ptr()) } == 0 {
            return None;
        }
        let (base, flags) = base_and_flags(last);
        if base.is_null() {
            return (flags & NPY_ARRAY_OWNDATA != 0).then_some(chain);
        }
        // SAFETY: an array keeps its base.
        let base = unsafe { Bound::from_borrowed_ptr(last.py(), base) };
        chain.push(base.cast_into().ok()?);
    }
}

/// Locks arrays over the memory of one owner, if nothing else can write to it.
fn lock<'py>(
    py: Python<'py>,
    chains: Vec<Bound<'py, PyUntypedArray>>,
    given: &[Bound<'py, PyArray2<f32>>],
) -> PyResult<Option<Arc<Locked>>> {
    let holds =
        |array: &Bound<'_, PyUntypedArray>| chains.iter().filter(|other| other.as_ptr() == array.as_ptr()).count();
    let mut arrays: Vec<&Bound<'_, PyUntypedArray>> = Vec::new();
    for array in &chains {
        if !arrays.iter().any(|known| known.as_ptr() == array.as_ptr()) {
            arrays.push(array);
        }
    }
    let is_alone = |array: &&Bound<'py, PyUntypedArray>| {
        let occurrences = given.iter().filter(|other| other.as_ptr() == array.as_ptr()).count();
        let views = arrays.iter().filter(|other| base_and_flags(other).0 == array.as_ptr()).count();
        // Those of the list and of `given`, of `chains`, and of arrays that are locked with it.
        let known = 2 * occurrences + holds(array) + views;
        // SAFETY: it is alive, and the interpreter's lock is held.
        let references = unsafe { Py_REFCNT(array.as_ptr()) };
        // The caller holds one reference to the array it gives, and none to the bases of that array.
        usize::try_from(references).is_ok_and(|all| all <= known + usize::from(occurrences > 0))
    };
    if !arrays.iter().all(is_alone) {
        return Ok(None);
    }
    // The owner has no base; it comes last.
    arrays.sort_by_key(|array| base_and_flags(array).0.is_null());
    let lock = Py::new(py, Lock(OnceLock::new()))?;
    let with_flags = arrays.iter().map(|array| ((*array).clone().unbind(), base_and_flags(array).1)).collect();
    let locked = Arc::new(Locked { arrays: with_flags, lock: Some(lock.clone_ref(py)) });
    lock.get().0.get_or_init(|| Arc::downgrade(&locked));
    for array in &arrays {
        // SAFETY: the arrays are alive, and the interpreter's lock is held.
        unsafe { (*array.as_array_ptr()).fields.flags &= !(NPY_ARRAY_WRITEABLE | NPY_ARRAY_OWNDATA) };
    }
    // SAFETY: as above; the owner has no base, and gets a reference of its own.
    unsafe { (*arrays[arrays.len() - 1].as_array_ptr()).fields.base = lock.into_ptr() };
    Ok(Some(locked))
}

/// The lock of an array, if it has one.
fn lock_of(array: &Bound<'_, PyArray2<f32>>) -> Option<Arc<Locked>> {
    let mut at = array.as_any().clone();
    while let Some(array) = at.cast::<PyUntypedArray>().ok().cloned() {
        let (base, _) = base_and_flags(&array);
        // SAFETY: an array keeps its base.
        at = unsafe { Bound::from_borrowed_ptr_or_opt(array.py(), base) }?;
    }
    at.cast::<Lock>().ok()?.get().0.get()?.upgrade()
}

impl Drop for Locked {
    fn drop(&mut self) {
        let (arrays, lock) = (mem::take(&mut self.arrays), self.lock.take());
        // After the interpreter has shut down nothing can use the arrays any more.
        let _ = Python::try_attach(move |py| unlock(py, &arrays, lock.as_ref()));
    }
}

fn unlock(py: Python<'_>, arrays: &[(Py<PyUntypedArray>, c_int)], lock: Option<&Py<Lock>>) {
    let (Some((owner, _)), Some(lock)) = (arrays.last(), lock) else { return };
    if base_and_flags(owner.bind(py)).0 != lock.as_ptr() {
        // The array was given other memory, so that its old memory has no owner any more.
        return;
    }
    // SAFETY: the arrays are alive, the interpreter's lock is held, and the owner has a reference to the lock of its own.
    unsafe {
        (*owner.bind(py).as_array_ptr()).fields.base = ptr::null_mut();
        Py_DECREF(lock.as_ptr());
    }
    for (array, flags) in arrays {
        // SAFETY: as above.
        unsafe {
            (*array.bind(py).as_array_ptr()).fields.flags |= flags & (NPY_ARRAY_WRITEABLE | NPY_ARRAY_OWNDATA);
        }
    }
}
