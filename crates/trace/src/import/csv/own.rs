//! Rows with the columns of a trace.

use std::collections::HashMap;
use std::path::PathBuf;

use hotset_facts::FileKind;
use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, ProcessIndex, RecordFlags, RecordPages, Site, SiteIndex,
    SiteState, TraceFile, TraceProcess, TraceRecord,
};

use crate::columns::Column;
use crate::errno;
use crate::fill::word;
use crate::import::batch::BatchBuilder;
use crate::import::summary::shown;
use crate::rule::{PageNumbers, page_numbers};

/// Makes records of rows whose header names columns of a trace. Columns that it does not know are
/// passed over.
pub(super) struct OwnColumns {
    /// Where each of [`Column::ALL`] stands.
    places: Vec<Option<usize>>,
    operations: HashMap<&'static str, Operation>,
    processes: HashMap<(Option<u32>, u32, String), ProcessIndex>,
    files: HashMap<u32, FileIndex>,
    sites: HashMap<u32, SiteIndex>,
}

/// The fields of a row, by column.
struct Fields<'p, 'a> {
    places: &'p [Option<usize>],
    field: &'p dyn Fn(usize) -> Option<&'a [u8]>,
}

impl<'a> Fields<'_, 'a> {
    /// A field; none where it is empty, or the column is missing.
    fn get(&self, column: Column) -> Option<&'a [u8]> {
        let field = (self.field)((*self.places.get(column as usize)?)?)?;
        (!field.is_empty()).then_some(field)
    }

    fn text(&self, column: Column) -> Result<Option<&'a str>, String> {
        let text = self.get(column).map(std::str::from_utf8).transpose();
        text.map_err(|_| format!("column {}: expected UTF-8", column.name()))
    }

    fn number<T: std::str::FromStr>(&self, column: Column) -> Result<Option<T>, String> {
        let Some(field) = self.get(column) else { return Ok(None) };
        let number = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
        number.map(Some).ok_or_else(|| {
            let bits = size_of::<T>() * 8;
            format!(
                "column {}: {}: expected a whole number of {bits} bits",
                column.name(),
                shown(field)
            )
        })
    }

    /// A path: its bytes in hexadecimal where the text is not exact.
    fn path(&self, exact: Column, column: Column) -> Result<Option<Vec<u8>>, String> {
        match self.get(exact) {
            Some(digits) => bytes_of_hex(digits).map(Some).ok_or_else(|| {
                format!(
                    "column {}: {}: expected pairs of hexadecimal digits",
                    exact.name(),
                    shown(digits)
                )
            }),
            None => Ok(self.get(column).map(<[u8]>::to_vec)),
        }
    }
}

fn bytes_of_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = digits.as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

impl OwnColumns {
    /// Finds the columns in a header; the missing one that is needed where there is none.
    pub(super) fn of(header: &[Vec<u8>]) -> Result<Self, &'static str> {
        let place = |column: &Column| {
            header.iter().position(|name| name.trim_ascii() == column.name().as_bytes())
        };
        let needed = [Column::StartNs, Column::Op];
        if let Some(missing) = needed.iter().find(|column| place(column).is_none()) {
            return Err(missing.name());
        }
        let places = Column::ALL.iter().map(place).collect();
        Ok(Self {
            places,
            operations: Operation::ALL.iter().map(|op| (op.as_str(), *op)).collect(),
            processes: HashMap::new(),
            files: HashMap::new(),
            sites: HashMap::new(),
        })
    }

    /// Makes a record of a row.
    pub(super) fn record<'a>(
        &mut self,
        field: &dyn Fn(usize) -> Option<&'a [u8]>,
        out: &mut BatchBuilder,
    ) -> Result<(), String> {
        let places = std::mem::take(&mut self.places);
        let made = self.make(&Fields { places: &places, field }, out);
        self.places = places;
        out.push(made?);
        Ok(())
    }

    fn make(
        &mut self,
        row: &Fields<'_, '_>,
        out: &mut BatchBuilder,
    ) -> Result<TraceRecord, String> {
        let start_ns =
            row.number(Column::StartNs)?.ok_or("column start_ns: empty; expected nanoseconds")?;
        let op = row.text(Column::Op)?.unwrap_or_default();
        let operation = self.operations.get(op).copied().ok_or_else(|| {
            format!(
                "column op: {}: expected the name of an operation, e.g. read",
                shown(op.as_bytes())
            )
        })?;
        let class = match row.text(Column::Class)? {
            None => operation.class(),
            Some(class) => word(class).ok_or_else(|| {
                format!("column class: {}: expected e.g. read", shown(class.as_bytes()))
            })?,
        };
        let path = row.path(Column::PathBytes, Column::Path)?;
        let new_path = row.path(Column::NewPathBytes, Column::NewPath)?;
        let result = row.number(Column::Result)?;
        let error = row.text(Column::Error)?.and_then(errno::result);
        // Whatever is refused must be so before anything is added to the lists.
        let numbers = TraceRecord {
            duration_ns: row.number(Column::DurationNs)?,
            tid: row.number(Column::Tid)?,
            class,
            description: row.number(Column::OpenFile)?,
            offset: row.number(Column::Offset)?,
            asked_bytes: row.number(Column::AskedBytes)?,
            result: result.or(error),
            flags: row.text(Column::Flags)?.map_or(RecordFlags::NONE, RecordFlags::parse),
            pages: pages(row, class)?,
            device_read_bytes: row.number(Column::DeviceReadBytes)?,
            device_write_bytes: row.number(Column::DeviceWriteBytes)?,
            ..TraceRecord::new(start_ns, operation)
        };
        let (file, site) = (row.number(Column::File)?, row.number(Column::Site)?);
        Ok(TraceRecord {
            process: self.process(row, out)?,
            file: file.map(|file| self.file(file, path.as_deref(), out)),
            site: site.map(|site| self.site(site, out)),
            path: path.map(|path| out.path(&path)),
            new_path: new_path.map(|path| out.path(&path)),
            ..numbers
        })
    }

    fn process(
        &mut self,
        row: &Fields<'_, '_>,
        out: &mut BatchBuilder,
    ) -> Result<Option<ProcessIndex>, String> {
        let process = row.number(Column::Process)?;
        let comm = row.text(Column::Command)?.unwrap_or_default().to_owned();
        let Some(pid) = row.number(Column::Pid)? else { return Ok(None) };
        let key = (process, pid, comm.clone());
        let known = self.processes.entry(key);
        Ok(Some(*known.or_insert_with(|| {
            out.add_process(TraceProcess { pid, ppid: None, comm, argv: Vec::new() })
        })))
    }

    fn file(&mut self, file: u32, path: Option<&[u8]>, out: &mut BatchBuilder) -> FileIndex {
        *self.files.entry(file).or_insert_with(|| {
            let path: Option<std::ffi::OsString> =
                path.map(|path| std::os::unix::ffi::OsStringExt::from_vec(path.to_vec()));
            out.add_file(TraceFile {
                path: path.map(PathBuf::from),
                kind: FileKind::Regular,
                id: None,
                size_bytes: None,
                cached_pages: None,
            })
        })
    }

    fn site(&mut self, site: u32, out: &mut BatchBuilder) -> SiteIndex {
        let lost = || out.add_site(Site { frames: Vec::new(), state: SiteState::Lost });
        *self.sites.entry(site).or_insert_with(lost)
    }

    /// Whether rows pointed to call sites, whose frames no column has.
    pub(super) fn has_sites(&self) -> bool {
        !self.sites.is_empty()
    }
}

/// The numbers of pages, if all of them that the class has are there: one of them alone says
/// nothing of the others. Only zeros may be missing.
fn pages(row: &Fields<'_, '_>, class: OperationClass) -> Result<Option<RecordPages>, String> {
    let has = page_numbers(class);
    // What the class does not have means nothing, and is 0.
    let number = |column, number| match row.number::<u32>(column)? {
        _ if !has.has(number) => Ok::<_, String>(Some(0)),
        number => Ok(number),
    };
    let zeros = row.number(Column::Zeros)?.filter(|_| has.has(PageNumbers::ZEROS));
    let all = (
        number(Column::Pages, PageNumbers::PAGES)?,
        number(Column::Hits, PageNumbers::HITS)?,
        number(Column::AheadHits, PageNumbers::AHEAD_HITS)?,
        number(Column::Misses, PageNumbers::MISSES)?,
        number(Column::ReadAhead, PageNumbers::READ_AHEAD)?,
    );
    let (Some(pages), Some(hits), Some(ahead_hits), Some(misses), Some(read_ahead)) = all else {
        return Ok(None);
    };
    let is_any = has != PageNumbers::NONE;
    Ok(is_any.then_some(RecordPages { pages, hits, ahead_hits, misses, zeros, read_ahead }))
}
