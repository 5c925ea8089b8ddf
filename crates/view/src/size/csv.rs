//! Limits as rows for a spreadsheet.

use hotset_analysis::size::{SizeLimit, SizeSummary};

use super::{rows, words};
use crate::csv::push_line;

const TITLES: &str = "limit_bytes,cache_bytes,hits,misses,filled,beside_pages,refaults,written_pages,hit_ratio,hit_ratio_low,hit_ratio_high,\
                      run_ns,waited_ns,device_read_bytes_per_s,mark\n";

/// A line for each limit of the table, by RFC 4180 with plain line feeds: sizes in bytes, counts in pages, ratios from 0 to 1, times in
/// nanoseconds. What is not known is empty.
pub fn size_csv(summary: &SizeSummary) -> Vec<u8> {
    let mut out = TITLES.as_bytes().to_vec();
    for limit in rows(summary) {
        push_line(&mut out, &fields(&limit, words::mark(&limit, summary)));
    }
    out
}

fn fields(limit: &SizeLimit, mark: String) -> [String; 15] {
    let known = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
    let (low, high) = limit.hit_ratio_range;
    [
        known(limit.limit_bytes),
        limit.cache_bytes.to_string(),
        limit.hits.to_string(),
        limit.misses.to_string(),
        limit.filled.to_string(),
        limit.beside_pages.to_string(),
        limit.refaults.to_string(),
        limit.written_pages.to_string(),
        limit.hit_ratio.to_string(),
        low.to_string(),
        high.to_string(),
        known(limit.run_ns),
        known(limit.waited_ns),
        limit.device_read_bytes_per_s.map_or_else(String::new, |rate| rate.to_string()),
        mark,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::tests::{limit, summary};

    #[test]
    fn each_limit_is_a_row_of_plain_numbers() {
        let summary = summary();
        let text = String::from_utf8(size_csv(&summary)).expect("text");
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        // Three of a grid, the one that is enough, and the one that thrashes.
        assert_eq!((lines.len(), lines[0].len()), (6, 15));
        assert!(lines.iter().all(|line| line.len() == 15), "{text}");
        assert_eq!(
            lines[4].join(","),
            "188743680,73400320,179000,21000,10,256,1000,0,0.895,0,1,3050000000,1050000000,34406400,enough"
        );
        let marks: Vec<&str> = lines.iter().map(|line| line[14]).collect();
        assert_eq!(marks, ["mark", "thrashes", "thrashes", "", "enough", ""]);
    }

    #[test]
    fn what_is_not_known_is_empty() {
        let unknown = SizeLimit {
            limit_bytes: None,
            run_ns: None,
            waited_ns: None,
            device_read_bytes_per_s: None,
            ..limit(10, 3, 1, 0)
        };
        let fields = fields(&unknown, String::new());
        assert_eq!(fields.join(","), ",10485760,3,1,10,256,0,0,0.75,0,1,,,,");
    }
}
