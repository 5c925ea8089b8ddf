//! Which call is of which shape.

use hotset_facts::trace::Operation;

use crate::import::batch::BatchBuilder;

use super::state::{Call, State};

/// Where a request finds its place in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// At the open file's position, which it moves.
    Position,
    /// An argument says it.
    Argument(usize),
}

/// What the arguments of a call are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Data of one file: descriptor, buffer, size.
    Buffer(At),
    /// The same with a list of buffers.
    Vector(At),
    /// Data of one descriptor goes to another: for each, its argument and that of its offset; then
    /// that of the size.
    Copy { from: (usize, Option<usize>), to: (usize, Option<usize>), size: usize },
    /// A descriptor, and the arguments of an offset, a length and an advice.
    Descriptor { offset: Option<usize>, length: Option<usize>, advice: Option<usize> },
    /// close(2).
    Close,
    /// A path behind a directory's descriptor, and a second one.
    Path { directory: Option<usize>, path: usize, second: Option<(Option<usize>, usize)> },
    /// A path that is opened, and the argument of the flags.
    Open { directory: Option<usize>, path: usize, flags: Option<usize> },
    /// A program.
    Exec { directory: Option<usize>, path: usize },
    /// A path and a length.
    Truncate,
    /// A file is mapped.
    Map,
    /// An address and a length.
    Mapped,
    /// Everything at once.
    Whole,
}

/// The record that a call makes; none of those that make none.
pub(super) fn operation(name: &str) -> Option<(Operation, Shape)> {
    data(name).or_else(|| descriptors(name)).or_else(|| lookups(name)).or_else(|| names(name))
}

/// Calls that move data.
fn data(name: &str) -> Option<(Operation, Shape)> {
    use Operation as Op;
    let copy = Shape::Copy { from: (0, Some(1)), to: (2, Some(3)), size: 4 };
    let (position, argument) = (At::Position, At::Argument(3));
    Some(match name {
        "read" => (Op::Read, Shape::Buffer(position)),
        "pread64" | "pread" => (Op::Pread, Shape::Buffer(argument)),
        "readv" => (Op::Readv, Shape::Vector(position)),
        "preadv" => (Op::Preadv, Shape::Vector(argument)),
        "preadv2" => (Op::Preadv2, Shape::Vector(argument)),
        "write" => (Op::Write, Shape::Buffer(position)),
        "pwrite64" | "pwrite" => (Op::Pwrite, Shape::Buffer(argument)),
        "writev" => (Op::Writev, Shape::Vector(position)),
        "pwritev" => (Op::Pwritev, Shape::Vector(argument)),
        "pwritev2" => (Op::Pwritev2, Shape::Vector(argument)),
        "sendfile" | "sendfile64" => {
            (Op::Sendfile, Shape::Copy { from: (1, Some(2)), to: (0, None), size: 3 })
        }
        "splice" => (Op::Splice, copy),
        "copy_file_range" => (Op::CopyFileRange, copy),
        _ => return None,
    })
}

/// Calls by a descriptor or an address that move none.
fn descriptors(name: &str) -> Option<(Operation, Shape)> {
    use Operation as Op;
    let descriptor = |offset, length, advice| Shape::Descriptor { offset, length, advice };
    let plain = descriptor(None, None, None);
    let range = |offset| descriptor(Some(offset), Some(offset + 1), None);
    Some(match name {
        "fsync" => (Op::Fsync, plain),
        "fdatasync" => (Op::Fdatasync, plain),
        "syncfs" => (Op::Syncfs, plain),
        "sync_file_range" => (Op::SyncFileRange, range(1)),
        "sync" => (Op::Sync, Shape::Whole),
        "msync" => (Op::Msync, Shape::Mapped),
        "close" => (Op::Close, Shape::Close),
        "fadvise64" => (Op::Fadvise, descriptor(Some(1), Some(2), Some(3))),
        "readahead" => (Op::Readahead, range(1)),
        "madvise" => (Op::Madvise, Shape::Mapped),
        "mmap" => (Op::Mmap, Shape::Map),
        "munmap" => (Op::Munmap, Shape::Mapped),
        // The new size stands where requests have their offset.
        "ftruncate" => (Op::Ftruncate, descriptor(Some(1), None, None)),
        "fallocate" => (Op::Fallocate, range(2)),
        _ => return None,
    })
}

const fn path(path: usize) -> Shape {
    Shape::Path { directory: None, path, second: None }
}

const fn path_at(directory: usize) -> Shape {
    Shape::Path { directory: Some(directory), path: directory + 1, second: None }
}

/// Calls that look a path up, or open or run it.
fn lookups(name: &str) -> Option<(Operation, Shape)> {
    use Operation as Op;
    let open = |flags| Shape::Open { directory: None, path: 0, flags };
    let open_at = Shape::Open { directory: Some(0), path: 1, flags: Some(2) };
    Some(match name {
        "open" => (Op::Open, open(Some(1))),
        "creat" => (Op::Creat, open(None)),
        "openat" => (Op::Openat, open_at),
        "openat2" => (Op::Openat2, open_at),
        "stat" | "stat64" => (Op::Stat, path(0)),
        "lstat" | "lstat64" => (Op::Lstat, path(0)),
        "newfstatat" | "fstatat64" => (Op::Newfstatat, path_at(0)),
        "statx" => (Op::Statx, path_at(0)),
        "access" => (Op::Access, path(0)),
        "faccessat" => (Op::Faccessat, path_at(0)),
        "faccessat2" => (Op::Faccessat2, path_at(0)),
        "readlink" => (Op::Readlink, path(0)),
        "readlinkat" => (Op::Readlinkat, path_at(0)),
        "execve" => (Op::Execve, Shape::Exec { directory: None, path: 0 }),
        "execveat" => (Op::Execveat, Shape::Exec { directory: Some(0), path: 1 }),
        _ => return None,
    })
}

/// Calls that change names, or a file by its name.
fn names(name: &str) -> Option<(Operation, Shape)> {
    use Operation as Op;
    let two = Shape::Path { directory: None, path: 0, second: Some((None, 1)) };
    let two_at = Shape::Path { directory: Some(0), path: 1, second: Some((Some(2), 3)) };
    let link_at = Shape::Path { directory: None, path: 0, second: Some((Some(1), 2)) };
    Some(match name {
        "truncate" => (Op::Truncate, Shape::Truncate),
        "rename" => (Op::Rename, two),
        "renameat" => (Op::Renameat, two_at),
        "renameat2" => (Op::Renameat2, two_at),
        "unlink" => (Op::Unlink, path(0)),
        "unlinkat" => (Op::Unlinkat, path_at(0)),
        "link" => (Op::Link, two),
        "linkat" => (Op::Linkat, two_at),
        "symlink" => (Op::Symlink, two),
        "symlinkat" => (Op::Symlinkat, link_at),
        "mkdir" => (Op::Mkdir, path(0)),
        "mkdirat" => (Op::Mkdirat, path_at(0)),
        "rmdir" => (Op::Rmdir, path(0)),
        _ => return None,
    })
}

impl State {
    /// Takes in a call, and makes what records it deserves.
    pub(super) fn call(&mut self, call: &Call<'_>, out: &mut BatchBuilder) {
        let Some((operation, shape)) = operation(call.name) else {
            self.other_call(call, out);
            return;
        };
        match shape {
            Shape::Buffer(at) => {
                let size = super::args::size(call.arg(2));
                self.transfer(call, operation, at, size, out);
            }
            Shape::Vector(at) => {
                let size = super::transfer::vector_bytes(call.arg(1));
                self.transfer(call, operation, at, size, out);
            }
            Shape::Copy { from, to, size } => self.copy(call, operation, [from, to], size, out),
            Shape::Descriptor { offset, length, advice } => {
                self.on_descriptor(call, operation, [offset, length, advice], out);
            }
            Shape::Close => self.close(call, out),
            Shape::Path { directory, path, second } => {
                self.on_path(call, operation, (directory, path), second, out);
            }
            Shape::Open { directory, path, flags } => {
                self.open(call, operation, (directory, path), flags, out);
            }
            Shape::Exec { directory, path } => self.exec(call, operation, (directory, path), out),
            Shape::Truncate => self.truncate(call, operation, out),
            Shape::Map => self.map(call, operation, out),
            Shape::Mapped => self.on_mapped(call, operation, out),
            Shape::Whole => {
                let record = self.record(call, operation, out);
                out.push(record);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::trace::OperationClass;

    use super::*;

    /// What is not a system call, or none that strace can show as such.
    fn is_a_call(operation: Operation) -> bool {
        let is_kernel = matches!(operation.class(), OperationClass::Device | OperationClass::Cache);
        let word = operation.as_str();
        !is_kernel
            && !word.starts_with("io_uring_")
            && !word.starts_with("aio_")
            && operation.class() != OperationClass::Fault
    }

    #[test]
    fn every_call_of_the_vocabulary_is_known() {
        for known in Operation::ALL.iter().filter(|operation| is_a_call(**operation)) {
            let found = operation(known.as_str()).map(|(operation, _)| operation);
            assert_eq!(found, Some(*known), "{}", known.as_str());
        }
        assert_eq!(operation("futex"), None);
    }
}
