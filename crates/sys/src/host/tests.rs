use super::*;

fn look(vmstat: &str, memory: &str) -> Look {
    let stat = vmstat::parse(vmstat.as_bytes()).expect("vmstat");
    let parse = |text: &str| pressure::parse(text.as_bytes()).expect("pressure");
    Look::of(Ok(&stat), [parse(memory), parse(memory), parse("some total=5\n")])
}

fn between(before: &Look, now: &Look) -> HostMemory {
    now.since(before, Observed::Missing(MEMINFO))
}

#[test]
fn an_interval_is_what_counters_grew_by() {
    let before = look("nr_written 100\npgsteal_file 7\n", "some total=10\nfull total=4\n");
    let now = look("nr_written 160\npgsteal_file 7\n", "some total=35\nfull total=4\n");
    let host = between(&before, &now);
    assert_eq!(host.written_back_pages.value(), Some(60));
    assert_eq!(host.reclaimed_pages.value(), Some(0));
    assert_eq!(host.pressure.memory_some_ns.value(), Some(25_000));
    assert_eq!(host.pressure.io_full_ns.value(), Some(0));
    assert_eq!(host.pressure.cpu_some_ns.value(), Some(0));
}

#[test]
fn a_counter_that_is_not_there_or_goes_backwards_is_never_a_number() {
    let before = look("nr_written 100\nworkingset_refault_file 5\n", "some total=10\n");
    let now = look("nr_written 99\nworkingset_refault_file 5\n", "some total=9\n");
    let host = between(&before, &now);
    assert_eq!(host.written_back_pages, Observed::Missing(BACKWARDS));
    assert_eq!(host.reclaimed_pages, Observed::Missing(NO_COUNTER));
    assert_eq!(host.refaulted_pages.value(), Some(0));
    assert_eq!(host.pressure.memory_some_ns, Observed::Missing(BACKWARDS));
    assert!(host.pressure.memory_full_ns.reason().is_some());
    // The largest and then a small one is a wrap: no difference of these is a truth.
    let most = look("nr_written 18446744073709551615\n", "");
    let least = look("nr_written 3\n", "");
    assert_eq!(between(&most, &least).written_back_pages, Observed::Missing(BACKWARDS));
    assert_eq!(between(&least, &most).written_back_pages.value(), Some(u64::MAX - 3));
}

#[test]
fn a_counter_that_comes_up_has_no_interval_yet() {
    let host = between(&look("", ""), &look("nr_written 9\n", ""));
    assert_eq!(host.written_back_pages, Observed::Missing(FIRST));
}

#[test]
fn pages_that_are_written_back_are_counted() {
    let mut sampler = HostSampler::new();
    let file = crate::test_support::ScratchFile::on_disk(&vec![7; 16 << 20]);
    file.file.sync_all().expect("fsync");
    let host = sampler.sample();
    assert!(host.memory.value().is_some_and(|memory| memory.cached_bytes > 0));
    // A CPU may keep up to 125 pages to itself for a second (calculate_normal_threshold in mm/vmstat.c).
    let written = host.written_back_pages.value().expect("a kernel that counts");
    assert!(written > 2_000, "{written} of 4,096 pages");
}
