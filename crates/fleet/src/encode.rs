//! Rows as a Parquet file.

use std::collections::HashSet;
use std::sync::Arc;

use hotset_facts::fleet::{
    Cells, Column, ColumnKind, FLEET_VERSION, FleetRow, Meaning, columns_of,
};
use parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel,
};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

/// Rows of a row group. A host's hour is one; a compacted file has several.
const GROUP_ROWS: usize = 122_880;
/// How often each number of a column is there, on average, from which on they stand in a dictionary.
const LEAST_REPEATS: usize = 4;

/// A file with these rows, in the order of its table. Rows are in one file of one table, so that most columns hardly change from row to
/// row: 72,000 rows of control groups, a day of 50, took 2.0 MB with amounts drawn at random (`examples/tables`).
///
/// # Errors
/// As Parquet gives them; rows of these tables have none.
pub fn encode<R: FleetRow>(mut rows: Vec<R>) -> Result<Vec<u8>, ParquetError> {
    rows.sort_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    let columns = columns_of(R::TABLE);
    let schema = schema(R::TABLE.as_str(), &columns)?;
    let mut file = Vec::new();
    let mut groups = rows.chunks(GROUP_ROWS).map(|rows| Buffers::of(&columns, rows)).peekable();
    let properties = properties(&columns, groups.peek())?;
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::new(properties))?;
    for buffers in groups {
        let mut group = writer.next_row_group()?;
        for buffer in &buffers.columns {
            if let Some(column) = group.next_column()? {
                buffer.write(column)?;
            }
        }
        group.close()?;
    }
    writer.append_key_value_metadata(KeyValue::new(
        "hotset.fleet".to_owned(),
        format!("{}/{FLEET_VERSION}", R::TABLE.as_str()),
    ));
    writer.close()?;
    Ok(file)
}

fn schema(table: &str, columns: &[Column]) -> Result<TypePtr, ParquetError> {
    let field = |column: &Column| {
        let repetition =
            if column.may_be_null { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let logical = match column.kind {
            ColumnKind::Time => Some(LogicalType::timestamp(true, TimeUnit::MICROS)),
            ColumnKind::Text => Some(LogicalType::String),
            ColumnKind::Number | ColumnKind::Flag => None,
        };
        Type::primitive_type_builder(column.name, physical(column.kind))
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()
            .map(Arc::new)
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder(table).with_fields(fields).build().map(Arc::new)
}

fn physical(kind: ColumnKind) -> Physical {
    match kind {
        ColumnKind::Number | ColumnKind::Time => Physical::INT64,
        ColumnKind::Flag => Physical::BOOLEAN,
        ColumnKind::Text => Physical::BYTE_ARRAY,
    }
}

/// Values that repeat stand in dictionaries, other numbers and times are deltas. What is grouped and filtered by has statistics: engines skip
/// files by them.
fn properties(
    columns: &[Column],
    first: Option<&Buffers>,
) -> Result<WriterProperties, ParquetError> {
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
        .set_created_by(concat!("hotset version ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None);
    for (at, column) in columns.iter().enumerate() {
        let path = || column.name.into();
        let buffer = first.and_then(|first| first.columns.get(at));
        if column.meaning == Meaning::Key {
            builder = builder.set_column_statistics_enabled(path(), EnabledStatistics::Chunk);
        }
        if buffer.is_some_and(|buffer| !buffer.repeats()) {
            builder = builder
                .set_column_dictionary_enabled(path(), false)
                .set_column_encoding(path(), Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(builder.build())
}

/// The values of a column, and which rows have one.
struct Buffer {
    may_be_null: bool,
    present: Vec<i16>,
    values: Values,
}

enum Values {
    Numbers(Vec<i64>),
    Flags(Vec<bool>),
    Texts(Vec<ByteArray>),
}

impl Buffer {
    fn new(column: &Column) -> Self {
        let values = match column.kind {
            ColumnKind::Number | ColumnKind::Time => Values::Numbers(Vec::new()),
            ColumnKind::Flag => Values::Flags(Vec::new()),
            ColumnKind::Text => Values::Texts(Vec::new()),
        };
        Self { may_be_null: column.may_be_null, present: Vec::new(), values }
    }

    /// Whether a dictionary of its values is worth while: of most counters it is not, of limits, idle groups and names it is. Deltas of other
    /// numbers take less, and an engine reads them faster: no dictionary comes before them.
    fn repeats(&self) -> bool {
        let Values::Numbers(values) = &self.values else { return true };
        let distinct: HashSet<i64> = values.iter().copied().collect();
        distinct.len() * LEAST_REPEATS <= values.len()
    }

    fn write(&self, mut column: SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = self.may_be_null.then_some(self.present.as_slice());
        match (column.untyped(), &self.values) {
            (ColumnWriter::Int64ColumnWriter(writer), Values::Numbers(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            (ColumnWriter::BoolColumnWriter(writer), Values::Flags(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Texts(values)) => {
                writer.write_batch(values, levels, None)?;
            }
            _ => return Err(ParquetError::General("a column of another type".to_owned())),
        }
        column.close()
    }
}

/// All columns of a row group, while rows are taken apart.
struct Buffers {
    columns: Vec<Buffer>,
    place: usize,
    last_text: Vec<Option<ByteArray>>,
}

impl Buffers {
    fn new(columns: &[Column]) -> Self {
        let last_text = vec![None; columns.len()];
        Self { columns: columns.iter().map(Buffer::new).collect(), place: 0, last_text }
    }

    fn of<R: FleetRow>(columns: &[Column], rows: &[R]) -> Self {
        let mut buffers = Self::new(columns);
        for row in rows {
            buffers.place = 0;
            row.cells(&mut buffers);
        }
        buffers
    }

    fn next(&mut self) -> Option<(&mut Buffer, &mut Option<ByteArray>)> {
        let place = self.place;
        self.place += 1;
        self.columns.get_mut(place).zip(self.last_text.get_mut(place))
    }
}

impl Cells for Buffers {
    fn number(&mut self, value: Option<u64>) {
        let Some((Buffer { present, values: Values::Numbers(values), .. }, _)) = self.next() else {
            return;
        };
        present.push(value.is_some().into());
        values.extend(value.map(|value| i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn time(&mut self, value: i64) {
        if let Some((Buffer { present, values: Values::Numbers(values), .. }, _)) = self.next() {
            present.push(1);
            values.push(value);
        }
    }

    fn flag(&mut self, value: bool) {
        if let Some((Buffer { present, values: Values::Flags(values), .. }, _)) = self.next() {
            present.push(1);
            values.push(value);
        }
    }

    fn text(&mut self, value: Option<&str>) {
        let Some((Buffer { present, values: Values::Texts(values), .. }, last)) = self.next()
        else {
            return;
        };
        present.push(value.is_some().into());
        let Some(value) = value else { return };
        // Rows in order have the same text again and again: one copy is enough.
        let is_last = last.as_ref().is_some_and(|last| last.data() == value.as_bytes());
        if !is_last {
            *last = Some(value.as_bytes().to_vec().into());
        }
        values.extend(last.clone());
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hotset_facts::fleet::{CountedIo, GroupIntervalRow, HostRow, Workload};
    use hotset_facts::{Feature, LiveIo};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, Row};

    use super::*;

    type TestResult = Result<(), Box<dyn std::error::Error>>;

    fn counted(read_calls: u64) -> CountedIo {
        let io = LiveIo { read_calls, ..LiveIo::ZERO };
        CountedIo { io, lacks: vec![Feature::BlockLayer] }
    }

    fn row(cgroup: &str, ts: i64, read_calls: u64) -> GroupIntervalRow {
        let mut row = GroupIntervalRow {
            who: Workload { cgroup: cgroup.into(), ..Workload::default() },
            io: counted(read_calls),
            ..GroupIntervalRow::default()
        };
        row.key.ts = ts;
        row.memory.limit_bytes = (read_calls > 1).then_some(4096);
        row
    }

    fn read(file: Vec<u8>) -> Result<Vec<Row>, ParquetError> {
        SerializedFileReader::new(Bytes::from(file))?.get_row_iter(None)?.collect()
    }

    fn field(row: &Row, name: &str) -> Option<Field> {
        row.get_column_iter().find(|(other, _)| *other == name).map(|(_, field)| field.clone())
    }

    #[test]
    fn rows_read_back_in_order_with_what_is_missing() -> TestResult {
        let rows = read(encode(vec![row("/b", 1, 2), row("/a", 2, 1), row("/a", 1, u64::MAX)])?)?;
        let all = |name| rows.iter().filter_map(|row| field(row, name)).collect::<Vec<_>>();
        let text = |text: &str| Field::Str(text.to_owned());
        assert_eq!(all("cgroup"), [text("/a"), text("/a"), text("/b")]);
        let time = Field::TimestampMicros;
        assert_eq!(all("ts"), [time(1), time(2), time(1)]);
        let calls = [Field::Long(i64::MAX), Field::Long(1), Field::Long(2)];
        assert_eq!(all("read_calls"), calls, "no engine has 64 bits without a sign");
        let unknown = [Field::Null, Field::Null, Field::Null];
        assert_eq!(all("device_read_bytes"), unknown, "it needs what the host lacks");
        assert_eq!(all("limit_bytes"), [Field::Long(4096), Field::Null, Field::Long(4096)]);
        Ok(())
    }

    #[test]
    fn every_column_of_a_table_is_in_the_file() -> TestResult {
        let rows = read(encode(vec![HostRow::default()])?)?;
        let names: Vec<_> = rows[0].get_column_iter().map(|(name, _)| name.clone()).collect();
        let columns = columns_of(HostRow::TABLE);
        assert_eq!(names, columns.iter().map(|column| column.name).collect::<Vec<_>>());
        Ok(())
    }

    #[test]
    fn no_rows_are_a_file_too() -> TestResult {
        assert_eq!(read(encode(Vec::<HostRow>::new())?)?.len(), 0);
        Ok(())
    }
}
