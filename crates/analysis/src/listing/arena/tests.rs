use super::super::order::Direction;
use super::super::testing::{file, pictured, unknown, with};
use super::*;

fn by_name() -> Order {
    Order { key: SortKey::Name, direction: Direction::Usual }
}

#[test]
fn every_part_of_a_row_comes_back() {
    let odd = PathBuf::from(OsStr::from_bytes(b"/x/\xff\n"));
    let all = [
        file("/", 0, 0),
        file("/a/b/c", u64::MAX, 1 << 40),
        with(file("/a/b/d", 9000, 3), |state| {
            state.dirty_pages = Observed::Value(1);
            state.recently_evicted_pages = Observed::Value(200);
        }),
        with(file("/a/b/e", 9000, 3), |state| {
            state.writeback_pages = Observed::Value(2);
            state.evicted_pages = Observed::Value(70_000);
        }),
        with(file("/a/m", 9000, 1), |state| *state = Residency::from_mincore(9000, 3, 1)),
        pictured(file("/a/p", 9000, 1), &[(1, 1), (1, 0), (1, 0)]),
        unknown("/a/u", 4097),
        ListedFile { path: odd, ..file("", 1, 1) },
        file("relative", 5, 1),
    ];
    let mut arena = Arena::default();
    all.iter().for_each(|file| arena.push(file));
    assert_eq!((arena.len(), arena.is_empty()), (all.len(), false));
    let mut wanted = all.to_vec();
    wanted.sort_by(|a, b| by_name().compare(a, b));
    let back: Vec<ListedFile> = sorted(&[arena], by_name()).collect();
    assert_eq!(back, wanted);
}

#[test]
fn arenas_sort_together_as_a_plain_list_does() {
    let mut state = 1_u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let files: Vec<ListedFile> = (0..20_000)
        .map(|number| {
            let path = format!("/d{}/e{}/f{number:040}", random(9), random(3));
            let size = random(1 << 20);
            match random(10) {
                0 => unknown(&path, size),
                _ => file(&path, size, random(1 + size.div_ceil(4096))),
            }
        })
        .collect();
    let mut arenas = [Arena::default(), Arena::default(), Arena::default()];
    for (number, file) in files.iter().enumerate() {
        arenas[number % 3].push(file);
    }
    assert!(arenas[0].chunks.len() > 1, "more than one chunk");
    for key in [SortKey::Cached, SortKey::Size, SortKey::Name, SortKey::Percent, SortKey::Dirty] {
        for direction in [Direction::Usual, Direction::Reversed] {
            let order = Order { key, direction };
            let mut wanted = files.clone();
            wanted.sort_by(|a, b| order.compare(a, b));
            assert!(sorted(&arenas, order).eq(wanted), "{order:?}");
        }
    }
}

#[test]
fn a_common_row_takes_few_bytes() {
    let mut arena = Arena::default();
    for number in 0..1000 {
        arena.push(&file(&format!("/usr/share/doc/file-{number:06}.txt"), 8000, 2));
    }
    let bytes: usize = arena.chunks.iter().map(Vec::len).sum();
    assert!(bytes <= 1000 * 32, "{bytes}");
    assert_eq!(arena.directories.len(), 1);
}

#[test]
fn a_name_longer_than_a_chunk_is_kept_too() {
    let mut arena = Arena::default();
    let long = file(&format!("/{}", "x".repeat(2 * CHUNK_BYTES)), 1, 1);
    let all = [file("/a", 1, 1), long, file("/z", 1, 1)];
    all.iter().for_each(|file| arena.push(file));
    assert!(sorted(&[arena], by_name()).eq(all));
}
