//! What a record of a trace tells of.

macro_rules! operations {
    ($($(#[$doc:meta])* $Variant:ident = $word:literal $Class:ident,)*) => {
        crate::words! {
            /// What a record tells of: a system call, by its name; a request of io_uring or Linux AIO; or what the kernel did.
            pub enum Operation {
                $($(#[$doc])* $Variant = $word,)*
            }
        }

        impl Operation {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$Variant,)*];

            /// What it does to files. Of a call with two files, this is its record of the file that is read.
            pub const fn class(self) -> OperationClass {
                match self {
                    $(Self::$Variant => OperationClass::$Class,)*
                }
            }
        }
    };
}

crate::words! {
    /// What an operation does to files, whichever way it is called.
    pub enum OperationClass {
        /// Data of a file is read.
        Read = "read",
        /// Data of a file is written.
        Write = "write",
        /// Written data is brought to the device.
        Sync = "sync",
        /// A page of a mapping is touched that is not mapped yet.
        Fault = "fault",
        /// A file is opened by its path.
        Open = "open",
        /// A descriptor is closed.
        Close = "close",
        /// A path is looked up without opening it: stat, access, readlink.
        Lookup = "lookup",
        /// A program is started.
        Exec = "exec",
        /// The kernel is told how a file will be used: fadvise, madvise, readahead.
        Advice = "advice",
        /// A file is mapped or unmapped.
        Map = "map",
        /// A file is made shorter or longer, or space is reserved or freed in it.
        Size = "size",
        /// A name is made, changed or removed.
        Name = "name",
        /// The device reads or writes for a file outside of any operation of a process.
        Device = "device",
        /// Pages enter or leave the page cache.
        Cache = "cache",
    }
}

operations! {
    /// read(2).
    Read = "read" Read,
    /// pread64(2).
    Pread = "pread64" Read,
    /// readv(2).
    Readv = "readv" Read,
    /// preadv(2).
    Preadv = "preadv" Read,
    /// preadv2(2).
    Preadv2 = "preadv2" Read,
    /// sendfile(2).
    Sendfile = "sendfile" Read,
    /// splice(2).
    Splice = "splice" Read,
    /// copy_file_range(2).
    CopyFileRange = "copy_file_range" Read,
    /// A read request of io_uring.
    UringRead = "io_uring_read" Read,
    /// A splice request of io_uring.
    UringSplice = "io_uring_splice" Read,
    /// A read request of Linux AIO.
    AioRead = "aio_read" Read,
    /// write(2).
    Write = "write" Write,
    /// pwrite64(2).
    Pwrite = "pwrite64" Write,
    /// writev(2).
    Writev = "writev" Write,
    /// pwritev(2).
    Pwritev = "pwritev" Write,
    /// pwritev2(2).
    Pwritev2 = "pwritev2" Write,
    /// A write request of io_uring.
    UringWrite = "io_uring_write" Write,
    /// A write request of Linux AIO.
    AioWrite = "aio_write" Write,
    /// fsync(2).
    Fsync = "fsync" Sync,
    /// fdatasync(2).
    Fdatasync = "fdatasync" Sync,
    /// sync_file_range(2).
    SyncFileRange = "sync_file_range" Sync,
    /// msync(2).
    Msync = "msync" Sync,
    /// syncfs(2).
    Syncfs = "syncfs" Sync,
    /// sync(2).
    Sync = "sync" Sync,
    /// A sync request of io_uring.
    UringSync = "io_uring_fsync" Sync,
    /// A sync request of Linux AIO.
    AioSync = "aio_fsync" Sync,
    /// A fault on a mapping whose page was cached.
    MinorFault = "minor_fault" Fault,
    /// A fault on a mapping that had to read.
    MajorFault = "major_fault" Fault,
    /// open(2).
    Open = "open" Open,
    /// creat(2).
    Creat = "creat" Open,
    /// openat(2).
    Openat = "openat" Open,
    /// openat2(2).
    Openat2 = "openat2" Open,
    /// An open request of io_uring.
    UringOpen = "io_uring_openat" Open,
    /// close(2).
    Close = "close" Close,
    /// stat(2).
    Stat = "stat" Lookup,
    /// lstat(2).
    Lstat = "lstat" Lookup,
    /// newfstatat(2).
    Newfstatat = "newfstatat" Lookup,
    /// statx(2).
    Statx = "statx" Lookup,
    /// A statx request of io_uring.
    UringStatx = "io_uring_statx" Lookup,
    /// access(2).
    Access = "access" Lookup,
    /// faccessat(2).
    Faccessat = "faccessat" Lookup,
    /// faccessat2(2).
    Faccessat2 = "faccessat2" Lookup,
    /// readlink(2).
    Readlink = "readlink" Lookup,
    /// readlinkat(2).
    Readlinkat = "readlinkat" Lookup,
    /// execve(2).
    Execve = "execve" Exec,
    /// execveat(2).
    Execveat = "execveat" Exec,
    /// posix_fadvise(2).
    Fadvise = "fadvise64" Advice,
    /// madvise(2) on a mapping of a file.
    Madvise = "madvise" Advice,
    /// readahead(2).
    Readahead = "readahead" Advice,
    /// mmap(2) of a file.
    Mmap = "mmap" Map,
    /// munmap(2).
    Munmap = "munmap" Map,
    /// truncate(2).
    Truncate = "truncate" Size,
    /// ftruncate(2).
    Ftruncate = "ftruncate" Size,
    /// fallocate(2).
    Fallocate = "fallocate" Size,
    /// rename(2).
    Rename = "rename" Name,
    /// renameat(2).
    Renameat = "renameat" Name,
    /// renameat2(2).
    Renameat2 = "renameat2" Name,
    /// unlink(2).
    Unlink = "unlink" Name,
    /// unlinkat(2).
    Unlinkat = "unlinkat" Name,
    /// link(2).
    Link = "link" Name,
    /// linkat(2).
    Linkat = "linkat" Name,
    /// symlink(2).
    Symlink = "symlink" Name,
    /// symlinkat(2).
    Symlinkat = "symlinkat" Name,
    /// mkdir(2).
    Mkdir = "mkdir" Name,
    /// mkdirat(2).
    Mkdirat = "mkdirat" Name,
    /// rmdir(2).
    Rmdir = "rmdir" Name,
    /// The device reads for a file outside of any operation of a process.
    DeviceRead = "device_read" Device,
    /// Dirty pages are written back outside of any operation of a process.
    Writeback = "writeback" Device,
    /// Pages enter the page cache.
    PageIn = "page_in" Cache,
    /// Pages leave it.
    PageOut = "page_out" Cache,
}
