//! A recording of every request: what `record` writes, `trace` converts and `replay` makes again.
//!
//! A [`TraceRecord`] stands for one request. It points into [`TraceLists`], which grow while records come, and to paths, which
//! are the writer's and the reader's. docs/trace-format.md says how all of it is kept in a file.

mod about;
mod operation;
mod record;

pub use about::{
    Frame, Gap, MemoryStep, Reclaim, RecordingCost, Site, SiteState, TraceFile, TraceHead,
    TraceLists, TraceMemory, TraceProcess, TraceSource,
};
pub use operation::{Operation, OperationClass};
pub use record::{
    FileIndex, PathIndex, ProcessIndex, RecordFlags, RecordPages, SiteIndex, TraceBatch,
    TraceRecord,
};
