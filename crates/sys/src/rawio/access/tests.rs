//! Every method reads the bytes that the file holds, in every order.

use std::ffi::OsString;

use super::*;
use crate::test_support::ScratchFile;

fn patterned(bytes: usize) -> ScratchFile {
    let mut content = vec![0; bytes];
    pattern::fill(&mut content, 0);
    ScratchFile::on_disk(&content)
}

fn arguments(file: &ScratchFile, method: Method, order: Order, block: u32) -> Arguments {
    let words = [
        format!("file={}", file.path.display()),
        format!("method={}", method.as_str()),
        format!("order={}", order.as_str()),
        format!("block={block}"),
    ];
    Arguments::parse(&words.map(OsString::from)).expect("words")
}

#[test]
fn every_method_reads_what_is_there_in_every_order() {
    let file = patterned(600_000);
    file.file.sync_all().expect("sync");
    for &method in Method::ALL {
        for &order in Order::ALL {
            for block in [1000, 4096] {
                if method.is_direct() && (block == 1000 || order == Order::Offsets) {
                    continue;
                }
                let answer = access(&arguments(&file, method, order, block));
                let answer = answer.unwrap_or_else(|error| panic!("{method:?} {order:?}: {error}"));
                let whole = 600_000 / u64::from(block);
                assert_eq!((answer.operations(), answer.bytes), (whole, whole * u64::from(block)));
                assert_eq!(answer.repetitions.len(), 1);
                assert!(!answer.calls.is_empty(), "{method:?}");
            }
        }
    }
}

#[test]
fn a_file_that_holds_something_else_is_noticed() {
    let mut content = vec![0; 40_000];
    pattern::fill(&mut content, 0);
    content[20_000] ^= 1;
    let file = ScratchFile::on_disk(&content);
    for &method in Method::ALL.iter().filter(|method| !method.is_direct()) {
        let answer = access(&arguments(&file, method, Order::Random, 1000));
        let error = answer.expect_err("a wrong byte").to_string();
        assert!(error.contains("byte 20000"), "{method:?}: {error}");
    }
}

#[test]
fn direct_reads_come_from_the_device_though_the_file_is_cached() {
    let file = patterned(1 << 20);
    file.file.sync_all().expect("sync");
    for method in [Method::Direct, Method::DirectUring32] {
        let answer = access(&arguments(&file, method, Order::Random, 4096)).expect("read");
        assert!(answer.repetitions[0].device_read_bytes >= Some(1 << 20), "{answer:?}");
    }
}

#[test]
fn names_read_back_and_what_can_not_be_meant_is_named() {
    for &method in Method::ALL {
        assert_eq!(method.as_str().parse::<Method>().expect("its name"), method);
    }
    let error = "mmap-often".parse::<Method>().expect_err("no method").to_string();
    assert!(error.contains("method=mmap-often") && error.contains("mmap-random"), "{error}");
    let file = patterned(100);
    let refused = access(&arguments(&file, Method::Pread, Order::Random, 4096));
    assert!(refused.expect_err("no block").to_string().contains("no whole block of 4096"));
}

#[test]
fn the_empty_loop_costs_less_than_a_system_call() {
    let answer = null_of(100_000).expect("never fails");
    assert_eq!((answer.operations(), answer.bytes), (100_000, 0));
}
