//! The columns of a trace: what docs/trace-format.md says of them, as a table.

use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int32,
    Int64,
    /// UTF-8.
    String,
    Binary,
}

impl Kind {
    /// The type as Parquet stores it.
    pub(crate) const fn physical(self) -> Physical {
        match self {
            Self::Int32 => Physical::INT32,
            Self::Int64 => Physical::INT64,
            Self::String | Self::Binary => Physical::BYTE_ARRAY,
        }
    }
}

macro_rules! columns {
    ($($(#[$doc:meta])* $Variant:ident = $name:literal $Kind:ident $null:literal,)*) => {
        /// A column of a trace. docs/trace-format.md says what each holds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Column {
            $($(#[$doc])* $Variant,)*
        }

        impl Column {
            /// All of them, in the order of a file.
            pub const ALL: &[Self] = &[$(Self::$Variant,)*];

            /// Its name in a file.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Variant => $name,)*
                }
            }

            pub(crate) const fn kind(self) -> Kind {
                match self {
                    $(Self::$Variant => Kind::$Kind,)*
                }
            }

            /// Whether a record may lack it.
            pub const fn is_nullable(self) -> bool {
                match self {
                    $(Self::$Variant => $null,)*
                }
            }
        }
    };
}

columns! {
    /// Nanoseconds from the beginning of the recording.
    StartNs = "start_ns" Int64 false,
    /// How long it took, in nanoseconds.
    DurationNs = "duration_ns" Int64 true,
    /// Process ID.
    Pid = "pid" Int32 true,
    /// Thread ID.
    Tid = "tid" Int32 true,
    /// Place in the list of processes.
    Process = "process" Int32 true,
    /// Name of the process's program.
    Command = "command" String true,
    /// What was done, by its name.
    Op = "op" String false,
    /// Class of the operation.
    Class = "class" String false,
    /// Place in the list of files.
    File = "file" Int32 true,
    /// Path as text.
    Path = "path" String true,
    /// Bytes of a path that is no text.
    PathBytes = "path_bytes" Binary true,
    /// Second path as text.
    NewPath = "new_path" String true,
    /// Bytes of a second path that is no text.
    NewPathBytes = "new_path_bytes" Binary true,
    /// Open file description.
    OpenFile = "open_file" Int64 true,
    /// First byte of the request.
    Offset = "offset" Int64 true,
    /// Bytes asked for.
    AskedBytes = "asked_bytes" Int64 true,
    /// What the call returned.
    Result = "result" Int64 true,
    /// Name of the error.
    Error = "error" String true,
    /// Words joined by a vertical bar.
    Flags = "flags" String true,
    /// Pages that it was about.
    Pages = "pages" Int32 true,
    /// Pages that were cached before.
    Hits = "hits" Int32 true,
    /// Hits because the kernel read ahead.
    AheadHits = "ahead_hits" Int32 true,
    /// Pages that were not cached.
    Misses = "misses" Int32 true,
    /// Pages without a device read.
    Zeros = "zeros" Int32 true,
    /// Pages that were read ahead beside the request.
    ReadAhead = "read_ahead" Int32 true,
    /// Bytes that the block layer was asked to read.
    DeviceReadBytes = "device_read_bytes" Int64 true,
    /// The same written.
    DeviceWriteBytes = "device_write_bytes" Int64 true,
    /// Place in the list of sites.
    Site = "site" Int32 true,
}

/// A set of columns: what a reader decodes. What is left out costs nothing and reads as if it had not been measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns(u32);

impl Columns {
    /// Every column.
    pub const ALL: Self = Self((1 << Column::ALL.len()) - 1);
    pub(crate) const NONE: Self = Self(0);

    /// These, and those that no record is without: its start, operation and class. One number of pages brings all of them, a
    /// path brings its bytes.
    pub const fn of(columns: &[Column]) -> Self {
        let mut bits =
            1 << Column::StartNs as u32 | 1 << Column::Op as u32 | 1 << Column::Class as u32;
        // A loop of `for` can't be constant.
        let mut rest = columns;
        while let Some((column, others)) = rest.split_first() {
            bits |= Self::with(*column);
            rest = others;
        }
        Self(bits)
    }

    /// A column, and those without which it can't be told.
    const fn with(column: Column) -> u32 {
        match column {
            Column::Path => 1 << Column::Path as u32 | 1 << Column::PathBytes as u32,
            Column::NewPath => 1 << Column::NewPath as u32 | 1 << Column::NewPathBytes as u32,
            Column::Pages
            | Column::Hits
            | Column::AheadHits
            | Column::Misses
            | Column::Zeros
            | Column::ReadAhead => 0b11_1111 << Column::Pages as u32,
            other => 1 << other as u32,
        }
    }

    /// These, and this column alone.
    pub(crate) const fn and(self, column: Column) -> Self {
        Self(self.0 | 1 << column as u32)
    }

    /// Whether it is one of them.
    pub const fn has(self, column: Column) -> bool {
        self.0 & (1 << column as u32) != 0
    }
}

/// The schema of a file.
///
/// # Errors
/// As Parquet gives them; the table above has none.
pub(crate) fn schema() -> Result<TypePtr, ParquetError> {
    let fields = Column::ALL.iter().map(|column| {
        let repetition =
            if column.is_nullable() { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let text = (column.kind() == Kind::String).then_some(LogicalType::String);
        Type::primitive_type_builder(column.name(), column.kind().physical())
            .with_repetition(repetition)
            .with_logical_type(text)
            .build()
            .map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("hotset_trace").with_fields(fields).build().map(Arc::new)
}
