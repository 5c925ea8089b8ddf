use super::*;

#[test]
fn bytes_have_three_digits() {
    let all = [0, 1023, 1024, 1536, 10_239, 1_048_064, 1_048_576, 402_653_184, u64::MAX];
    let printed = all.map(bytes);
    assert_eq!(
        printed,
        [
            "0 B", "1023 B", "1.00 KiB", "1.50 KiB", "10.0 KiB", "1.00 MiB", "1.00 MiB", "384 MiB",
            "16.0 EiB"
        ]
    );
}

#[test]
fn durations_pick_their_unit() {
    let all = [
        0,
        999,
        1_000,
        999_499,
        999_500,
        4_560_000,
        1_234_000_000,
        119_000_000_000,
        125_000_000_000,
        7_199_600_000_000,
        u64::MAX,
    ];
    assert_eq!(
        all.map(duration),
        [
            "0 ns",
            "999 ns",
            "1.00 µs",
            "999 µs",
            "1.00 ms",
            "4.56 ms",
            "1.23 s",
            "119 s",
            "2 min 5 s",
            "2 h 0 min",
            "5124095 h 34 min"
        ]
    );
}

#[test]
fn counts_have_commas() {
    let all = [0, 999, 1_000, 12_004, 1_234_567, u64::MAX];
    assert_eq!(
        all.map(count),
        ["0", "999", "1,000", "12,004", "1,234,567", "18,446,744,073,709,551,615"]
    );
}

#[test]
fn percentages_never_claim_none_or_all() {
    let all = [0.0, 0.0001, 0.0006, 0.456, 0.9998, 1.0, 2.3, 12.0];
    assert_eq!(
        all.map(percent),
        ["0 %", "<0.1 %", "0.1 %", "45.6 %", ">99.9 %", "100 %", "230.0 %", "1200 %"]
    );
}

#[test]
fn ratios_stay_short() {
    assert_eq!([0.5, 39.38, 123.4, 12_345.6].map(real), ["0.500", "39.4", "123", "12,346"]);
    assert_eq!(real(f64::NAN), "unknown");
}

#[test]
fn a_size_that_was_chosen_is_told_from_its_neighbours() {
    let sizes = [0, 1000, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1, 3 << 29, 1 << 60, u64::MAX];
    let wanted = [
        "0 B", "1000 B", "4095 B", "4 KiB", "4097 B", "1 MiB", "1.00 MiB", "1.50 GiB", "1 EiB",
        "16.0 EiB",
    ];
    assert_eq!(sizes.map(exact_bytes), wanted);
}

#[test]
fn short_numbers_fit_five_columns() {
    let sizes = [0, 1023, 1024, 1_048_575, 1 << 20, u64::MAX];
    assert_eq!(sizes.map(short_bytes), ["0", "1023", "1.00K", "1.00M", "1.00M", "16.0E"]);
    let counts = [999, 1000, 999_499, 999_999, u64::MAX];
    assert_eq!(counts.map(short_count), ["999", "1.00K", "999K", "1.00M", "18.4E"]);
}

#[test]
fn means_are_written_as_whole_durations_are() {
    let means = [0.85, 66.4, 999.4, 999.6, 12_345.0, 4.56e6, 7.891e9, 3.6e12];
    let wanted =
        ["0.850 ns", "66.4 ns", "999 ns", "1.00 µs", "12.3 µs", "4.56 ms", "7.89 s", "60 min 0 s"];
    assert_eq!(means.map(mean_duration), wanted);
    assert_eq!(mean_duration(0.0), "0 ns");
}

#[test]
fn one_is_not_many() {
    let words = [(0, "file"), (1, "file"), (2000, "file"), (1, "process"), (3, "process")];
    let wanted = ["0 files", "1 file", "2,000 files", "1 process", "3 processes"];
    assert_eq!(words.map(|(number, noun)| plural(number, noun)), wanted);
}

#[test]
fn what_is_no_number_or_below_zero_is_told() {
    assert_eq!([0.0, -0.25, -1234.5].map(real), ["0", "-0.250", "-1,235"]);
    assert_eq!(nanos(Duration::MAX), u64::MAX);
    assert_eq!(nanos(Duration::from_micros(3)), 3000);
}
