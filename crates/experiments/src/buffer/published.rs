//! What the article measured that this experiment repeats.

use hotset_analysis::lab::PublishedFigure;

const SOURCE: &str = "an article on the buffer of Go's bufio.Writer, sizes 64 B to 1 MiB";
const MACHINE: &str = "Linux with ext4; not described further";

/// The published figures, as far as they are told and not only drawn. It also says that time and size don't correlate where the
/// buffer is larger than the file, and advises a multiple of 4096, as large as one can.
pub(super) const FIGURES: &[PublishedFigure] = &[PublishedFigure {
    source: SOURCE,
    machine: MACHINE,
    what: "write a file that is larger than the buffer: at least, approximately",
    value: 1e6,
    unit: "ns",
    here: &[],
    or_here: &[],
}];
