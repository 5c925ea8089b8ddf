use super::*;

const KEY: FileKey = FileKey { ino: 7, dev: 8 << 20, generation: 3 };

fn file(name: &str, used: bool) -> NamedFile {
    NamedFile {
        parent: 1,
        name: name.as_bytes().into(),
        size_bytes: 0,
        cached_pages: 0,
        mode: 0o100_644,
        deleted: false,
        used,
        mounted: KEY.dev,
    }
}

fn files() -> Files {
    let mut files = Files::new(true);
    files.names.add(1, 0, 0, Vec::new());
    files
}

fn shown(files: &mut Files, index: u32) -> LiveFile {
    let mut list = Vec::new();
    assert_eq!(files.place(index, &mut list), Some(0));
    assert_eq!(files.place(index, &mut list), Some(0), "once a sample");
    list.remove(0)
}

#[test]
fn a_name_that_a_process_used_wins() {
    let mut files = files();
    files.named(KEY, file("link", false));
    let index = files.hold(KEY, 0o100_644).expect("room");
    files.begin(1);
    assert_eq!(shown(&mut files, index).path.as_value().expect("a path").as_os_str(), "/link");
    files.named(KEY, file("used", true));
    files.named(KEY, file("other", false));
    files.begin(2);
    assert_eq!(shown(&mut files, index).path.as_value().expect("a path").as_os_str(), "/used");
}

#[test]
fn a_name_that_comes_after_its_row_is_in_the_sample() {
    let mut files = files();
    files.begin(1);
    let index = files.hold(KEY, 0o100_644).expect("room");
    let mut file = shown(&mut files, index);
    files.name_again(&mut file);
    assert!(is_unnamed(&file));
    files.named(KEY, self::file("late", true));
    files.name_again(&mut file);
    assert_eq!(file.path.as_value().expect("a path").as_os_str(), "/late");
    assert!(!is_unnamed(&file));
}

#[test]
fn files_go_with_their_last_row() {
    let mut files = files();
    files.begin(1);
    files.named(KEY, file("a", true));
    let row = files.hold(KEY, 0).expect("room");
    let other = files.hold(KEY, 0).expect("room");
    assert_eq!(row, other);
    for now in 2..9 {
        files.begin(now);
        files.end();
    }
    assert_eq!(files.len(), 1);
    files.release(row);
    files.release(other);
    for now in 9..12 {
        files.begin(now);
        files.end();
    }
    assert_eq!(files.len(), 0);
    assert!(files.find(KEY.id()).is_none());
}

#[test]
fn a_number_that_is_used_again_is_another_file() {
    let mut files = files();
    files.begin(1);
    let next = FileKey { generation: 4, ..KEY };
    files.named(KEY, file("first", true));
    files.named(next, file("second", true));
    let (first, second) = (files.hold(KEY, 0), files.hold(next, 0));
    let (first, second) = (first.expect("room"), second.expect("room"));
    let (first, second) = (shown(&mut files, first), shown(&mut files, second));
    assert_eq!(first.path.as_value().expect("a path").as_os_str(), "/first");
    assert_eq!(second.path.as_value().expect("a path").as_os_str(), "/second");
    assert_ne!(first.id, second.id);
    assert_ne!(files.find(first.id), files.find(second.id));
}

#[test]
fn a_name_before_its_row_is_not_dropped_at_once() {
    let mut files = files();
    files.begin(5);
    files.named(KEY, file("a", true));
    files.end();
    assert_eq!(files.len(), 1);
    files.begin(6);
    let index = files.hold(KEY, 0).expect("room");
    files.end();
    files.begin(7);
    files.end();
    assert!(shown(&mut files, index).path.as_value().is_some());
}

#[test]
fn directories_are_dropped_when_there_are_many() {
    let mut files = files();
    files.begin(1);
    for id in 2..=MAX_DIRECTORIES as u64 + 1 {
        files.names.add(id, 1, 0, b"d".to_vec());
    }
    assert!(files.end());
    assert_eq!(files.names.len(), 0);
    assert!(!files.end());
}
