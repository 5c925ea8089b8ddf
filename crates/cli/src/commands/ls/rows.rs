//! What a listing is to do, the same for all of its threads.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use hotset_analysis::listing::{Arena, Only, Order, RollUp, RowNumbers, Top};
use hotset_facts::ListedFile;
use hotset_view::listing::{self, ListRow, ListStyle, ListTable, Rows};

use crate::args::LsArgs;
use crate::output::{RowStream, listing_style};

/// How rows are printed.
pub(super) enum Form {
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

/// What a thread keeps of the files that it finds.
pub(super) enum Keep {
    /// Nothing: rows are printed at once.
    Nothing,
    All(Arena),
    Top(Top),
    Directories(RollUp),
}

/// One listing.
pub(super) struct Job<'a> {
    pub(super) form: Form,
    pub(super) style: ListStyle,
    pub(super) terminal: bool,
    pub(super) order: Option<Order>,
    pub(super) top: Option<usize>,
    pub(super) only: Option<Only>,
    pub(super) dirs: bool,
    /// Whether files or directories have rows.
    pub(super) has_rows: bool,
    pub(super) depth: Option<u32>,
    pub(super) roots: Vec<PathBuf>,
    pub(super) page_bytes: u64,
    pub(super) stream: RowStream,
    /// Cells that a row shows; `always` where also those of files that are wholly cached or not at all are wanted.
    pub(super) cells: usize,
    pub(super) cells_always: bool,
    stop: &'a AtomicBool,
}

impl<'a> Job<'a> {
    pub(super) fn new(args: &LsArgs, roots: Vec<PathBuf>, stop: &'a AtomicBool) -> Self {
        let (style, terminal) = listing_style(&args.form);
        let form = form(args, style);
        let asked = args.form.cells.map(|cells| cells as usize);
        let (cells, cells_always) = match &form {
            Form::Table(table) => (table.bar_cells(), false),
            Form::Map => (asked.unwrap_or_else(|| listing::map_cells(&style)), true),
            Form::Json => (asked.unwrap_or(0), true),
            _ => (0, false),
        };
        let has_rows = !args.rows.summarize && !matches!(form, Form::Quiet);
        let separator = matches!(form, Form::Json).then_some(b',');
        Self {
            form,
            style,
            terminal,
            order: args.rows.order(),
            top: args.rows.top,
            only: args.rows.filter(),
            dirs: args.rows.dirs,
            has_rows,
            depth: args.selection.depth,
            roots,
            page_bytes: hotset_sys::page_size(),
            stream: RowStream::new(separator),
            cells,
            cells_always,
            stop,
        }
    }

    /// What a thread begins with.
    pub(super) fn keep(&self) -> Keep {
        match (self.order, self.top) {
            _ if !self.has_rows => Keep::Nothing,
            _ if self.dirs => Keep::Directories(RollUp::new(self.page_bytes, self.depth)),
            (Some(order), Some(top)) => Keep::Top(Top::new(order, top)),
            (Some(_), None) => Keep::All(Arena::default()),
            (None, _) => Keep::Nothing,
        }
    }

    /// Prints what stands before the rows.
    pub(super) fn begin(&self) {
        match &self.form {
            Form::Table(table) => self.text(table.head().as_bytes()),
            Form::Csv => self.text(listing::csv_head().as_bytes()),
            Form::Json => self.text(listing::json_head().as_bytes()),
            Form::Names { .. } | Form::Map | Form::Total | Form::Quiet => {}
        }
    }

    /// Appends the row of a file.
    pub(super) fn push_file(&self, file: &ListedFile, out: &mut Vec<u8>) {
        let numbers = RowNumbers::of_file(file, self.page_bytes);
        match &self.form {
            Form::Json => listing::json_file(file, &numbers, false, out),
            _ => self.push_row(
                &ListRow { path: &file.path, numbers: &numbers, cells: &file.cells },
                out,
            ),
        }
    }

    /// Appends a row of anything but JSON.
    pub(super) fn push_row(&self, row: &ListRow<'_>, out: &mut Vec<u8>) {
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

    /// Prints rows; where nobody reads them any more, the walk stops.
    pub(super) fn print(&self, rows: &[u8]) {
        if !self.stream.rows(rows) {
            self.stop();
        }
    }

    /// Prints what is no row.
    pub(super) fn text(&self, text: &[u8]) {
        if !self.stream.text(text) {
            self.stop();
        }
    }

    /// Whether everything was printed.
    ///
    /// # Errors
    /// The first that standard output gave.
    pub(super) fn finish(self) -> Result<()> {
        self.stream.finish()
    }

    /// Ends the walk early: nothing that is still to come would change what is said.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
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
        _ if args.rows.dirs => Form::Table(ListTable::new(Rows::Directories, style)),
        _ => Form::Table(ListTable::new(Rows::Files, style)),
    }
}
