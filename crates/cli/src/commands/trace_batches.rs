//! The batches of a trace, decoded ahead of whoever counts them.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::{Context, Result};
use hotset_facts::trace::TraceBatch;
use hotset_trace::{Columns, Reader};

/// Batches that wait, each of about a megabyte.
const WAITING: usize = 4;

/// Hands over the batches of the trace at `path`. Another thread decodes the next meanwhile: decoding takes about as long as counting.
///
/// # Errors
/// What is wrong with the trace, named by its path.
pub(crate) fn each_batch(
    path: &Path,
    reader: &Reader<File>,
    columns: Columns,
    each: impl FnMut(&TraceBatch),
) -> Result<()> {
    each_batch_until(&AtomicBool::new(false), path, reader, columns, each)
}

/// The same, up to the batch before which `stop` was set.
///
/// # Errors
/// As [`each_batch`].
pub(crate) fn each_batch_until(
    stop: &AtomicBool,
    path: &Path,
    reader: &Reader<File>,
    columns: Columns,
    mut each: impl FnMut(&TraceBatch),
) -> Result<()> {
    let named = || path.display().to_string();
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let decode = move || {
            for batch in reader.batches(columns) {
                // Whoever counts stops at the first error, and takes no more then.
                if sender.send(batch).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("trace reader".to_owned()).spawn_scoped(scope, decode)?;
        let mut batches = receiver.into_iter().take_while(|_| !stop.load(Ordering::Relaxed));
        batches.try_for_each(|batch| {
            each(&batch.with_context(named)?);
            Ok(())
        })
    })
}
