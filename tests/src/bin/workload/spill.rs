//! Files that live for a moment, one after the other, so that their inode numbers come again.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::args::Args;
use super::buffer::Buffer;
use super::truth::{DirectTruth, FileTruth, Truth};
use super::{Doing, Outcome};

/// `spill --file DIR --count N --block B [--direct] [--replace]`: makes DIR/spill-I, writes and reads B bytes of it, and
/// deletes it; with `--replace` it takes the place of DIR/kept instead.
pub(super) fn run(args: &Args) -> Outcome<Truth> {
    let (directory, count) = (args.file()?, args.number("--count", 64)?);
    let mut buffer = Buffer::new(args.block(4096)?);
    let mut numbers = HashSet::new();
    let mut last = FileTruth::default();
    for i in 0..count {
        let path = directory.join(format!("spill-{i}"));
        let file = make(&path, args.flag("--direct"))?;
        file.write_all_at(&buffer, 0).doing("write")?;
        file.read_exact_at(&mut buffer, 0).doing("read")?;
        numbers.insert(file.metadata().doing("stat")?.ino());
        last = FileTruth::of(&path, &file)?;
        drop(file);
        if args.flag("--replace") {
            std::fs::rename(&path, directory.join("kept")).doing("rename")?;
        } else {
            std::fs::remove_file(&path).doing("unlink")?;
        }
    }
    let bytes = count * buffer.len() as u64;
    let direct = DirectTruth {
        read_calls: count,
        read_bytes: bytes,
        write_calls: count,
        write_bytes: bytes,
        ..DirectTruth::default()
    };
    Ok(Truth {
        case: args.case().to_owned(),
        page_size: hotset_sys::page_size(),
        pid: std::process::id(),
        file: last,
        direct: args.flag("--direct").then_some(direct),
        distinct_inodes: Some(numbers.len() as u64),
        ..Truth::default()
    })
}

fn make(path: &Path, direct: bool) -> Outcome<File> {
    let flags = if direct { libc::O_DIRECT } else { 0 };
    let mut options = File::options();
    options.read(true).write(true).create_new(true).custom_flags(flags);
    options.open(path).doing(path.display())
}
