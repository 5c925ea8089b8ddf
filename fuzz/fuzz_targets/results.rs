//! Whatever a file of results holds, reading it and making its page gives a page or an error.

#![no_main]

use hotset_view::results::{Contents, ResultFile, results_page};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = ResultFile { name: "results.json", contents: Contents::Documents(bytes) };
    if let Ok(page) = results_page([file.clone(), file], &hotset_experiments::present) {
        let mut out = Vec::new();
        hotset_view::page::write_page(&page, &mut out).expect("memory takes all");
        assert!(!out.is_empty());
    }
});
