use super::super::order::{Direction, SortKey};
use super::super::testing::{file, unknown};
use super::*;

fn files() -> Vec<ListedFile> {
    vec![
        file("/r/a/x", 40_960, 10),
        file("/r/a/deep/er/y", 4096, 0),
        file("/r/a-b/z", 8192, 1),
        file("/r/top", 4096, 1),
        unknown("/r/secret/k", 4096),
    ]
}

fn rows(max_depth: Option<u32>, order: Option<Order>) -> Vec<(String, u64, Option<u64>)> {
    let roots = [PathBuf::from("/r"), PathBuf::from("/other/file")];
    let mut halves = [RollUp::new(4096, max_depth), RollUp::new(4096, max_depth)];
    for (number, found) in files().iter().enumerate() {
        halves[number % 2].add(0, &roots[0], found);
    }
    halves[1].add(1, &roots[1], &file("/other/file", 4096, 1));
    let [mut all, other] = halves;
    all.merge(other);
    let rows = all.into_rows(&roots, order);
    let row = |row: DirectoryRow| {
        let numbers = row.numbers;
        (row.path.display().to_string(), numbers.files, numbers.cached_pages.value())
    };
    rows.into_iter().map(row).collect()
}

fn row(path: &str, files: u64, cached: u64) -> (String, u64, Option<u64>) {
    (path.to_owned(), files, Some(cached))
}

#[test]
fn a_directory_holds_all_that_lies_below_it_and_stands_after_it() {
    let wanted = [
        row("/r/a/deep/er", 1, 0),
        row("/r/a/deep", 1, 0),
        row("/r/a", 2, 10),
        row("/r/a-b", 1, 1),
        ("/r/secret".to_owned(), 1, None),
        row("/r", 5, 12),
        row("/other/file", 1, 1),
    ];
    assert_eq!(rows(None, None), wanted);
}

#[test]
fn a_depth_folds_what_lies_deeper_into_the_last_level() {
    let wanted = [
        row("/r/a", 2, 10),
        row("/r/a-b", 1, 1),
        ("/r/secret".to_owned(), 1, None),
        row("/r", 5, 12),
    ];
    assert_eq!(rows(Some(1), None)[..4], wanted);
    assert_eq!(rows(Some(0), None), [row("/r", 5, 12), row("/other/file", 1, 1)]);
}

#[test]
fn an_order_sorts_directories_too() {
    let order = Order { key: SortKey::Cached, direction: Direction::Usual };
    let names: Vec<String> = rows(Some(1), Some(order)).into_iter().map(|row| row.0).collect();
    assert_eq!(names, ["/r", "/r/a", "/other/file", "/r/a-b", "/r/secret"]);
}

/// What a tree of any shape adds up to is what its root says, and what its children and own files add up to.
#[test]
fn sums_of_directories_are_the_total() {
    let mut state = 7_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..50 {
        let mut total = ListingTotals::default();
        let mut roll_up = RollUp::new(4096, None);
        for number in 0..random(200) {
            let depth = random(6);
            let path: String = (0..depth).map(|_| format!("d{}/", random(3))).collect();
            let size = random(1 << 16);
            let found = file(&format!("/r/{path}f{number}"), size, random(1 + size.div_ceil(4096)));
            total.add(pages_of(&found, 4096), found.size_bytes, &found.state);
            roll_up.add(0, Path::new("/r"), &found);
        }
        let own: u64 = roll_up.own.values().map(|totals| totals.cached_pages).sum();
        let rows = roll_up.into_rows(&["/r".into()], None);
        assert_eq!(own, total.cached_pages);
        let Some(last) = rows.last() else { continue };
        assert_eq!(last.numbers, RowNumbers::of_totals(&total, 4096));
        for parent in &rows {
            let children = rows.iter().filter(|row| row.path.parent() == Some(&parent.path));
            let below: u64 = children.map(|row| row.numbers.files).sum();
            assert!(below <= parent.numbers.files);
        }
    }
}
