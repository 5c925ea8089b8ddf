//! `hotset bench` on programs whose I/O is known: states, device bytes and page counts, never times.

use std::fs;
use std::path::PathBuf;

use hotset_tests::bench::{bench_says, member, numbers, result_of, session, valid_numbers};
use hotset_tests::held::Mapped;
use hotset_tests::listing::said;
use hotset_tests::scratch::text;
use hotset_tests::{Evictions, MIB, PAGE, Scratch, evict_verified, stdout, undisturbed, workload};
use serde_json::Value;

/// The device is asked for the set's pages and perhaps for a little more: directories, and the loader's own reads.
const BESIDE: f64 = (2 * MIB) as f64;

/// Cold runs read the set from the device and leave it in the cache, warm runs read nothing, in every run that counts.
fn assert_explained(session: &Value, bytes: u64, evictions: &Evictions) {
    let (cold, warm) = (&result_of(session, "cold"), &result_of(session, "warm"));
    let evicts = !evictions.none();
    let mut undisturbed = 0;
    for (read, added) in valid_numbers(cold, "device_bytes")
        .into_iter()
        .zip(valid_numbers(cold, "newly_cached_bytes"))
    {
        assert!(read >= bytes as f64, "{read} of {bytes}: {cold}");
        assert!(read >= 0.95 * added, "{read}, {added}: {cold}");
        // What is evicted before the run has ended is not there to be found, and may be read again.
        let explained = added >= bytes as f64 && read <= added + BESIDE;
        assert!(explained || evicts, "{read}, {added} of {bytes}: {cold}");
        undisturbed += usize::from(explained);
    }
    assert!(undisturbed > 0, "{bytes} bytes are never found after a cold run: {cold}");
    assert!(valid_numbers(warm, "device_bytes").iter().all(|&read| read == 0.0), "{warm}");
    assert!(valid_numbers(warm, "major_faults").iter().all(|&faults| faults == 0.0), "{warm}");
    assert!(valid_numbers(warm, "reached_before").iter().all(|&share| share >= 0.999), "{warm}");
    assert!(valid_numbers(cold, "reached_before").iter().all(|&share| share < 0.5), "{cold}");
}

#[test]
fn what_is_read_once_comes_from_the_device_once() {
    let scratch = Scratch::new("bench-once");
    let file = scratch.file("data", 16 * MIB);
    let evictions = Evictions::of(&[&file]);
    let once = session(&scratch, &["-r", "6", "--", "cat", text(&file)]);
    assert_explained(&once, 16 * MIB, &evictions);
    assert_eq!(member(&once, &file)["size_bytes"], 16 * MIB);
    assert_eq!(once["files"][0]["learned_by"], "sensor");
    // Read again, it comes from the cache: the first case's device bytes are also the most.
    let most = |session: &Value| {
        let bytes = valid_numbers(&result_of(session, "cold"), "device_bytes");
        bytes.into_iter().fold(0.0, f64::max)
    };
    undisturbed(&[&file], || {
        let words = ["-r", "6", "--", "cat", text(&file), text(&file), text(&file), text(&file)];
        let many = session(&scratch, &words);
        assert_explained(&many, 16 * MIB, &evictions);
        assert!(most(&many) <= most(&once) + BESIDE, "{} {}", most(&many), most(&once));
    });
}

#[test]
fn five_hundred_modules_are_learned_and_explained() {
    let scratch = Scratch::new("bench-modules");
    let lines: String = (0..500).map(|n| format!("import m{n}\n")).collect();
    for n in 0..500 {
        fs::write(scratch.path(&format!("m{n}.py")), format!("x = '{}'\n", "y".repeat(3 * 4096)))
            .expect("module");
    }
    let main = scratch.path("main.py");
    fs::write(&main, lines).expect("main");
    let evictions = Evictions::anywhere();
    // The compiled modules are made by the first learning run, and read by every later one.
    let session = {
        // Also where the caller keeps Python from writing them.
        let words = ["env", "-u", "PYTHONDONTWRITEBYTECODE", "python3", text(&main)];
        session(&scratch, &[&["-r", "6", "--"], &words[..]].concat())
    };
    let members = session["files"][0]["members"].as_array().expect("members");
    let compiled = members.iter().filter(|member| {
        member["path"]
            .as_str()
            .is_some_and(|path| path.starts_with(text(scratch.dir())) && path.ends_with(".pyc"))
    });
    let pages: u64 =
        compiled.map(|member| member["size_bytes"].as_u64().expect("size").div_ceil(PAGE)).sum();
    assert!(pages >= 500 * 4, "{pages} pages of compiled modules");
    assert_explained(&session, pages * PAGE, &evictions);
}

#[test]
fn what_a_slow_first_run_makes_is_among_the_files() {
    let scratch = Scratch::new("bench-made");
    let script = scratch.path("script");
    // As an interpreter compiles its modules, on a slow host: for longer than runs that are learned twice anyway.
    fs::write(
        &script,
        "cd \"${0%/*}\" && { [ -s made ] || { sleep 5.2; echo 1 >made; }; cat made; }",
    )
    .expect("script");
    let output = bench_says(&["--show-files", "--", "sh", text(&script)]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(stdout(&output).contains(text(&scratch.path("made"))), "{}", said(&output));
}

#[test]
fn what_is_mapped_and_touched_is_learned_as_mapped() {
    let scratch = Scratch::new("bench-mapped");
    let file = scratch.file("data", 8 * MIB);
    let program = workload();
    let session =
        session(&scratch, &["-r", "6", "--", text(&program), "mmap-seq", "--file", text(&file)]);
    assert_eq!(member(&session, &file)["mapped"], true);
    assert_eq!(member(&session, &program)["mapped"], true);
    let cold = &result_of(&session, "cold");
    for read in valid_numbers(cold, "device_bytes") {
        assert!(read >= (8 * MIB) as f64, "{cold}");
    }
    assert!(valid_numbers(cold, "major_faults").iter().all(|&faults| faults > 0.0), "{cold}");
    let warm = &result_of(&session, "warm");
    assert!(valid_numbers(warm, "device_bytes").iter().all(|&read| read == 0.0), "{warm}");
    assert!(valid_numbers(warm, "major_faults").iter().all(|&faults| faults == 0.0), "{warm}");
}

#[test]
fn without_input_cold_and_warm_are_the_same() {
    let scratch = Scratch::new("bench-nothing");
    let empty = scratch.path("empty");
    fs::write(&empty, "").expect("empty");
    let session = session(&scratch, &["-r", "6", "--files", text(&empty), "--", "true"]);
    for state in ["cold", "warm"] {
        let result = &result_of(&session, state);
        assert!(numbers(result, "device_bytes").len() >= 6, "{result}");
        assert!(valid_numbers(result, "device_bytes").iter().all(|&read| read == 0.0), "{result}");
    }
    let runs = session["runs"].as_array().expect("runs");
    assert!(runs.len() >= 3 * 6, "cold, warm and one of them again: {}", runs.len());
    for run in runs {
        let before = &run["reached_before"];
        assert_eq!((&before["pages"], &before["cached_pages"]), (&0.into(), &0.into()), "{run}");
    }
}

#[test]
fn states_are_reached_on_exactly_the_files_that_are_given() {
    let scratch = Scratch::new("bench-states");
    let directory = scratch.path("files");
    fs::create_dir(&directory).expect("directory");
    for n in 0..20 {
        scratch.file(&format!("files/{n}"), 64 * PAGE);
    }
    let beside = scratch.file("beside", MIB);
    evict_verified(&beside);
    let session = session(
        &scratch,
        &["-r", "6", "--state", "cold,half,10%,warm", "--files", text(&directory), "--", "true"],
    );
    for (state, share) in [("cold", 0.0), ("50%", 0.5), ("10%", 0.1), ("warm", 1.0)] {
        let result = &result_of(&session, state);
        for reached in valid_numbers(result, "reached_before") {
            assert!((reached - share).abs() <= 0.01, "{state}: {reached}");
        }
    }
    assert_eq!(session["files"][0]["members"].as_array().map(Vec::len), Some(20));
    assert_eq!(session["files"][0]["learned_by"], "given");
}

#[test]
fn a_file_that_another_process_maps_is_named() {
    let scratch = Scratch::new("bench-held");
    let (held, free) = (scratch.file("held", MIB), scratch.file("free", MIB));
    let _mapped = Mapped::whole(&held);
    let session = session(
        &scratch,
        &["-r", "6", "--files", text(&held), "--files", text(&free), "--", "true"],
    );
    let held = member(&session, &held);
    assert_eq!(held["cannot_evict"]["pages"], MIB / PAGE, "{held}");
    assert_eq!(held["cannot_evict"]["reason"], "mapped", "{held}");
    assert!(member(&session, &free)["cannot_evict"].is_null());
    for share in valid_numbers(&result_of(&session, "cold"), "reached_before") {
        assert_eq!(share, 0.5);
    }
    let warnings = session["warnings"].to_string();
    assert!(warnings.contains("held") && warnings.contains("50.0 %"), "{warnings}");
}

#[test]
fn a_command_that_changes_its_input_is_noticed() {
    let scratch = Scratch::new("bench-changes");
    let file = scratch.file("data", MIB);
    let line = format!("cat {0} > /dev/null; echo more >> {0}", text(&file));
    let session = session(&scratch, &["-r", "6", "--", "sh", "-c", &line]);
    let runs = session["runs"].as_array().expect("runs");
    assert!(runs.len() >= 6, "{} runs", runs.len());
    for run in runs {
        assert_eq!(run["inputs_changed"].as_array().map(Vec::len), Some(1), "{run}");
    }
    assert!(session["warnings"].to_string().contains("data"), "{}", session["warnings"]);
}

#[test]
fn a_warm_run_is_warm_at_its_spawn_a_hundred_times() {
    let scratch = Scratch::new("bench-warm");
    let directory = scratch.path("files");
    fs::create_dir(&directory).expect("directory");
    let files: Vec<PathBuf> =
        (0..20).map(|n| scratch.file(&format!("files/{n}"), 64 * PAGE)).collect();
    let log = scratch.path("log");
    // The command asks the kernel itself, as the first thing that it does.
    let evictions = Evictions::of(&files);
    let names: Vec<&str> = files.iter().map(|file| text(file)).collect();
    let line = format!("exec fincore -n -r -o PAGES {} >> {}", names.join(" "), text(&log));
    let words = ["-r", "100", "--state", "warm", "--no-noise-floor", "--files", text(&directory)];
    let session = session(&scratch, &[&words[..], &["--", "sh", "-c", &line]].concat());
    let warm = &result_of(&session, "warm");
    let shares = numbers(warm, "reached_before");
    let log = fs::read_to_string(&log).expect("log");
    let seen: Vec<u64> = log.lines().map(|line| line.trim().parse().expect("pages")).collect();
    assert_eq!(seen.len(), 20 * shares.len());
    assert!(shares.len() >= 100);
    let reasons = warm["reasons"].as_array().expect("reasons");
    let (mut reached, mut lost, all) = (0, Vec::new(), shares.len());
    for ((seen, share), reasons) in seen.chunks(20).zip(shares).zip(reasons) {
        let seen = seen.iter().sum::<u64>() as f64 / 1280.0;
        // How many are reached hangs on the host, which may evict at any time; that no other is called so does not.
        let marked = reasons.to_string().contains("state-not-reached");
        if seen < 0.999 && !marked {
            lost.push(format!("{seen} of the pages, said {share}: {reasons}"));
        }
        reached += usize::from(!marked);
    }
    // Each took an eviction between hotset's look and the command's.
    assert!(lost.len() as u64 <= evictions.by_others(), "of {all}: {lost:#?}");
    let least = if evictions.none() { all } else { 1 };
    assert!(reached >= least, "{reached} of {all}, and at least {least}: {warm}");
}
