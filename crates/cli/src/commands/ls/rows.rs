//! The rows of a listing, in the form that was asked for, on standard output.

use anyhow::Result;
use hotset_analysis::listing::{DirectoryRow, Notes, RowNumbers, TotalNumbers};
use hotset_control::listing::{Cells, RowSink};
use hotset_facts::ListedFile;
use hotset_view::listing::{self, ListRow, ListStyle, ListTable};

use crate::args::LsArgs;
use crate::output::{self, RowStream, listing_style};

/// Rows that were kept are printed in parts of about this size.
const BUFFER_BYTES: usize = 64 * 1024;

/// How rows are printed.
enum Form {
    Table(ListTable),
    Csv,
    Json,
    Names {
        null: bool,
    },
    Map,
    /// Only the total.
    Total,
    /// No output at all.
    Quiet,
}

/// Standard output, and how it looks.
pub(super) struct Rows {
    form: Form,
    style: ListStyle,
    terminal: bool,
    /// Cells of a map, or of JSON, that were asked for.
    asked_cells: Option<u32>,
    page_bytes: u64,
    stream: RowStream,
}

impl Rows {
    pub(super) fn new(args: &LsArgs) -> Self {
        let (style, terminal) = listing_style(&args.form);
        let form = form(args, style);
        let separator = matches!(form, Form::Json).then_some(b',');
        let (asked_cells, page_bytes) = (args.form.cells, hotset_sys::page_size());
        Self { form, style, terminal, asked_cells, page_bytes, stream: RowStream::new(separator) }
    }

    /// The pictures that rows show.
    pub(super) fn cells(&self) -> Cells {
        let asked = self.asked_cells.map(|cells| cells as usize);
        let (count, of_every_file) = match &self.form {
            Form::Table(table) => (table.bar_cells(), false),
            Form::Map => (asked.unwrap_or_else(|| listing::map_cells(&self.style)), true),
            Form::Json => (asked.unwrap_or(0), true),
            Form::Csv | Form::Names { .. } | Form::Total | Form::Quiet => (0, false),
        };
        Cells { count, of_every_file }
    }

    /// Prints what stands before the rows; false where nobody reads it.
    pub(super) fn begin(&self) -> bool {
        match &self.form {
            Form::Table(table) => self.text(table.head().as_bytes()),
            Form::Csv => self.text(listing::csv_head().as_bytes()),
            Form::Json => self.text(listing::json_head().as_bytes()),
            Form::Names { .. } | Form::Map | Form::Total | Form::Quiet => true,
        }
    }

    /// Prints the files that `files` hands on, and counts them.
    pub(super) fn files(&self, files: impl FnOnce(&mut dyn FnMut(&ListedFile))) -> u64 {
        let (mut buffer, mut shown) = (Vec::new(), 0);
        files(&mut |file| {
            self.push(file, &mut buffer);
            shown += 1;
            if buffer.len() >= BUFFER_BYTES {
                self.stream.rows(&buffer);
                buffer.clear();
            }
        });
        self.stream.rows(&buffer);
        shown
    }

    /// Prints what stands between the rows of files and those of directories.
    pub(super) fn begin_directories(&self) {
        if matches!(self.form, Form::Json) {
            self.text(listing::json_directories().as_bytes());
            self.stream.restart(b',');
        }
    }

    /// Prints the rows of directories.
    pub(super) fn directories(&self, directories: &[DirectoryRow]) {
        let mut buffer = Vec::new();
        for row in directories {
            match self.form {
                Form::Json => listing::json_directory(row, false, &mut buffer),
                _ => {
                    let row = ListRow { path: &row.path, numbers: &row.numbers, cells: &[] };
                    self.push_row(&row, &mut buffer);
                }
            }
        }
        self.stream.rows(&buffer);
    }

    /// Prints the total, and what could not be told.
    pub(super) fn end(&self, total: &TotalNumbers, notes: &Notes) {
        match &self.form {
            Form::Json => {
                let mut tail = Vec::new();
                listing::json_tail(total, &notes.unreadable, self.page_bytes, &mut tail);
                self.text(&tail);
            }
            Form::Table(_) | Form::Map | Form::Total => {
                if matches!(self.form, Form::Map) && total.shown > 0 {
                    self.text(listing::map_legend(&self.style).as_bytes());
                }
                self.text(listing::total_lines(total, notes, &self.style).as_bytes());
            }
            Form::Csv | Form::Names { .. } | Form::Quiet => {}
        }
        if !matches!(self.form, Form::Json | Form::Quiet) {
            listing::unreadable_lines(notes).iter().for_each(output::say);
        }
    }

    /// Whether everything was printed.
    ///
    /// # Errors
    /// The first that standard output gave.
    pub(super) fn finish(self) -> Result<()> {
        self.stream.finish()
    }

    /// Prints what is no row; false where nobody reads it any more.
    fn text(&self, text: &[u8]) -> bool {
        self.stream.text(text)
    }

    /// Appends a row of anything but JSON.
    fn push_row(&self, row: &ListRow<'_>, out: &mut Vec<u8>) {
        match &self.form {
            Form::Table(table) => out.extend_from_slice(table.row(row).as_bytes()),
            Form::Csv => listing::csv_row(row, self.terminal, out),
            Form::Names { null } => {
                out.extend_from_slice(&listing::name_line(row.path, *null, self.terminal));
            }
            Form::Map => out
                .extend_from_slice(listing::map_file(row, self.page_bytes, &self.style).as_bytes()),
            Form::Json | Form::Total | Form::Quiet => {}
        }
    }
}

impl RowSink for Rows {
    fn push(&self, file: &ListedFile, out: &mut Vec<u8>) {
        let numbers = RowNumbers::of_file(file, self.page_bytes);
        match &self.form {
            Form::Json => listing::json_file(file, &numbers, false, out),
            _ => {
                let row = ListRow { path: &file.path, numbers: &numbers, cells: &file.cells };
                self.push_row(&row, out);
            }
        }
    }

    fn print(&self, rows: &[u8]) -> bool {
        self.stream.rows(rows)
    }
}

fn form(args: &LsArgs, style: ListStyle) -> Form {
    let null = args.selection.null;
    let only_names = null && args.selection.files_from.is_none();
    match &args.form {
        form if form.quiet => Form::Quiet,
        form if form.json => Form::Json,
        form if form.csv => Form::Csv,
        form if form.map => Form::Map,
        form if form.names || only_names => Form::Names { null },
        _ if args.rows.summarize => Form::Total,
        _ if args.rows.dirs => Form::Table(ListTable::new(listing::Rows::Directories, style)),
        _ => Form::Table(ListTable::new(listing::Rows::Files, style)),
    }
}
