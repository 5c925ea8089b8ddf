use hotset_facts::{CacheSource, Dev, FileId, MemInfo, PagesByHolder, Reason, Residency};

use super::*;

fn file_system(kind: FileSystemKind, mounted: bool, regular: u64) -> CachedFileSystem {
    CachedFileSystem {
        dev: Dev::default(),
        fs_type: "ext4".into(),
        name: "vda".into(),
        kind,
        mount_point: mounted.then(|| "/".into()),
        inodes: 10,
        cached_inodes: 4,
        pages: PagesByHolder { regular, ..PagesByHolder::default() },
        deleted_pages: 0,
        deleted_files: 0,
        gap: None,
    }
}

fn file(path: &str, pages: u64, size_bytes: u64) -> CachedFile {
    CachedFile {
        id: FileId::default(),
        file_system: 0,
        holder: PageHolder::Regular,
        device: None,
        size_bytes,
        cached_pages: pages,
        deleted: false,
        path: Observed::Value(path.into()),
        reachable: true,
        state: Observed::Missing(Reason::not_measured("a test")),
        holders: Vec::new(),
        mapped: None,
    }
}

fn cache(file_systems: Vec<CachedFileSystem>, cached: (u64, u64)) -> SystemCache {
    let info = |cached| MemInfo { cached_bytes: cached, ..MemInfo::default() };
    SystemCache {
        source: CacheSource::InodeList,
        fallback: None,
        page_size: 4096,
        file_systems,
        files: Vec::new(),
        gap: None,
        unreadable: Vec::new(),
        unreadable_count: 0,
        unknown_files: 0,
        interrupted: false,
        before: info(cached.0),
        after: info(cached.1),
    }
}

fn part(numbers: &SystemNumbers, part: CachePart) -> u64 {
    numbers.parts.iter().find(|(kind, _)| *kind == part).expect("every part").1 / 4096
}

#[test]
fn each_page_belongs_to_one_part() {
    let mut root = file_system(FileSystemKind::Ordinary, true, 100);
    root.pages =
        PagesByHolder { regular: 100, directories: 7, symlinks: 3, block_devices: 1, internal: 5 };
    root.deleted_pages = 40;
    let away = file_system(FileSystemKind::Ordinary, false, 11);
    let mut shm = file_system(FileSystemKind::SharedMemory, false, 50);
    shm.deleted_pages = 50;
    let mut devices = file_system(FileSystemKind::BlockDevices, false, 0);
    devices.pages.block_devices = 9;
    let huge = file_system(FileSystemKind::HugePages, true, 512);
    let cache = cache(vec![root, away, shm, devices, huge], (200 * 4096, 200 * 4096));
    let numbers = system_numbers(&cache);
    let pages = CachePart::ALL.map(|kind| part(&numbers, kind));
    assert_eq!(pages, [60, 40, 11, 50, 7, 3, 6]);
    assert_eq!(numbers.explained_bytes, 177 * 4096);
    assert_eq!(numbers.unexplained_bytes, 23 * 4096);
    assert_eq!(numbers.explained_share, Some(177.0 / 200.0));
    assert_eq!(numbers.block_device_bytes, 9 * 4096);
    assert_eq!(numbers.huge_page_bytes, 512 * 4096);
    assert_eq!((numbers.unlisted_files, numbers.unlisted_bytes), (20, (177 + 9 + 512) * 4096));
}

#[test]
fn what_changed_meanwhile_is_a_drift_and_never_more_than_all() {
    let cache =
        cache(vec![file_system(FileSystemKind::Ordinary, true, 100)], (90 * 4096, 100 * 4096));
    let numbers = system_numbers(&cache);
    assert_eq!((numbers.cached_bytes, numbers.drift_bytes), (95 * 4096, 10 * 4096));
    assert_eq!((numbers.explained_share, numbers.unexplained_bytes), (Some(1.0), 0));
}

#[test]
fn nothing_cached_is_no_share() {
    let numbers = system_numbers(&cache(Vec::new(), (0, 0)));
    assert_eq!(numbers.explained_share, None);
}

#[test]
fn a_files_numbers() {
    let mut cache = cache(Vec::new(), (100 * 4096, 100 * 4096));
    cache.files = vec![file("/a", 25, 49 * 4096 + 1), file("/b", 3, 4096)];
    cache.files[0].state = Observed::Value(Residency {
        dirty_pages: Observed::Value(2),
        ..Residency::from_mincore(1, 1, 1)
    });
    let numbers = system_numbers(&cache);
    let first = cached_file_numbers(&cache, &numbers, &cache.files[0]);
    assert_eq!((first.file_share, first.cache_share), (Some(0.5), Some(0.25)));
    assert_eq!(first.dirty_bytes, Observed::Value(8192));
    assert!(first.evicted_bytes.reason().is_some());
    let second = cached_file_numbers(&cache, &numbers, &cache.files[1]);
    assert_eq!(second.file_share, Some(1.0));
}

#[test]
fn orders() {
    let mut cache = cache(Vec::new(), (4096, 4096));
    cache.files = vec![file("/b", 5, 10 * 4096), file("/c", 4, 4 * 4096), file("/a", 5, 40 * 4096)];
    let paths = |cache: &SystemCache| {
        let path = |file: &CachedFile| file.path.as_value().expect("path").display().to_string();
        cache.files.iter().map(path).collect::<String>()
    };
    for (order, expected) in [
        (SortKey::Cached, "/a/b/c"),
        (SortKey::Size, "/a/b/c"),
        (SortKey::Percent, "/c/b/a"),
        (SortKey::Name, "/a/b/c"),
    ] {
        sort_cached_files(&mut cache, order, false);
        assert_eq!(paths(&cache), expected, "{order:?}");
    }
    sort_cached_files(&mut cache, SortKey::Name, true);
    assert_eq!(paths(&cache), "/c/b/a");
    cache.files[1].state = Observed::Value(Residency {
        dirty_pages: Observed::Value(0),
        ..Residency::from_mincore(1, 1, 1)
    });
    sort_cached_files(&mut cache, SortKey::Dirty, false);
    assert_eq!(paths(&cache), "/b/a/c", "what is known comes first");
    cache.files.iter_mut().for_each(|file| file.path = Observed::Missing(Reason::lost("x")));
    sort_cached_files(&mut cache, SortKey::Cached, false);
    assert_eq!(cache.files[2].cached_pages, 4);
}
