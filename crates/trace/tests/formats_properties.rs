//! Whatever is written comes back; whatever was changed is refused, or makes no difference.

#![allow(clippy::expect_used, reason = "helpers of tests")]

mod possible;
mod support;

use hotset_facts::trace::{
    FileIndex, Operation, OperationClass, PathIndex, ProcessIndex, RecordFlags, RecordPages,
    SiteIndex, TraceBatch, TraceRecord,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use possible::possible;
use support::{lists, read, whole, write};

const LISTED: u32 = 4;
const PATHS: u32 = 5;

fn quantity() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0_u64..5000, 0..=i64::MAX as u64]
}

fn count() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0), 0_u32..300, 0..=i32::MAX as u32]
}

fn pages() -> impl Strategy<Value = RecordPages> {
    (count(), count(), count(), count(), of(count()), count()).prop_map(
        |(pages, hits, ahead_hits, misses, zeros, read_ahead)| RecordPages {
            pages,
            hits,
            ahead_hits,
            misses,
            zeros,
            read_ahead,
        },
    )
}

prop_compose! {
    fn identity()(
        process in of((0..LISTED).prop_map(ProcessIndex)),
        file in of((0..LISTED).prop_map(FileIndex)),
        site in of((0..LISTED).prop_map(SiteIndex)),
        path in of((0..PATHS).prop_map(PathIndex)),
        new_path in of((0..PATHS).prop_map(PathIndex)),
        tid in of(count()),
        description in of(quantity()),
    ) -> TraceRecord {
        let record = TraceRecord::new(0, Operation::Read);
        TraceRecord { process, file, site, path, new_path, tid, description, ..record }
    }
}

prop_compose! {
    fn record()(
        identity in identity(),
        start_ns in quantity(),
        duration_ns in of(quantity()),
        operation in prop::sample::select(Operation::ALL),
        is_target in any::<bool>(),
        (offset, asked_bytes) in (of(quantity()), of(quantity())),
        result in of(prop_oneof![-4095_i64..0, Just(-1000), 0..=i64::MAX]),
        flags in 0_u32..1 << RecordFlags::WORDS.len(),
        pages in of(pages()),
        (device_read_bytes, device_write_bytes) in (of(quantity()), of(quantity())),
    ) -> TraceRecord {
        let class = if is_target { OperationClass::Write } else { operation.class() };
        possible(TraceRecord {
            start_ns,
            duration_ns,
            operation,
            class,
            offset,
            asked_bytes,
            result,
            flags: RecordFlags(flags),
            pages,
            device_read_bytes,
            device_write_bytes,
            ..identity
        })
    }
}

prop_compose! {
    fn batch()(
        records in vec(record(), 0..60),
        paths in vec(vec(prop::sample::select(b"ab/\xff\n\0".to_vec()), 0..6), PATHS as usize),
    ) -> TraceBatch {
        TraceBatch { records, paths, ..TraceBatch::default() }
    }
}

/// What `other` has, but for these parts of it, which are those of `one`.
fn mixed(one: &TraceRecord, other: &TraceRecord, alike: &[bool; 9]) -> TraceRecord {
    let mut record = *other;
    macro_rules! take {
        ($at:literal, $($field:ident),*) => {
            if alike[$at] {
                $(record.$field = one.$field;)*
            }
        };
    }
    take!(0, start_ns, duration_ns);
    take!(1, operation, class);
    take!(2, process, tid);
    take!(3, file, path);
    take!(4, new_path, site);
    take!(5, offset, asked_bytes, result);
    take!(6, flags, description);
    take!(7, device_read_bytes, device_write_bytes);
    take!(8, pages);
    if let (Some(pages), Some(kept)) = (&mut record.pages, one.pages) {
        pages.misses = kept.misses;
    }
    possible(record)
}

prop_compose! {
    /// Records of two kinds that have much in common: more than are decoded at a time.
    fn alike()(
        (one, other) in (record(), record()),
        alike in prop::array::uniform9(any::<bool>()),
        kinds in vec(any::<bool>(), 4000..5000),
        paths in vec(vec(prop::sample::select(b"ab/\xff".to_vec()), 0..6), PATHS as usize),
    ) -> TraceBatch {
        let mixed = mixed(&one, &other, &alike);
        let records = kinds.into_iter().map(|first| if first { one } else { mixed }).collect();
        TraceBatch { records, paths, added: lists(LISTED, LISTED, LISTED) }
    }
}

fn batches() -> impl Strategy<Value = Vec<TraceBatch>> {
    vec(batch(), 1..4).prop_map(|mut batches| {
        if let Some(first) = batches.first_mut() {
            first.added = lists(LISTED, LISTED, LISTED);
        }
        batches
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn records_come_back_in_the_order_of_their_starts(batches in batches()) {
        let mut wanted = whole(&batches);
        wanted.sort_by_key(|(record, ..)| record.start_ns);
        let (_, lists, found) = read(&write(&batches).expect("written")).expect("read");
        prop_assert_eq!(found, wanted);
        prop_assert_eq!(&lists, &batches[0].added);
    }

    #[test]
    fn a_changed_byte_is_an_error_or_no_difference(
        batches in batches(),
        places in vec((any::<prop::sample::Index>(), 1_u8..=255), 60),
    ) {
        let bytes = write(&batches).expect("written");
        let wanted = read(&bytes).expect("read");
        for (place, change) in places {
            let mut changed = bytes.clone();
            changed[place.index(bytes.len())] ^= change;
            match read(&changed) {
                Ok(found) => prop_assert_eq!(&found, &wanted),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn a_changed_byte_without_checksums_never_panics(
        batches in batches(),
        places in vec((any::<prop::sample::Index>(), 1_u8..=255), 30),
    ) {
        let mut bytes = write(&batches).expect("written");
        for (name, change) in [(&b"HSCK"[..], 1), (b"hotset.checks", 1)] {
            let at = bytes.windows(name.len()).rposition(|window| window == name);
            bytes[at.expect("a checksum")] ^= change;
        }
        prop_assert!(read(&bytes).is_ok());
        for (place, change) in places {
            let mut changed = bytes.clone();
            changed[place.index(bytes.len())] ^= change;
            if let Err(error) = read(&changed) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    #[test]
    fn a_trace_that_is_cut_is_an_error(batches in batches(), place in any::<prop::sample::Index>()) {
        let bytes = write(&batches).expect("written");
        prop_assert!(read(&bytes[..place.index(bytes.len())]).is_err());
    }

    #[test]
    fn any_bytes_are_an_error(bytes in vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&bytes).is_err());
        let framed = [b"PAR1", &bytes[..], &(bytes.len() as u32).to_le_bytes()[..], b"PAR1"];
        prop_assert!(read(&framed.concat()).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_all_records_have_comes_back_in_each(batch in alike()) {
        let batches = [batch];
        let mut wanted = whole(&batches);
        wanted.sort_by_key(|(record, ..)| record.start_ns);
        let (.., found) = read(&write(&batches).expect("written")).expect("read");
        prop_assert!(found == wanted, "the first: {:?}", wanted.iter().zip(&found).find(|(a, b)| a != b));
    }
}
