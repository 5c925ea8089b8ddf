//! The state of the screen.

mod expand;
mod keys;
mod mouse;
mod overlay;
mod table;
mod update;

use hotset_analysis::top::{
    Column, FrameHistory, ItemKey, Kind, Lines, Order, SinceStart, TopFrame, Unlisted, Value,
};
use hotset_facts::{NotMeasured, SizeHistogram};

use super::format;
use super::look::Look;
pub(super) use expand::Expanded;
pub(super) use overlay::Overlay;
pub(super) use table::Table;

/// What counts are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Counting {
    /// The interval that is shown.
    #[default]
    Interval,
    /// A second of it.
    Second,
    /// All since hotset started.
    Start,
}

impl Counting {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Interval => "counts per interval",
            Self::Second => "counts per second",
            Self::Start => "counts since the start",
        }
    }
}

/// How a screen starts.
#[derive(Debug, Clone)]
pub struct Setup {
    /// How it looks.
    pub look: Look,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The host's name; empty: none is shown.
    pub host: String,
    /// The interval in nanoseconds.
    pub interval_ns: u64,
    /// The view to begin with.
    pub kind: Kind,
    /// What its lines are sorted by; each view has its own otherwise.
    pub order: Option<Order>,
    /// What lines must hold.
    pub filter: String,
    /// The scope, if it is not the whole host: `process 1234`.
    pub scope: Option<String>,
    /// What this kernel can't tell.
    pub not_measured: Vec<NotMeasured>,
    /// The file that is recorded to.
    pub recording: Option<String>,
}

/// Where in a recording the screen is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name of the file.
    pub file: String,
    /// Which interval, from 0.
    pub index: usize,
    /// How many there are.
    pub count: usize,
    /// When the first ended.
    pub first: std::time::SystemTime,
    /// When the last ended.
    pub last: std::time::SystemTime,
    /// It goes on by itself.
    pub playing: bool,
}

/// The state of the screen.
#[derive(Debug, Clone)]
pub struct App {
    pub(super) setup: Setup,
    pub(super) kind: Kind,
    pub(super) tables: [Table; 3],
    pub(super) stack: Vec<Expanded>,
    pub(super) counting: Counting,
    pub(super) tree: bool,
    pub(super) paused: bool,
    pub(super) overlay: Overlay,
    pub(super) frame: Option<TopFrame>,
    pub(super) since: SinceStart,
    pub(super) trail: FrameHistory,
    /// What came while the screen was paused: the newest, the sums and the points.
    pub(super) held: Option<Held>,
    pub(super) histogram: Option<(ItemKey, Option<(SizeHistogram, SizeHistogram)>)>,
    pub(super) place: Option<Place>,
    pub(super) notice: Option<String>,
}

/// What came while the screen was paused.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) newest: TopFrame,
    pub(super) since: SinceStart,
    pub(super) trail: FrameHistory,
}

/// What an expanded item or a view shows lines of.
pub(super) struct Shown<'a> {
    pub(super) lines: &'a Lines,
    pub(super) unlisted: Unlisted,
    pub(super) table: &'a Table,
}

impl App {
    /// A screen that has nothing to show yet.
    pub fn new(setup: Setup) -> Self {
        let usual = Order::usual(Column::Hits);
        let table = |kind: Kind| {
            let order = setup.order.filter(|order| Column::all(kind).contains(&order.by));
            Table::new(order.unwrap_or(usual), setup.filter.clone())
        };
        Self {
            kind: setup.kind,
            tables: Kind::ALL.map(table),
            stack: Vec::new(),
            counting: Counting::default(),
            tree: false,
            paused: false,
            overlay: Overlay::None,
            frame: None,
            since: SinceStart::default(),
            trail: FrameHistory::default(),
            held: None,
            histogram: None,
            place: None,
            notice: None,
            setup,
        }
    }

    /// The frame that is shown.
    pub fn frame(&self) -> Option<&TopFrame> {
        self.frame.as_ref()
    }

    /// Says something in the last line until the next key.
    pub fn tell(&mut self, notice: impl Into<String>) {
        self.notice = Some(notice.into());
    }

    /// The item whose histogram of sizes is on the screen, if one is.
    pub fn wants_histogram(&self) -> Option<ItemKey> {
        if self.place.is_some() {
            return None;
        }
        let key = match self.stack.last() {
            Some(expanded) => Some(expanded.key.clone()),
            None if super::draw::has_panel(self) => self.looked_at(),
            None => None,
        };
        key.filter(|key| !matches!(key, ItemKey::Group(_)))
    }

    /// Hands in the histograms of reads and writes of an item; nothing where there are none.
    pub fn set_histogram(
        &mut self,
        key: ItemKey,
        histograms: Option<(SizeHistogram, SizeHistogram)>,
    ) {
        self.histogram = Some((key, histograms));
    }

    /// The lines on the screen.
    pub(super) fn shown(&self) -> Option<Shown<'_>> {
        if let Some(expanded) = self.stack.last() {
            let (lines, unlisted) = (&expanded.detail.lines, expanded.detail.unlisted);
            return Some(Shown { lines, unlisted, table: &expanded.table });
        }
        let frame = match self.counting {
            Counting::Start => self.since.frame()?,
            Counting::Interval | Counting::Second => self.frame.as_ref()?,
        };
        Some(Shown {
            lines: frame.of_kind(self.kind),
            unlisted: *frame.unlisted(self.kind),
            table: &self.tables[self.kind as usize],
        })
    }

    /// What counts on the screen are of: what is below an item is not summed up since the start.
    pub(super) fn counts(&self) -> Counting {
        match self.counting {
            Counting::Start if !self.stack.is_empty() => Counting::Interval,
            counting => counting,
        }
    }

    /// The kind of lines on the screen.
    pub(super) fn shown_kind(&self) -> Kind {
        self.stack.last().map_or(self.kind, |expanded| expanded.wanted)
    }

    /// What counts on the screen are divided by: seconds, if they are rates.
    fn per(&self) -> Option<f64> {
        let seconds = self.frame.as_ref()?.seconds();
        (self.counting == Counting::Second).then_some(seconds)
    }

    /// A value by the second, if counts are rates.
    pub(super) fn rate(&self, value: Value) -> Value {
        self.per().map_or(value, |seconds| value.per_second(seconds))
    }

    /// The same in at most `width` columns.
    pub(super) fn amount(&self, value: Value, width: usize) -> String {
        format::value(self.rate(value), width)
    }

    /// What stands in a column: as [`Self::amount`], and `-` where this kernel can't tell.
    pub(super) fn amount_in(&self, column: Column, value: Value, width: usize) -> String {
        match column.gap(&self.setup.not_measured) {
            Some(_) => "-".to_owned(),
            None => self.amount(value, width),
        }
    }

    /// The item that is selected, else the first.
    pub(super) fn looked_at(&self) -> Option<ItemKey> {
        let table = &self.shown()?.table;
        table.selected.clone().or_else(|| table.first.clone())
    }

    pub(super) fn table_mut(&mut self) -> &mut Table {
        match self.stack.last_mut() {
            Some(expanded) => &mut expanded.table,
            None => &mut self.tables[self.kind as usize],
        }
    }

    /// Puts the lines on the screen in order, after anything that may have changed them.
    pub(super) fn arrange(&mut self) {
        let height = usize::from(super::draw::table_height(self));
        let tree = self.tree;
        let Some(shown) = self.shown() else { return };
        let mut table = shown.table.clone();
        table.arrange(shown.lines, height, tree);
        *self.table_mut() = table;
    }
}
