use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

use hotset_analysis::system_numbers;
use hotset_facts::{
    CacheSource, CachedFile, CachedFileSystem, Dev, FileId, FileSystemKind, Holder, MemInfo,
    Observed, PageHolder, PagesByHolder, Reason, Residency, SystemCache, Unreadable,
};
use serde_json::Value;

use super::text::SystemOptions;
use super::*;
use crate::wire::system_json;

fn file_system(
    minor: u32,
    fs_type: &str,
    name: &str,
    kind: FileSystemKind,
    mount: Option<&str>,
) -> CachedFileSystem {
    CachedFileSystem {
        dev: Dev { major: 254, minor },
        fs_type: fs_type.into(),
        name: name.into(),
        kind,
        mount_point: mount.map(Into::into),
        inodes: 60_000,
        cached_inodes: 8123,
        pages: PagesByHolder { regular: 100_000, ..PagesByHolder::default() },
        deleted_pages: 0,
        deleted_files: 0,
        gap: None,
    }
}

fn file(ino: u64, place: usize, path: &[u8], pages: u64) -> CachedFile {
    CachedFile {
        id: FileId::new(Dev { major: 254, minor: place as u32 }, ino),
        file_system: place,
        holder: PageHolder::Regular,
        device: None,
        size_bytes: pages * 4096 * 2 - 1,
        cached_pages: pages,
        deleted: false,
        path: Observed::Value(OsString::from_vec(path.to_vec()).into()),
        reachable: true,
        state: Observed::Value(Residency {
            dirty_pages: Observed::Value(pages / 10),
            evicted_pages: Observed::Value(7),
            ..Residency::from_mincore(1, 1, 1)
        }),
        holders: Vec::new(),
        mapped: None,
    }
}

fn files() -> Vec<CachedFile> {
    let unknown = Observed::Missing(Reason::not_measured("no path leads to it from here"));
    let mut deleted = file(12, 0, b"/var/lib/db/old.sst", 9_000);
    deleted.deleted = true;
    deleted.reachable = false;
    deleted.state = unknown;
    deleted.holders =
        ["postgres", "p\x1b[2J", "c", "d"].map(|name| Holder { pid: 77, name: name.into() }).into();
    let mut nameless = file(4711, 0, b"", 8_000);
    nameless.path = Observed::Missing(Reason::unsupported("no directory entry"));
    let mut memfd = file(3, 1, b"/memfd:pulse", 700);
    memfd.deleted = true;
    let mut device = file(5, 2, b"/dev/vda", 600);
    device.holder = PageHolder::BlockDevice;
    device.device = Some(Dev { major: 254, minor: 0 });
    let mut hidden = file(6, 0, b"/mnt/under/a\n\xff\x1b[31mred", 500);
    hidden.reachable = false;
    let away = file(8, 3, b"/usr/lib/libc.so", 400);
    let long =
        file(9, 0, b"/usr/share/some/very/long/path/that/no/screen/has/room/for/it.bin", 90_000);
    vec![long, deleted, nameless, memfd, device, hidden, away]
}

fn cache() -> SystemCache {
    use FileSystemKind::{BlockDevices, Ordinary, SharedMemory};
    let mut root = file_system(0, "ext4", "vda", Ordinary, Some("/"));
    root.pages.regular = 120_000;
    root.deleted_pages = 9_000;
    root.deleted_files = 1;
    root.pages.directories = 3;
    let mut shm = file_system(1, "tmpfs", "tmpfs", SharedMemory, None);
    shm.pages.regular = 700;
    let mut devices = file_system(2, "bdev", "bdev", BlockDevices, None);
    devices.pages = PagesByHolder { block_devices: 2_973, ..PagesByHolder::default() };
    let mut away = file_system(3, "erofs", "loop3", Ordinary, None);
    away.pages.regular = 450;
    let info = MemInfo {
        cached_bytes: 122_000 * 4096,
        buffers_bytes: 2_973 * 4096,
        swap_cached_bytes: 4096,
        ..MemInfo::default()
    };
    SystemCache {
        source: CacheSource::InodeList,
        fallback: None,
        page_size: 4096,
        file_systems: vec![root, shm, devices, away],
        files: files(),
        gap: None,
        unreadable: Vec::new(),
        unreadable_count: 0,
        unknown_files: 0,
        interrupted: false,
        before: info,
        after: info,
    }
}

fn walked() -> SystemCache {
    let mut cache = cache();
    cache.source = CacheSource::Walk;
    cache.fallback = Some("the kernel lacks bpf_rdonly_cast (Linux 6.2)".into());
    cache.file_systems.truncate(1);
    cache.files.truncate(1);
    cache.interrupted = true;
    cache.unknown_files = 12;
    cache.unreadable_count = 9;
    cache.unreadable = vec![Unreadable { path: "/root".into(), reason: "denied".into() }];
    cache.file_systems[0].gap = Some(Reason::not_measured("stopped"));
    cache
}

/// By the kernel's lists, and by a walk.
pub(crate) fn documents() -> [Vec<u8>; 2] {
    [cache(), walked()].map(|cache| system_json(&cache, &system_numbers(&cache)))
}

fn text(cache: &SystemCache, width: usize, color: bool, ascii: bool) -> String {
    system_text(cache, &system_numbers(cache), &SystemOptions { width, color, ascii })
}

fn json(cache: &SystemCache) -> Value {
    serde_json::from_slice(&system_json(cache, &system_numbers(cache))).expect("JSON")
}

#[test]
fn screens() {
    insta::assert_snapshot!("system_80", text(&cache(), 80, false, false));
    insta::assert_snapshot!("system_160", text(&cache(), 160, false, false));
    insta::assert_snapshot!("system_80_color", text(&cache(), 80, true, false));
    insta::assert_snapshot!("system_80_walk", text(&walked(), 80, false, true));
}

#[test]
fn no_line_is_wider_than_the_screen_or_controls_it() {
    for cache in [cache(), walked()] {
        for width in [72, 80, 120, 160] {
            for line in text(&cache, width, false, false).lines() {
                assert!(crate::escape::columns(line) <= width, "{width}: {line}");
                assert!(!line.contains('\x1b'), "{line}");
            }
        }
    }
}

#[test]
fn json_follows_its_schema_and_the_schema_is_strict() {
    let refused = |value: &Value| {
        let bytes = serde_json::to_vec(value).expect("JSON");
        crate::wire::schema_tests::refused("hotset.system-cache/1", &bytes).expect("a schema")
    };
    for cache in [cache(), walked()] {
        let value = json(&cache);
        assert_eq!(refused(&value), [""; 0]);
        let mut beyond = value.clone();
        beyond["files"][0]["guess"] = 1.into();
        assert!(!refused(&beyond).is_empty());
        let mut without = value;
        without["totals"].as_object_mut().expect("an object").remove("unexplained_bytes");
        assert!(!refused(&without).is_empty());
    }
}

#[test]
fn json_keeps_bytes_and_reasons() {
    let value = json(&cache());
    let files = value["files"].as_array().expect("files");
    assert_eq!(files[5]["path_hex"], "2f6d6e742f756e6465722f610aff1b5b33316d726564");
    assert_eq!(files[2]["path"], Value::Null);
    let missing = value["missing"].as_array().expect("missing");
    assert!(missing.iter().any(|entry| entry["key"] == "files[2].path"), "{missing:?}");
    assert_eq!(files[1]["holders"][0]["pid"], 77);
    assert_eq!(
        (value["complete"].as_bool(), json(&walked())["complete"].as_bool()),
        (Some(true), Some(false))
    );
}

#[test]
fn a_cache_is_read_back_whole() {
    for mut cache in [cache(), walked()] {
        let bytes = system_json(&cache, &system_numbers(&cache));
        let documents = crate::wire::documents(&bytes).expect("documents");
        let read = crate::wire::read_system(&documents[0]).expect("a cache");
        // They are written in the order of their pages.
        let order = |dev| read.file_systems.iter().position(|fs| fs.dev == dev);
        for file in &mut cache.files {
            file.file_system = order(file.id.dev).expect("a file system");
        }
        cache.file_systems.sort_by_key(|fs| order(fs.dev));
        assert_eq!(read, cache);
    }
}

#[test]
fn csv_has_pcstats_columns_first() {
    let out = system_csv(&cache(), &system_numbers(&cache()));
    let text = String::from_utf8_lossy(&out);
    let lines: Vec<_> = text.split_inclusive('\n').collect();
    assert!(lines[0].starts_with("Name,Size,Pages,Cached,Percent,"));
    assert!(lines[2].starts_with("/var/lib/db/old.sst,73727999,18000,9000,50.000,,,regular,true,"));
    assert!(out.windows(5).any(|bytes| bytes == b"a\n\xff\x1b["), "names are raw");
    assert!(text.contains("\"/mnt/under/a\n"));
}
