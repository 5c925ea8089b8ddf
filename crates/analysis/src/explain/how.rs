//! How a change is made in a program's language.

use super::Language;

/// What the programmer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// Puts a buffer between the program and its calls.
    Buffer,
    /// Syncs once for many records.
    SyncLess,
    /// Opens without O_DIRECT.
    Cached,
    /// Looks paths up once.
    KnowPaths,
    /// Keeps what was read, or what came of it.
    Keep,
    /// Keeps a file open.
    KeepOpen,
    /// Opens without asking first.
    OpenFirst,
    /// Tells the kernel what will be needed.
    WillNeed,
    /// Has many reads under way.
    InFlight,
    /// Tells the kernel that access is random.
    Random,
    /// The same of a mapping.
    MappedRandom,
    /// Tells the kernel what is not needed again.
    DontNeed,
    /// Puts many files into one.
    Pack,
    /// None that differs by language.
    Plain,
}

/// How that is done in a language, in one sentence; `None` where nothing is known.
pub(super) fn how(way: Way, language: Language) -> Option<&'static str> {
    match way {
        Way::Buffer => buffer(language),
        Way::SyncLess => sync_less(language),
        Way::KnowPaths => know_paths(language),
        Way::Keep => keep(language),
        Way::KeepOpen => keep_open(language),
        Way::OpenFirst => open_first(language),
        Way::WillNeed => willneed(language),
        Way::InFlight => in_flight(language),
        Way::Pack => pack(language),
        Way::Random => advise(language).map(|advice| advice.random),
        Way::DontNeed => advise(language).map(|advice| advice.dont_need),
        Way::MappedRandom => mapped_random(language),
        Way::Cached => cached(language),
        Way::Plain => None,
    }
}

fn buffer(language: Language) -> Option<&'static str> {
    use Language::{C, Cpp, Go, Java, Node, Python, Ruby, Rust, Shell};
    Some(match language {
        C => "Call setvbuf(f, memory, _IOFBF, 65536) with your own memory.",
        Cpp => "Call pubsetbuf(memory, 65536) on the stream's rdbuf() before opening it.",
        Rust => "Wrap the File in BufReader::with_capacity or BufWriter::with_capacity(65536, …).",
        Go => "Use bufio.NewReaderSize or bufio.NewWriterSize(f, 65536).",
        Python => "Pass buffering=65536 to open(), and do not call flush() after each write.",
        Node => "Use fs.createReadStream or createWriteStream with highWaterMark: 65536.",
        Java => "Wrap the stream in BufferedInputStream or BufferedOutputStream(…, 65536).",
        Ruby => "Leave sync= at false, and use read and write instead of sysread and syswrite.",
        Shell => "Redirect a whole loop (done > file) instead of each command in it.",
    })
}

fn sync_less(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "With sqlite3, use one `with connection:` block for many statements; else call os.fsync once per group."
        }
        Language::Java => {
            "With JDBC, call setAutoCommit(false) and commit once per group; else FileChannel.force once per group."
        }
        Language::Node => "Put statements into one transaction; else call fs.fsync once per group.",
        Language::Go => "Use one sql.Tx for many statements; else call File.Sync once per group.",
        Language::Ruby => {
            "Use one transaction block for many statements; else call IO#fsync once per group."
        }
        Language::Rust => {
            "Put statements into one transaction; else call File::sync_data once per group."
        }
        Language::C | Language::Cpp => {
            "Put statements between BEGIN and COMMIT; else call fdatasync once per group."
        }
        Language::Shell => return None,
    })
}

fn know_paths(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "Shorten sys.path (PYTHONPATH, .pth files), put its most used directory first, or ship a zip archive."
        }
        Language::Ruby => "Use bootsnap, which keeps the resolved load path.",
        Language::Node => "Name files with their extension, and bundle modules into one file.",
        Language::Java => "Put classes into fewer JAR files, and use a class data sharing archive.",
        Language::Shell => "Shorten PATH, or call programs by absolute path.",
        Language::C | Language::Cpp => {
            "Order -I, -L and RPATH by use; at run time, shorten LD_LIBRARY_PATH."
        }
        Language::Rust | Language::Go => return None,
    })
}

fn keep(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "Decorate the loader with functools.lru_cache, keyed by path and os.stat().st_mtime_ns."
        }
        Language::Java => {
            "Keep the result in a ConcurrentHashMap, keyed by path and modification time."
        }
        Language::Node => {
            "Keep the result in a module-level Map, keyed by path and stat().mtimeMs."
        }
        Language::Ruby => "Keep the result in a constant Hash, keyed by path and File.mtime.",
        Language::Go => "Keep the result in a sync.Map, keyed by path and ModTime.",
        Language::Rust => {
            "Keep the result in a LazyLock, or a HashMap keyed by path and modified()."
        }
        Language::Shell => "Read the file into a variable once, outside of the loop.",
        Language::C | Language::Cpp => {
            "Keep the result in memory, with the st_mtim that it was made of."
        }
    })
}

fn keep_open(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => "Open the file outside of the loop; read with os.pread or seek(0).",
        Language::Shell => "Open it once with exec 3>>file, and write to >&3.",
        Language::Go => "Keep the *os.File, and use ReadAt or WriteAt.",
        Language::Rust => "Keep the File, and use FileExt::read_at or write_at.",
        Language::Java => "Keep the FileChannel, and use read and write with a position.",
        Language::Node => "Keep the FileHandle, and use read with a position.",
        Language::Ruby => "Keep the File, and use pread or rewind.",
        Language::C | Language::Cpp => "Keep the descriptor, and use pread or pwrite.",
    })
}

fn open_first(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "Call open() and catch FileNotFoundError, instead of os.path.exists() first."
        }
        Language::Node => "Open and handle ENOENT, instead of fs.existsSync first.",
        Language::Ruby => "Open and rescue Errno::ENOENT, instead of File.exist? first.",
        Language::Java => "Open and catch NoSuchFileException, instead of Files.exists first.",
        Language::Go => "Open and test errors.Is(err, fs.ErrNotExist), instead of os.Stat first.",
        Language::Rust => "Open and match ErrorKind::NotFound, instead of Path::exists first.",
        Language::C | Language::Cpp => {
            "Open, then call fstat on the descriptor, instead of stat or access first."
        }
        Language::Shell => return None,
    })
}

fn willneed(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "Call os.posix_fadvise(fd, offset, length, os.POSIX_FADV_WILLNEED) ahead of the reads."
        }
        Language::C | Language::Cpp => {
            "Call posix_fadvise(fd, offset, length, POSIX_FADV_WILLNEED) ahead of the reads."
        }
        Language::Rust => "Call rustix::fs::fadvise with Advice::WillNeed ahead of the reads.",
        Language::Go => {
            "Call unix.Fadvise(fd, offset, length, unix.FADV_WILLNEED) ahead of the reads."
        }
        Language::Ruby => "Call IO#advise(:willneed, offset, length) ahead of the reads.",
        Language::Java | Language::Node | Language::Shell => {
            "Run `hotset warm` on the files before the program starts."
        }
    })
}

fn in_flight(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "Read by os.pread in a concurrent.futures.ThreadPoolExecutor of 32 threads."
        }
        Language::C | Language::Cpp => "Submit the reads to io_uring (liburing), 32 at a time.",
        Language::Rust => "Use the io-uring crate, or pread in a pool of 32 threads.",
        Language::Go => "Call ReadAt in up to 32 goroutines.",
        Language::Java => "Use AsynchronousFileChannel, or up to 32 virtual threads.",
        Language::Node => "Await Promise.all of up to 32 reads, with UV_THREADPOOL_SIZE=32.",
        Language::Ruby => "Read by pread in up to 32 threads.",
        Language::Shell => "Read by xargs -P 32.",
    })
}

fn pack(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => {
            "Ship modules as a zip archive (zipapp); keep data in SQLite or one file with an index."
        }
        Language::Node => {
            "Bundle modules with esbuild; keep data in SQLite or one file with an index."
        }
        Language::Java => "Put classes and resources into one JAR file.",
        Language::Ruby => "Use bootsnap for code; keep data in SQLite or one file with an index.",
        Language::Go => "Use embed.FS; keep data in SQLite or one file with an index.",
        Language::Rust => "Use include_bytes!; keep data in SQLite or one file with an index.",
        Language::C | Language::Cpp | Language::Shell => return None,
    })
}

/// Calls of posix_fadvise.
struct Advise {
    random: &'static str,
    dont_need: &'static str,
}

fn advise(language: Language) -> Option<Advise> {
    Some(match language {
        Language::Python => Advise {
            random: "Call os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM) after open.",
            dont_need: "Call os.posix_fadvise(fd, 0, position, os.POSIX_FADV_DONTNEED) every few MiB.",
        },
        Language::C | Language::Cpp => Advise {
            random: "Call posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM) after open.",
            dont_need: "Call posix_fadvise(fd, 0, position, POSIX_FADV_DONTNEED) every few MiB.",
        },
        Language::Rust => Advise {
            random: "Call rustix::fs::fadvise with Advice::Random after open.",
            dont_need: "Call rustix::fs::fadvise with Advice::DontNeed every few MiB.",
        },
        Language::Go => Advise {
            random: "Call unix.Fadvise(fd, 0, 0, unix.FADV_RANDOM) after open.",
            dont_need: "Call unix.Fadvise(fd, 0, position, unix.FADV_DONTNEED) every few MiB.",
        },
        Language::Ruby => Advise {
            random: "Call IO#advise(:random) after open.",
            dont_need: "Call IO#advise(:dontneed, 0, position) every few MiB.",
        },
        Language::Java | Language::Node | Language::Shell => return None,
    })
}

fn mapped_random(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::Python => "Call madvise(mmap.MADV_RANDOM) on the mmap object.",
        Language::C | Language::Cpp => "Call madvise(address, length, MADV_RANDOM) after mmap.",
        Language::Rust => "Call Mmap::advise(Advice::Random) of memmap2.",
        Language::Go => "Call unix.Madvise(data, unix.MADV_RANDOM) after mapping.",
        Language::Java | Language::Node | Language::Ruby | Language::Shell => return None,
    })
}

fn cached(language: Language) -> Option<&'static str> {
    Some(match language {
        Language::C | Language::Cpp | Language::Python | Language::Ruby => {
            "Leave O_DIRECT out of the flags of open."
        }
        Language::Java => "Leave ExtendedOpenOption.DIRECT out of the options.",
        Language::Rust => "Leave custom_flags(libc::O_DIRECT) out of the OpenOptions.",
        Language::Go => "Leave syscall.O_DIRECT out of the flags of os.OpenFile.",
        Language::Node => "Leave fs.constants.O_DIRECT out of the flags of open.",
        Language::Shell => "Leave iflag=direct out of dd.",
    })
}
