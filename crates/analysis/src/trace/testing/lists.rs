//! The processes, files and call sites of the fixture.

use std::sync::Arc;

use hotset_facts::trace::{
    FileIndex, Frame, ProcessIndex, Site, SiteIndex, SiteState, TraceFile, TraceLists, TraceProcess,
};
use hotset_facts::{Dev, FileId, FileKind};

pub(super) const SHOPD: ProcessIndex = ProcessIndex(0);
pub(super) const LOADER: ProcessIndex = ProcessIndex(1);

pub(super) const DATABASE: FileIndex = FileIndex(0);
pub(super) const LOG: FileIndex = FileIndex(1);
pub(super) const IMPORT: FileIndex = FileIndex(2);
pub(super) const INDEX: FileIndex = FileIndex(3);
pub(super) const LIBRARY: FileIndex = FileIndex(4);
pub(super) const AUDIT: FileIndex = FileIndex(5);
pub(super) const CONFIG: FileIndex = FileIndex(6);

pub(super) const DATABASE_BYTES: u64 = 512 << 20;
pub(super) const IMPORT_BYTES: u64 = 96 << 20;
pub(super) const INDEX_BYTES: u64 = 64 << 20;
pub(super) const LIBRARY_BYTES: u64 = 2 << 20;

pub(super) const QUERY: SiteIndex = SiteIndex(0);
pub(super) const SCAN: SiteIndex = SiteIndex(1);
pub(super) const COMMIT: SiteIndex = SiteIndex(2);
pub(super) const APPEND: SiteIndex = SiteIndex(3);
pub(super) const PARSE: SiteIndex = SiteIndex(4);
pub(super) const RANK: SiteIndex = SiteIndex(5);
pub(super) const STARTUP: SiteIndex = SiteIndex(6);
pub(super) const AUDITED: SiteIndex = SiteIndex(7);

/// What the first batch adds.
pub(super) fn lists() -> TraceLists {
    let process = |pid, ppid, comm: &str, argv: &[&str]| TraceProcess {
        pid,
        ppid: Some(ppid),
        comm: comm.to_owned(),
        argv: argv.iter().map(Into::into).collect(),
    };
    TraceLists {
        processes: vec![
            process(4100, 900, "shopd", &["shopd", "--data", "/srv/shop", "--workers", "4"]),
            process(4110, 4100, "loader", &["loader", "/srv/shop/import.csv"]),
        ],
        files: vec![
            file("/srv/shop/shop.db", 11, DATABASE_BYTES),
            file("/srv/shop/shop.db-wal", 12, 0),
            file("/srv/shop/import.csv", 13, IMPORT_BYTES),
            file("/srv/shop/products.idx", 14, INDEX_BYTES),
            file("/usr/lib/libshop.so.3", 15, LIBRARY_BYTES),
            file("/srv/shop/audit.bin", 16, 8 << 20),
            file("/etc/shop/shop.conf", 17, 812),
        ],
        sites: sites(),
        gaps: Vec::new(),
    }
}

fn file(path: &str, ino: u64, size_bytes: u64) -> TraceFile {
    TraceFile {
        path: Some(path.into()),
        kind: FileKind::Regular,
        id: Some(FileId::new(Dev { major: 253, minor: 0 }, ino)),
        size_bytes: Some(size_bytes),
        cached_pages: Some(0),
    }
}

/// Innermost first.
fn sites() -> Vec<Site> {
    let site = |state, frames: &[(&str, &str)]| {
        let frames = frames.iter().map(|(module, function)| frame(module, function));
        Site { frames: frames.map(Arc::new).collect(), state }
    };
    let (shopd, libc, loader) = ("/usr/bin/shopd", "/usr/lib/libc.so.6", "/usr/bin/loader");
    let start = [(shopd, "worker"), (libc, "start_thread")];
    let query = [(shopd, "btree_get"), (shopd, "run_query"), start[0], start[1]];
    let with = |inner: &[(&'static str, &'static str)]| {
        inner.iter().chain(&query).copied().collect::<Vec<_>>()
    };
    let commit = [(shopd, "commit"), (shopd, "writer"), start[1]];
    vec![
        site(SiteState::Whole, &with(&[(libc, "pread64"), (shopd, "page_read")])),
        site(SiteState::Whole, &with(&[(libc, "pread64"), (shopd, "page_read"), (shopd, "scan")])),
        site(SiteState::Whole, &[&[(libc, "fdatasync")], &commit[..]].concat()),
        site(SiteState::Whole, &[&[(libc, "pwrite64")], &commit[..]].concat()),
        site(SiteState::Whole, &[(libc, "read"), (loader, "next_line"), (loader, "main")]),
        site(SiteState::Cut, &[(shopd, "rank"), (shopd, "run_query")]),
        site(SiteState::Whole, &[(libc, "openat"), (shopd, "find_config"), (shopd, "main")]),
        site(SiteState::Lost, &[(shopd, "")]),
    ]
}

/// A function without a name is a place in its module.
fn frame(module: &str, function: &str) -> Frame {
    let known = !function.is_empty();
    Frame {
        function: known.then(|| function.to_owned()),
        module: Some(module.to_owned()),
        offset: 0x4f0 + function.len() as u64,
        source: (known && module.contains("/bin/")).then(|| format!("src/{function}.c")),
        line: (known && module.contains("/bin/")).then_some(40 + function.len() as u32),
    }
}
