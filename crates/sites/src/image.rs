//! What a process runs, and where the code of that is mapped.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use hotset_facts::{Dev, FileId, Pid};
use hotset_sys::proc::maps::{self, CodeRegion, MappedFile};
use hotset_sys::proc::stat::{self, Stat};

/// Images whose mappings a reader of samples remembers at most; beyond, it begins anew.
const MAX_IMAGES: usize = 4_096;

/// A program that a process runs, from one exec to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Image {
    /// The process.
    pub pid: Pid,
    /// Where its first stack began (`mm->start_stack`): an exec chooses another address, unless nobody randomizes them.
    pub stack_start: u64,
}

impl Image {
    /// What `pid` runs now; nothing where it has exited, or the caller may not look.
    pub fn of(pid: Pid) -> Option<Self> {
        let stat = stat::of(pid).ok()?.filter(Stat::is_alive)?;
        stat.stack_start.map(|stack_start| Self { pid, stack_start })
    }
}

/// A mapping that code runs from, as a sensor saw it when it took a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldMapping {
    /// Its first address and the one behind its last.
    pub addresses: (u64, u64),
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file; none of memory.
    pub file: Option<FileId>,
    /// A path of it, where one is known.
    pub path: Option<PathBuf>,
    /// The kernel made it: `[vdso]`.
    pub is_vdso: bool,
}

impl ToldMapping {
    /// Whether a mapping that /proc has now is this one. On overlayfs and btrfs, the two name a file by other devices.
    fn is_still(&self, now: &CodeRegion) -> bool {
        let id = now.file.id;
        let is_same_file =
            self.file.map_or(id.ino == 0, |file| file.ino == id.ino || file.dev != id.dev);
        now.addresses.0 == self.addresses.0 && now.offset == self.offset && is_same_file
    }

    /// The same as /proc has it. `read` is the mapping that is there now.
    fn region(self, read: Option<&CodeRegion>) -> CodeRegion {
        let named = |name: &str| MappedFile {
            path: PathBuf::from(name),
            id: FileId::new(Dev { major: 0, minor: 0 }, 0),
            deleted: false,
        };
        let file = match (read, self.file) {
            (Some(read), told) => {
                let mut file = read.file.clone();
                // /proc does not tell it.
                file.id.generation =
                    told.filter(|told| told.ino == file.id.ino).and_then(|told| told.generation);
                file
            }
            (None, None) => named(if self.is_vdso { VDSO } else { "" }),
            (None, Some(id)) => {
                let path = self.path.unwrap_or_else(|| format!("inode {}", id.ino).into());
                MappedFile { path, id, deleted: false }
            }
        };
        CodeRegion { addresses: self.addresses, offset: self.offset, file }
    }
}

/// What the kernel calls its own code in each process.
const VDSO: &str = "[vdso]";

/// Where the code of an image was mapped at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mappings {
    pub(crate) regions: Vec<CodeRegion>,
    /// A moment at which the files were mapped, or shortly after it.
    pub(crate) at: SystemTime,
}

impl Mappings {
    /// Those of an image, unless its process has exited or runs something else by now.
    pub fn read(image: Image) -> Option<Self> {
        let is_still = || Image::of(image.pid) == Some(image);
        if !is_still() {
            return None;
        }
        let regions = maps::code_of(image.pid).ok().flatten()?;
        // An exec between the two would have replaced what was read.
        let is_whole = !regions.is_empty() && is_still();
        is_whole.then(|| Self { regions, at: SystemTime::now() })
    }
}

/// What a reader of samples sees to while their processes live: mappings, which end with them. Names can be found later.
#[derive(Debug, Default)]
pub struct Images {
    /// Where code of each was mapped when it was told or read last, and which files a sensor told there.
    known: HashMap<Image, Vec<(CodeRegion, Option<FileId>)>>,
}

impl Images {
    /// Reads the mappings of an image, unless they are known and have code at `address`. Those that a sensor told are taken instead:
    /// the process may have others by now, or have ended; an empty list says that they are others than before. Hand what this
    /// returns to [`crate::Sites::resolve`] with the sample.
    pub fn look(
        &mut self,
        image: Image,
        address: u64,
        told: Option<Vec<ToldMapping>>,
    ) -> Option<Mappings> {
        let known = self.known.get(&image).map_or(&[][..], Vec::as_slice);
        let (mappings, files) = match told {
            None if has_code(known, address) => return None,
            Some(told) if !told.is_empty() => {
                let files = told.iter().map(|told| told.file).collect();
                (with_paths(image, told, known), files)
            }
            _ => (Mappings::read(image)?, Vec::new()),
        };
        if self.known.len() >= MAX_IMAGES {
            self.known.clear();
        }
        let files = files.into_iter().chain(std::iter::repeat(None));
        self.known.insert(image, mappings.regions.iter().cloned().zip(files).collect());
        Some(mappings)
    }
}

/// What a sensor told, with paths as the process has them, where it still runs or they are known. Mappings are read for a file
/// that is new only: whoever reads them can hold up the process while it changes them.
fn with_paths(
    image: Image,
    told: Vec<ToldMapping>,
    known: &[(CodeRegion, Option<FileId>)],
) -> Mappings {
    let known_of = |told: &ToldMapping| {
        let same = |(region, file): &&(CodeRegion, Option<FileId>)| {
            *file == told.file && told.is_still(region)
        };
        known.iter().find(same).map(|(region, _)| region)
    };
    let is_new = |told: &ToldMapping| told.file.is_some() && known_of(told).is_none();
    let read = told.iter().any(is_new).then(|| Mappings::read(image)).flatten();
    let region = |told: ToldMapping| match &read {
        Some(read) => {
            let now = read.regions.iter().find(|now| told.is_still(now));
            told.region(now)
        }
        None => {
            let known = known_of(&told);
            told.region(known)
        }
    };
    Mappings { regions: told.into_iter().map(region).collect(), at: SystemTime::now() }
}

/// Whether a list, in the order of addresses, has code at one.
fn has_code(regions: &[(CodeRegion, Option<FileId>)], address: u64) -> bool {
    let behind = regions.partition_point(|(region, _)| region.addresses.0 <= address);
    let region = behind.checked_sub(1).and_then(|at| regions.get(at));
    region.is_some_and(|(region, _)| address < region.addresses.1)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn mappings_are_read_once_for_all_code_that_they_have() {
        let image = Image::of(std::process::id()).expect("this process");
        let mut images = Images::default();
        let mappings = images.look(image, 8, None).expect("read");
        let first = mappings.regions.first().expect("code").addresses.0;
        assert_eq!(images.look(image, first, None), None);
        assert!(images.look(image, 8, None).is_some(), "what is nowhere may be mapped by now");
        assert!(images.look(image, first, Some(Vec::new())).is_some(), "a sensor says so");
    }

    #[test]
    fn what_a_sensor_told_is_taken_with_the_paths_of_the_process_or_its_own() {
        let image = Image::of(std::process::id()).expect("this process");
        let first = Mappings::read(image).expect("this process").regions.remove(0);
        let told = |addresses, path: &str| ToldMapping {
            addresses,
            offset: first.offset,
            file: Some(FileId::new(Dev { major: 0, minor: 9 }, 7)),
            path: Some(path.into()),
            is_vdso: false,
        };
        let nowhere = ToldMapping { file: None, path: None, ..told((16, 32), "") };
        let vdso = ToldMapping { is_vdso: true, ..nowhere.clone() };
        let nameless = ToldMapping { path: None, ..told((16, 32), "") };
        let all = vec![told(first.addresses, "/x"), told((16, 32), "/y"), nowhere, vdso, nameless];
        let mappings = Images::default().look(image, 8, Some(all)).expect("told");
        let paths: Vec<PathBuf> = mappings.regions.into_iter().map(|one| one.file.path).collect();
        let wanted = ["/y", "", "[vdso]", "inode 7"].map(PathBuf::from);
        assert_eq!((&paths[0], &paths[1..]), (&first.file.path, &wanted[..]));
    }

    /// A process that has answered, and so runs its program, which a process that was just spawned need not.
    fn running() -> std::process::Child {
        let mut command = std::process::Command::new("cat");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("cat");
        let mut answer = [0];
        child.stdin.as_mut().expect("an input").write_all(b"x").expect("written");
        child.stdout.as_mut().expect("an output").read_exact(&mut answer).expect("an answer");
        child
    }

    #[test]
    fn the_paths_of_a_process_are_kept_for_what_is_told_after_its_end() {
        let mut child = running();
        let image = Image::of(child.id()).expect("it runs");
        let first = Mappings::read(image).expect("it runs").regions.remove(0);
        let told = ToldMapping {
            addresses: first.addresses,
            offset: first.offset,
            file: Some(first.file.id),
            path: None,
            is_vdso: false,
        };
        let made = ToldMapping { addresses: (16, 32), offset: 0, file: None, ..told.clone() };
        let other = ToldMapping { file: Some(FileId::new(first.file.id.dev, 7)), ..told.clone() };
        let mut images = Images::default();
        images.look(image, 8, Some(vec![told.clone()])).expect("told");
        child.kill().and_then(|()| child.wait()).expect("it ends");
        let mut look = |told| {
            let mappings = images.look(image, 8, Some(told)).expect("told");
            mappings.regions.into_iter().map(|one| one.file.path).collect::<Vec<_>>()
        };
        assert_eq!(look(vec![made, told]), [PathBuf::new(), first.file.path]);
        assert_eq!(look(vec![other]), [PathBuf::from("inode 7")], "another file in its place");
    }

    #[test]
    fn a_generation_is_kept_of_the_file_that_it_was_told_of_and_another_file_is_none_of_it() {
        let image = Image::of(std::process::id()).expect("this process");
        let first = Mappings::read(image).expect("this process").regions.remove(0);
        let (id, elsewhere) = (first.file.id, Dev { major: 0, minor: 9 });
        let path = first.file.path.clone();
        for (dev, ino, path, kept) in [
            (id.dev, id.ino, path.clone(), Some(5)),
            (elsewhere, id.ino + 1, path, None),
            (id.dev, id.ino + 1, "/told".into(), Some(5)),
        ] {
            let file = FileId { dev, ino, generation: Some(5) };
            let told = ToldMapping {
                addresses: first.addresses,
                offset: first.offset,
                file: Some(file),
                path: Some("/told".into()),
                is_vdso: false,
            };
            let mut mappings = Images::default().look(image, 8, Some(vec![told])).expect("told");
            let file = mappings.regions.remove(0).file;
            assert_eq!((file.path, file.id.generation), (path, kept));
        }
    }

    #[test]
    fn of_another_image_nothing_is_read() {
        let image = Image::of(std::process::id()).expect("this process");
        let before_an_exec = Image { stack_start: image.stack_start + 16, ..image };
        assert_eq!(Mappings::read(before_an_exec), None);
        assert!(Mappings::read(image).is_some());
    }
}
