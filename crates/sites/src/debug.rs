//! Where the debug information of a stripped file is: by its build ID or by the name and checksum in `.gnu_debuglink`
//! (<https://sourceware.org/gdb/current/onlinedocs/gdb.html/Separate-Debug-Files.html>).

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use object::read::ReadCache;

use crate::elf::Elf;
use crate::open::Roots;

/// The directory that distributions install debug files in.
const DEBUG: &str = "/usr/lib/debug";

/// The debug file of `elf`, which is at `path`.
pub(crate) fn find(elf: &Elf<'_, File>, path: &Path, roots: &Roots) -> Option<File> {
    let id = elf.build_id();
    let by_id = id.as_deref().and_then(|id| {
        let path = path_of_id(id)?;
        roots.open(&path).find(|file| id_of(file).as_deref() == Some(id))
    });
    by_id.or_else(|| {
        let (name, crc) = elf.debug_link()?;
        let candidates = linked(path, Path::new(OsStr::from_bytes(&name)))?;
        let mut files = candidates.iter().flat_map(|path| roots.open(path));
        files.find(|file| {
            // Reading all of a file takes long; two build IDs that are equal say as much.
            let both = (id.as_deref(), id_of(file));
            matches!(&both, (Some(id), Some(other)) if id == other) || checksum(file) == Some(crc)
        })
    })
}

/// What dwz moved out of a debug file, which is in `/usr/lib/debug/.dwz` by an absolute path or one from the file itself.
pub(crate) fn find_shared(elf: &Elf<'_, File>, roots: &Roots) -> Option<File> {
    let (path, id) = elf.shared_debug()?;
    let path = Path::new(OsStr::from_bytes(&path));
    let below = path.components().skip_while(|part| part.as_os_str() != ".dwz");
    let candidates =
        [path_of_id(&id)?, path.to_owned(), Path::new(DEBUG).join(below.collect::<PathBuf>())];
    let mut files = candidates.iter().flat_map(|path| roots.open(path));
    files.find(|file| id_of(file).as_deref() == Some(&id))
}

fn path_of_id(id: &[u8]) -> Option<PathBuf> {
    let text: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = text.split_at_checked(2).filter(|(_, rest)| !rest.is_empty())?;
    Some(PathBuf::from(format!("{DEBUG}/.build-id/{first}/{rest}.debug")))
}

/// The three places that gdb looks in. A name with a directory in it is none.
fn linked(path: &Path, name: &Path) -> Option<[PathBuf; 3]> {
    let directory = path.parent()?;
    let name = Path::new(name.file_name()?);
    let below = directory.strip_prefix("/").ok()?;
    Some([
        directory.join(name),
        directory.join(".debug").join(name),
        Path::new(DEBUG).join(below).join(name),
    ])
}

fn id_of(file: &File) -> Option<Vec<u8>> {
    let cache = ReadCache::new(file.try_clone().ok()?);
    Elf::parse(&cache)?.build_id()
}

fn checksum(mut file: &File) -> Option<u32> {
    file.rewind().ok()?;
    let mut sum = crc32fast::Hasher::new();
    let mut chunk = vec![0; 256 << 10];
    loop {
        match file.read(&mut chunk).ok()? {
            0 => return Some(sum.finalize()),
            count => sum.update(chunk.get(..count)?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_by_build_id() {
        let path = path_of_id(&[0xab, 0xcd, 0x01]).expect("a path");
        assert_eq!(path, Path::new("/usr/lib/debug/.build-id/ab/cd01.debug"));
        assert_eq!((path_of_id(&[]), path_of_id(&[0xab])), (None, None));
    }

    #[test]
    fn a_link_stays_in_the_three_directories() {
        let all = linked(Path::new("/usr/bin/a"), Path::new("../../etc/a.debug")).expect("paths");
        let expected =
            ["/usr/bin/a.debug", "/usr/bin/.debug/a.debug", "/usr/lib/debug/usr/bin/a.debug"];
        assert_eq!(all.map(|path| path.display().to_string()), expected);
        assert_eq!(linked(Path::new("/usr/bin/a"), Path::new("..")), None);
    }
}
