use std::fs;
use std::io::Write;

use hotset_facts::Observed;

use super::*;
use crate::cache::evict;
use crate::test_support::ScratchFile;

fn page() -> u64 {
    crate::page_size()
}

/// Pages that stay although the kernel is asked to forget them.
fn held(path: &Path) -> u64 {
    evict(path).expect("evict").cached_after.value().expect("known")
}

fn cold(pages: u64) -> ScratchFile {
    let file = ScratchFile::on_disk(&vec![7; (pages * page()) as usize]);
    evict(&file.path).expect("evict");
    file
}

#[test]
fn a_pinned_file_stays_and_a_dropped_one_goes() {
    let file = cold(700);
    let (pin, change) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
    assert_eq!(change.cached_before, Observed::Value(0));
    assert_eq!(change.cached_after, Observed::Value(700));
    assert_eq!(pin.locked_bytes(), 700 * page());
    assert_eq!(held(&file.path), 700);
    drop(pin);
    assert_eq!(held(&file.path), 0);
}

#[test]
fn it_follows_growth_and_truncation() {
    let mut file = cold(10);
    let (mut pin, _) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
    assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Same);
    file.file.write_all(&vec![8; 90 * page() as usize]).expect("write");
    let (from, to) = (10 * page(), 100 * page());
    assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Resized { from, to });
    assert_eq!(held(&file.path), 100);
    for (to, locked) in [(4 * page() + 1, 5), (0, 0), (3 * page(), 3)] {
        let from = pin.size_bytes();
        file.file.set_len(to).expect("set_len");
        assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Resized { from, to });
        assert_eq!(pin.locked_bytes(), locked * page());
        assert_eq!(held(&file.path), locked);
    }
}

#[test]
fn it_follows_the_name_to_another_file_and_lets_go_of_one_that_is_gone() {
    let file = cold(10);
    let next = cold(20);
    let (mut pin, _) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
    let before = pin.id();
    fs::rename(&next.path, &file.path).expect("rename");
    let size_bytes = 20 * page();
    assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Replaced { size_bytes });
    assert_ne!(pin.id(), before);
    assert_eq!(held(&file.path), 20);
    fs::remove_file(&file.path).expect("remove");
    assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Gone);
    assert_eq!(pin.locked_bytes(), 0);
    fs::write(&file.path, vec![1; 3 * page() as usize]).expect("write");
    let size_bytes = 3 * page();
    assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Replaced { size_bytes });
    assert_eq!(held(&file.path), 3);
}

#[test]
fn what_is_written_anew_in_the_same_size_is_held_again() {
    let file = cold(10);
    let (mut pin, _) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
    fs::write(&file.path, vec![9; 10 * page() as usize]).expect("write");
    assert_eq!(pin.follow(u64::MAX, &()).expect("follow"), Followed::Same);
    assert_eq!(held(&file.path), 10);
}

#[test]
fn an_empty_file_holds_nothing_and_a_missing_one_is_an_error() {
    let file = cold(0);
    let (pin, change) = Pin::new(&file.path, u64::MAX, &()).expect("pin");
    assert_eq!((pin.locked_bytes(), change.pages), (0, 0));
    assert!(Pin::new(Path::new("/no/such/file"), u64::MAX, &()).is_err());
    let (pin, change) = Pin::new(&cold(3).path, 0, &()).expect("pin");
    assert_eq!((pin.locked_bytes(), pin.size_bytes(), change.pages), (0, 0, 0));
}

#[test]
fn no_more_of_a_file_is_held_than_is_allowed() {
    let mut file = cold(40);
    let (mut pin, change) = Pin::new(&file.path, 10 * page(), &()).expect("pin");
    assert_eq!((change.pages, change.cached_after), (10, Observed::Value(10)));
    assert_eq!((pin.size_bytes(), pin.locked_bytes()), (10 * page(), 10 * page()));
    assert_eq!(pin.follow(10 * page(), &()).expect("follow"), Followed::Same);
    let resized = |from, to| Followed::Resized { from: from * page(), to: to * page() };
    assert_eq!(pin.follow(30 * page(), &()).expect("follow"), resized(10, 30));
    file.file.write_all(&vec![8; 20 * page() as usize]).expect("write");
    assert_eq!(pin.follow(50 * page(), &()).expect("follow"), resized(30, 50));
    assert_eq!(pin.locked_bytes(), 50 * page());
    // A large folio that is locked in part stays whole.
    assert!((50..=60).contains(&held(&file.path)));
    let next = cold(70);
    fs::rename(&next.path, &file.path).expect("rename");
    let size_bytes = 60 * page();
    assert_eq!(pin.follow(size_bytes, &()).expect("follow"), Followed::Replaced { size_bytes });
    assert_eq!(pin.locked_bytes(), size_bytes);
    assert_eq!(pin.follow(70 * page(), &()).expect("follow"), resized(60, 70));
    assert_eq!(held(&file.path), 70);
}
