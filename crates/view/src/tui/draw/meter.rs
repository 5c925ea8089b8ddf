//! Curves and bars out of characters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::super::look::Look;

/// Bars side by side in an area, the last value at its right end, each as high as its part of `most`. Where there is no value
/// there is no bar; zero is the lowest bar, so that the two differ.
pub(super) fn bars(
    buf: &mut Buffer,
    area: Rect,
    values: impl DoubleEndedIterator<Item = Option<f64>>,
    most: f64,
    look: Look,
    style: Style,
) {
    let glyphs = look.bars();
    for (x, value) in (area.x..area.right()).rev().zip(values.rev()) {
        let Some(value) = value.filter(|value| value.is_finite()) else { continue };
        let part = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        let mut eighths = (part * 8.0 * f64::from(area.height)).round().max(1.0) as usize;
        for y in (area.y..area.bottom()).rev() {
            let here = eighths.min(8);
            eighths -= here;
            if here > 0
                && let Some(cell) = buf.cell_mut((x, y))
            {
                cell.set_char(glyphs[here]).set_style(style);
            }
        }
    }
}

/// The largest of some values; 0 if there are none.
pub(super) fn largest(values: impl Iterator<Item = Option<f64>>) -> f64 {
    values.flatten().filter(|value| value.is_finite()).fold(0.0, f64::max)
}
