//! Tables of a page as HTML.

use maud::{Markup, html};

use crate::page::model::Table;

/// Longer tables are folded.
const OPEN_ROWS: usize = 24;

/// A table, folded if it is long; `caption` is its caption's id.
pub(super) fn table(table: &Table, caption: &str) -> Markup {
    if table.rows.is_empty() {
        return html! {};
    }
    let class = |number: usize| {
        table.columns.get(number).filter(|column| column.is_number).map(|_| "number")
    };
    let whole = html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(caption) {
            table {
                caption id=(caption) { span { (table.caption) } }
                thead {
                    tr {
                        @for (number, column) in table.columns.iter().enumerate() {
                            th scope="col" class=[class(number)] { (column.title) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (number, cell) in row.iter().enumerate() {
                                @if number == 0 { th scope="row" class=[class(0)] { (cell) } }
                                @else { td class=[class(number)] { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    };
    html! {
        @if table.rows.len() > OPEN_ROWS {
            details.table {
                summary { (table.caption) ": " (super::part::count(table.rows.len(), "row")) }
                (whole)
            }
        } @else { (whole) }
    }
}
