use std::fs::{self, File};

use hotset_facts::Followed;

use super::*;
use crate::testing::{GO, Heard, ScratchDir, evict_now};

fn page() -> u64 {
    hotset_sys::page_size()
}

fn options(scratch: &ScratchDir, budget_bytes: Option<u64>) -> PinOptions {
    PinOptions { selection: scratch.selection(), budget_bytes, named: NamedFiles::All }
}

fn hold(scratch: &ScratchDir, budget_bytes: Option<u64>) -> Pinned {
    pin(&options(scratch, budget_bytes), &GO, &()).expect("pinned")
}

/// What is heard of one look at all files.
fn look(held: &mut Held) -> Vec<(String, Result<Followed, String>)> {
    let mut heard = Vec::new();
    held.follow(&GO, &mut |path, followed| {
        heard.push((path.file_name().expect("name").to_string_lossy().into_owned(), followed));
    });
    heard
}

#[test]
fn all_files_are_held_whole() {
    let scratch = ScratchDir::new();
    evict_now(&scratch.file("a", 3 * page() + 1));
    scratch.file("empty", 0);
    fs::hard_link(scratch.path().join("a"), scratch.path().join("b")).expect("link");
    let heard = Heard::default();
    let pinned = pin(&options(&scratch, None), &GO, &heard).expect("pinned");
    assert!(pinned.report.is_reached(), "{:?}", pinned.report);
    assert_eq!(
        (pinned.held.files(), pinned.held.locked_bytes()),
        (2, 4 * page()),
        "a link counts once"
    );
    assert_eq!((heard.total.into_inner(), heard.done.into_inner()), (4 * page(), 4 * page()));
    assert_eq!((pinned.report.totals.pages, pinned.report.totals.cached_after), (4, 4));
}

#[test]
fn a_budget_that_is_too_small_refuses_before_anything_is_held() {
    let scratch = ScratchDir::new();
    evict_now(&scratch.file("a", page() + 1));
    let refused = pin(&options(&scratch, Some(2 * page() - 1)), &GO, &()).expect_err("refused");
    let budget = PinRefused::Budget { needed_bytes: 2 * page(), budget_bytes: 2 * page() - 1 };
    assert!(matches!(refused, ControlFailure::Pin(refused) if refused == budget));
    assert_eq!(crate::testing::cached_pages(&scratch.path().join("a")), 0);
    assert_eq!(hold(&scratch, Some(2 * page())).held.files(), 1);
}

#[test]
fn a_file_may_grow_up_to_the_budget_and_not_beyond() {
    let scratch = ScratchDir::new();
    let (a, b) = (scratch.file("a", page()), scratch.file("b", page()));
    let mut held = hold(&scratch, Some(3 * page())).held;
    assert_eq!(look(&mut held), []);
    let grow = |path, pages| {
        File::options()
            .write(true)
            .open(path)
            .and_then(|file| file.set_len(pages * page()))
            .expect("grow");
    };
    grow(&a, 2);
    let resized = Followed::Resized { from: page(), to: 2 * page() };
    assert_eq!(look(&mut held), [("a".to_owned(), Ok(resized))]);
    grow(&b, 2);
    let heard = look(&mut held);
    let [(name, Err(why))] = &heard[..] else { panic!("{heard:?}") };
    assert!(name == "b" && why.contains("the budget is 0"), "{why}");
    assert_eq!(
        (look(&mut held), held.locked_bytes()),
        (Vec::new(), 3 * page()),
        "said once, and held as before"
    );
    // What another file gives back can be used.
    grow(&a, 1);
    let shrunk = Followed::Resized { from: 2 * page(), to: page() };
    let grown = Followed::Resized { from: page(), to: 2 * page() };
    let mut heard = look(&mut held);
    heard.extend(look(&mut held));
    heard.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(heard, [("a".to_owned(), Ok(shrunk)), ("b".to_owned(), Ok(grown))]);
}

#[test]
fn what_a_file_grows_by_after_the_limits_were_asked_is_followed_within_them() {
    struct Grows(File);
    impl Progress for Grows {
        fn begin(&self, _: u64) {
            self.0.set_len(9 * page()).expect("set_len");
        }

        fn advance(&self, bytes: u64) {
            assert_eq!(bytes, page());
        }
    }
    let scratch = ScratchDir::new();
    let path = scratch.file("a", page());
    let growing = Grows(File::options().write(true).open(&path).expect("open"));
    let Pinned { report, mut held } =
        pin(&options(&scratch, Some(8 * page())), &GO, &growing).expect("pinned");
    assert_eq!((report.totals.pages, held.locked_bytes()), (1, page()));
    let heard = look(&mut held);
    let [(_, Err(why))] = &heard[..] else { panic!("{heard:?}") };
    assert!(why.contains("are needed, and the budget is"), "{why}");
    growing.0.set_len(8 * page()).expect("set_len");
    let resized = Followed::Resized { from: page(), to: 8 * page() };
    assert_eq!(look(&mut held), [("a".to_owned(), Ok(resized))]);
}

#[test]
fn a_file_that_grows_while_it_is_looked_at_stays_within_the_budget() {
    let scratch = ScratchDir::new();
    let path = scratch.file("a", page());
    let budget = 8 * page();
    let mut held = hold(&scratch, Some(budget)).held;
    let mut most = 0;
    std::thread::scope(|scope| {
        let growing = scope.spawn(|| {
            let file = File::options().write(true).open(&path).expect("open");
            for pages in [8, 64, 1].repeat(50_000) {
                file.set_len(pages * page()).expect("set_len");
            }
        });
        while !growing.is_finished() {
            look(&mut held);
            most = most.max(held.locked_bytes());
        }
    });
    assert!((page()..=budget).contains(&most), "{most} of {budget}");
}

#[test]
fn a_file_that_goes_and_comes_back_is_held_again() {
    let scratch = ScratchDir::new();
    let path = scratch.file("a", page());
    let mut held = hold(&scratch, None).held;
    fs::remove_file(&path).expect("remove");
    assert_eq!(look(&mut held), [("a".to_owned(), Ok(Followed::Gone))]);
    assert_eq!((look(&mut held), held.locked_bytes()), (Vec::new(), 0));
    scratch.file("a", 2 * page());
    let size_bytes = 2 * page();
    assert_eq!(look(&mut held), [("a".to_owned(), Ok(Followed::Replaced { size_bytes }))]);
    assert_eq!(held.locked_bytes(), 2 * page());
}

#[test]
fn a_stop_before_the_start_holds_nothing() {
    let scratch = ScratchDir::new();
    scratch.file("a", page());
    let stop = AtomicBool::new(true);
    let pinned = pin(&options(&scratch, None), &stop, &()).expect("nothing to refuse");
    assert!(pinned.report.interrupted && pinned.held.files() == 0);
    // It ends at once, and doesn't wait for a look.
    let mut held = pinned.held;
    held.follow_until(&stop, &mut |_, _| panic!("nothing to hear"));
}
