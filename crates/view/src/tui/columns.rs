//! Which columns a table has in a given width, and where each stands.

use hotset_analysis::top::{Column, Kind};

/// A column of a table, as wide as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell {
    /// What it shows.
    pub(super) column: Column,
    /// Its title.
    pub(super) title: &'static str,
    /// Where it begins, from the left end of the table.
    pub(super) x: u16,
    /// How wide it is.
    pub(super) width: u16,
    /// Names stand left in their column and numbers right.
    pub(super) left: bool,
}

/// Below this width titles are short and numbers narrow.
const WIDE: u16 = 112;
/// A mark for the line's state stands left of the first column.
pub(super) const GUTTER: u16 = 1;
const GAP: u16 = 1;

/// Title and width of a column: narrow, then wide.
fn look(column: Column, kind: Kind) -> [(&'static str, u16); 2] {
    match column {
        Column::Pid => [("PID", 7), ("PID", 7)],
        Column::User => [("USER", 8), ("USER", 10)],
        Column::Name => match kind {
            Kind::Processes => [("COMMAND", 11), ("COMMAND", 16)],
            Kind::Files => [("FILE", 28), ("FILE", 30)],
            Kind::Groups => [("CGROUP", 28), ("CGROUP", 30)],
        },
        Column::Hits => [("HITS", 5), ("HITS", 9)],
        Column::Misses => [("MISSES", 6), ("MISSES", 9)],
        Column::Dirties => [("DIRTY", 5), ("DIRTIES", 9)],
        Column::ReadHit => [("RHIT%", 5), ("READ_HIT%", 9)],
        Column::WriteHit => [("WHIT%", 5), ("WRITE_HIT%", 10)],
        Column::Device => [("DEV%", 5), ("DEVICE%", 7)],
        Column::Direct => [("DIRECT", 6), ("DIRECT", 7)],
        Column::Faults => [("FAULTS", 6), ("FAULTS", 8)],
        Column::Count => match kind {
            Kind::Processes => [("FILES", 5), ("FILES", 6)],
            Kind::Files | Kind::Groups => [("PROCS", 5), ("PROCS", 6)],
        },
        Column::ReadAhead => [("AHEAD", 5), ("READAHEAD", 9)],
        Column::ReadBytes => [("READ", 5), ("READ", 6)],
        Column::WriteBytes => [("WRITE", 5), ("WRITTEN", 7)],
        Column::DeviceRead => [("DEV_R", 5), ("DEV_READ", 8)],
        Column::DeviceWrite => [("DEV_W", 5), ("DEV_WRITE", 9)],
        Column::Syncs => [("SYNCS", 5), ("SYNCS", 6)],
        Column::Wait => [("WAIT", 6), ("WAIT", 7)],
        Column::Group => [("CGROUP", 20), ("CGROUP", 20)],
        Column::Refaults => [("REFLT", 5), ("REFAULTS", 8)],
        Column::Cache => [("CACHE", 5), ("CACHE", 7)],
        Column::Need => [("NEED", 5), ("NEED", 7)],
    }
}

/// The title of a column where there is room for it.
pub(super) fn title(column: Column, kind: Kind) -> &'static str {
    look(column, kind)[1].0
}

/// The columns of a table that is `width` wide. Those that matter most are there first; the name takes what is left.
pub(super) fn columns(kind: Kind, width: u16) -> Vec<Cell> {
    let size = usize::from(width >= WIDE);
    let mut used = GUTTER;
    let mut cells = Vec::new();
    for &column in Column::all(kind) {
        let (title, wanted) = look(column, kind)[size];
        let gap = if cells.is_empty() { 0 } else { GAP };
        if used + gap + wanted > width && !cells.is_empty() {
            break;
        }
        used += gap + wanted;
        cells.push(Cell { column, title, x: 0, width: wanted, left: is_name(column) });
    }
    spread(&mut cells, width.saturating_sub(used));
    let mut x = GUTTER;
    for cell in &mut cells {
        cell.x = x;
        x = x.saturating_add(cell.width).saturating_add(GAP);
    }
    cells
}

/// Whether names stand in a column, which are set left.
pub(super) fn is_name(column: Column) -> bool {
    matches!(column, Column::User | Column::Name | Column::Group)
}

/// Gives what is left to the names: most of it to the control group where that is shown beside a process.
fn spread(cells: &mut [Cell], left: u16) {
    let group = cells.iter().position(|cell| cell.column == Column::Group);
    let name = cells.iter().position(|cell| cell.column == Column::Name);
    let for_group = if group.is_some() { left / 3 * 2 } else { 0 };
    for (cell, more) in [(group, for_group), (name, left - for_group)] {
        if let Some(cell) = cell.and_then(|cell| cells.get_mut(cell)) {
            cell.width = cell.width.saturating_add(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eighty_columns_hold_all_that_cachetop_has_and_more() {
        let cells = columns(Kind::Processes, 80);
        let titles: Vec<&str> = cells.iter().map(|cell| cell.title).collect();
        assert_eq!(
            titles,
            [
                "PID", "USER", "COMMAND", "HITS", "MISSES", "DIRTY", "RHIT%", "WHIT%", "DEV%",
                "DIRECT", "FAULTS"
            ]
        );
    }

    #[test]
    fn no_column_passes_the_edge() {
        for kind in Kind::ALL {
            for width in 0..260 {
                let cells = columns(kind, width);
                let end = cells.last().map_or(0, |cell| cell.x + cell.width);
                assert!(cells.len() == 1 || end <= width, "{kind:?} {width}: {end}");
                assert!(cells.len() == 1 || width < 30 || end == width, "{kind:?} {width}");
            }
        }
    }
}
