"""What must hold for each case of guest.sh: equations between hotset's counters of the workload's file and the truth.

The first equation is the case's headline: where it can't be measured, the case is skipped, whatever else holds.
"""

# All that one file's reads are asked for, and all that the device moved for them, without what the guest's state adds.
READ = [
    "read.pages == truth.pages",
    "read.hits + read.misses == read.pages",
    "read.bytes == truth.bytes",
    "read.calls == truth.requests + truth.eof_calls",
    "read.sequential_calls + read.random_calls == read.calls",
    "read.misses + readahead.pages == truth.block_read_pages",
    "device.read_bytes == truth.block_read_bytes",
    "write.pages == 0",
    "direct.read_bytes == 0",
]
# Read-ahead in flight counts as cached for cachestat(2) and for hotset alike.
MISSES = ["read.misses == truth.pages_missing_before"]
COLD = ["truth.pages_cached_before == 0", "read.misses + read.readahead_hits == truth.distinct_pages"]

CASES = {
    "cold-seq": [*READ, *MISSES, *COLD],
    "warm-seq": [
        *READ,
        *MISSES,
        "truth.pages_cached_before == truth.pages",
        "read.hits == truth.pages",
        "read.readahead_hits == 0",
        "device.read_bytes == 0",
    ],
    # Read-ahead is off, so every page is waited for.
    "cold-random": [*READ, *MISSES, *COLD, "read.misses == truth.distinct_pages", "readahead.pages == 0"],
    "half-seq": [*READ, *MISSES, "read.misses + read.readahead_hits + truth.pages_cached_before == truth.pages"],
    # Reads that straddle a page border ask for that page twice: more requests than pages.
    "odd": [*READ, *MISSES, *COLD],
    "direct-read": [
        "direct.read_bytes == truth.bytes",
        "direct.read_calls == truth.requests",
        "device.read_bytes == truth.bytes",
        "read.pages == 0",
        "readahead.pages == 0",
        "truth.pages_cached_after == 0",
    ],
    # A write of a part of an uncached page reads the page first.
    "write-partial": [
        "write.misses == truth.distinct_pages",
        "write.pages == truth.pages",
        "write.bytes == truth.bytes",
        "write.new_pages == truth.distinct_pages",
        "write.dirtied_pages == truth.distinct_pages",
        "write.new_pages == truth.new_pages",
        "write.dirtied_pages == truth.dirtied_pages",
        "write.misses == truth.block_read_pages",
        "device.read_bytes == truth.block_read_bytes",
        "read.pages == 0",
        "truth.pages_cached_before == 0",
    ],
    "write-new": [
        "write.new_pages == truth.distinct_pages",
        "write.pages == truth.pages",
        "write.bytes == truth.bytes",
        "write.dirtied_pages == truth.distinct_pages",
        "write.new_pages == truth.new_pages",
        "write.dirtied_pages == truth.dirtied_pages",
        "write.misses == 0",
        "device.read_bytes == 0",
    ],
    # One request to the device brings what is read, what is read ahead, and pages that are written after. Not as READ says it:
    # far from the end no quirk may excuse a page.
    "copy-within": [
        "truth.block_read_pages == read.misses + readahead.pages",
        "device.read_bytes == truth.block_read_bytes",
        "read.misses + readahead.pages + write.new_pages == truth.pages_cached_after",
        "read.pages == truth.pages",
        "write.pages == truth.pages",
        "write.misses == 0",
        *MISSES,
        "truth.pages_cached_before == 0",
    ],
    # Read-ahead is off, and pages are far apart: a fault for each.
    "mmap-random": [
        "mmap.major_faults == truth.majflt",
        "mmap.major_faults == truth.distinct_pages",
        "mmap.major_faults + mmap.minor_faults == mmap.faults",
        "mmap.pages_read == truth.block_read_pages",
        "device.read_bytes == truth.block_read_bytes",
        "read.pages == 0",
        "truth.pages_cached_before == 0",
    ],
    "uring": [*READ, *COLD],
    # Registered files and buffers: the request names a slot, not a descriptor.
    "uring-fixed": [*READ, *COLD],
    # What each child misses depends on the others; the sum does not.
    "children": [*READ, *COLD],
    # Below a memory limit, which the sensor's tables must not count against.
    "limited": [*READ, *MISSES, *COLD],
}

# Live, with one in 2^k pages in the sample, or without a sample. The file is all that is read, but a few pages of programs: there may be
# so many others.
CURVES = {"curves-off": None, "curves-16": 4, "curves-128": 7}
OTHER_PAGES = 4096
# Live, with path lookups, those of starting programs among them.
LOOKUPS = {"live-lookups"}
OTHER_LOOKUPS = 2000

# What the records of a trace add up to is what the same execution's profile counts, and none is lost; some of their code was unwound.
RECORDED = [
    "trace.lost == 0",
    "trace.read_pages.pages == read.pages",
    "trace.read_pages.hits == read.hits",
    "trace.read_pages.misses == read.misses",
    "trace.written_pages.pages == write.pages",
    "trace.written_pages.misses == write.misses",
    "trace.device_read_bytes == device.read_bytes",
    "trace.unwound == 1",
]
CASES |= {
    f"record-{case}": [*CASES[case], *RECORDED]
    for case in ("cold-seq", "half-seq", "cold-random", "write-partial", "mmap-random", "uring", "children")
}

# These must be measured on every kernel that hotset supports.
ESSENTIAL = {"read.pages", "read.hits", "read.misses"}

# Cases whose events older kernels lack, by what the sensor calls them: before this kernel their numbers may be missing, from
# it on they may not.
MEASURED_SINCE = {
    "mmap-random": ("mmap", (6, 12)),
    "uring": ("io_uring", (6, 1)),
    "uring-fixed": ("io_uring", (6, 1)),
    "record-mmap-random": ("mmap", (6, 12)),
    "record-uring": ("io_uring", (6, 1)),
}

# What older kernels are known to do: before this kernel, exactly this surplus is skipped, with the reason.
QUIRKS = {
    "read.misses + readahead.pages == truth.block_read_pages": (
        (5, 11),
        1,
        "this kernel adds a page past the end to the cache for a read at the end",
    ),
}

# From this kernel on tasks are preempted in the middle of the sensor's programs, and events that all programs skipped are lost.
# A number that is off is excused only by a loss that the profile itself tells, and up to this share of it.
LOSS = ((7, 0), 0.002)
