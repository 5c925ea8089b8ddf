//! /proc/meminfo: how much memory holds what.

use std::path::Path;

use hotset_facts::MemInfo;

use super::{Malformed, ProcError, kilobytes, lines, read_with, split_once};

const PATH: &str = "/proc/meminfo";

/// The host's memory now.
///
/// # Errors
/// Where /proc is not mounted, or says something else than it does everywhere.
pub fn now() -> Result<MemInfo, ProcError> {
    Ok(read_with(Path::new(PATH), parse)?.unwrap_or_default())
}

/// Parses the whole file. Lines that are not known are passed over; `MemTotal` and `Cached` must be there.
pub fn parse(bytes: &[u8]) -> Result<MemInfo, Malformed> {
    let mut info = MemInfo::default();
    let mut seen = (false, false);
    for (number, line) in lines(bytes) {
        let malformed = || Malformed::new(number, "a name, a colon and kilobytes", line);
        let (name, value) = split_once(line, b':').ok_or_else(malformed)?;
        let Some(field) = field_of(&mut info, name) else { continue };
        *field = kilobytes(value).ok_or_else(malformed)?;
        seen.0 |= name == b"MemTotal";
        seen.1 |= name == b"Cached";
    }
    if seen == (true, true) {
        Ok(info)
    } else {
        Err(Malformed::new(1, "a file with MemTotal and Cached", b"neither or one"))
    }
}

fn field_of<'a>(info: &'a mut MemInfo, name: &[u8]) -> Option<&'a mut u64> {
    Some(match name {
        b"MemTotal" => &mut info.total_bytes,
        b"MemFree" => &mut info.free_bytes,
        b"Cached" => &mut info.cached_bytes,
        b"Buffers" => &mut info.buffers_bytes,
        b"Shmem" => &mut info.shmem_bytes,
        b"SwapCached" => &mut info.swap_cached_bytes,
        b"Dirty" => &mut info.dirty_bytes,
        b"Writeback" => &mut info.writeback_bytes,
        b"Mapped" => &mut info.mapped_bytes,
        b"Unevictable" => &mut info.unevictable_bytes,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_lines_are_bytes_and_others_are_passed_over() {
        let info = parse(
            b"MemTotal:       24682416 kB\nMemFree:  5 kB\nBuffers:           11892 kB\nCached:          1291132 kB\n\
              Shmem: 7 kB\nActive(file):     426708 kB\nHugePages_Total:       0\nUnevictable: 3 kB\n",
        )
        .expect("meminfo");
        assert_eq!(info.total_bytes, 24_682_416 << 10);
        assert_eq!((info.free_bytes, info.buffers_bytes), (5 << 10, 11_892 << 10));
        assert_eq!((info.cached_bytes, info.shmem_bytes), (1_291_132 << 10, 7 << 10));
        assert_eq!((info.unevictable_bytes, info.dirty_bytes), (3 << 10, 0));
    }

    #[test]
    fn what_is_not_meminfo_is_refused_by_line() {
        let error = parse(b"MemTotal: 5 kB\nCached: many kB\n").expect_err("no number");
        assert_eq!((error.line, error.found.as_str()), (2, "Cached: many kB"));
        assert_eq!(parse(b"MemTotal: 5 kB\nnothing\n").expect_err("no colon").line, 2);
        assert!(parse(b"MemTotal: 5 kB\n").is_err());
        assert!(parse(b"").is_err());
    }

    #[test]
    fn this_host_caches_something() {
        let info = now().expect("meminfo");
        assert!(info.cached_bytes > 0 && info.cached_bytes < info.total_bytes);
    }
}
