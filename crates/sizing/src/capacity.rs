//! How many pages of files fit into a limit of memory.

use crate::builder::PAGE_BYTES;

/// Kernel memory that a control group is charged for each page for which the page cache's index has room, in halves of a byte: its nodes
/// stay for evicted pages too. 932 KiB were measured for a file of 100,000 pages under every limit, 9.5 bytes a page.
const KERNEL_HALF_BYTES_PER_PAGE: u64 = 19;

/// Kernel memory that a control group is charged for each file whose pages it caches, in bytes: a node of the index of its own, with
/// its part of a slab (`radix_tree_node` in /proc/slabinfo of Linux 6.18).
pub const INDEX_BYTES_PER_FILE: u64 = 585;

/// The same where no other group opened the file before: an inode of ext4 (1,170 bytes, `ext4_inode_cache`) and a dentry (195) too.
pub const KERNEL_BYTES_PER_FILE: u64 = INDEX_BYTES_PER_FILE + 1_365;

/// The pages that a limit leaves for files, at least one.
///
/// `other_bytes` is what the group holds besides: anonymous memory and other kernel memory. `index_pages` is for how many pages
/// the index has room ([`crate::References::index_pages`]).
pub fn cache_pages(limit_bytes: u64, other_bytes: u64, index_pages: u64) -> u64 {
    let kernel_bytes = index_pages.saturating_mul(KERNEL_HALF_BYTES_PER_PAGE) / 2;
    let taken = (other_bytes / PAGE_BYTES).saturating_add(kernel_bytes / PAGE_BYTES);
    (limit_bytes / PAGE_BYTES).saturating_sub(taken).max(1)
}

/// The limit in bytes at which so many pages of files fit: the other way round.
pub fn limit_bytes(cache_pages: u64, other_bytes: u64, index_pages: u64) -> u64 {
    let kernel_bytes = index_pages.saturating_mul(KERNEL_HALF_BYTES_PER_PAGE) / 2;
    let whole = |bytes: u64| bytes / PAGE_BYTES * PAGE_BYTES;
    cache_pages
        .saturating_mul(PAGE_BYTES)
        .saturating_add(whole(kernel_bytes))
        .saturating_add(whole(other_bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_holds_more_than_pages_of_files() {
        // The group of 1500 pages in which a file of 30,000 pages was read: 69 pages for the index. Its counters said 1,408 pages of
        // files at the end, 32 of them just reclaimed.
        assert_eq!(cache_pages(1500 * 4096, 0, 30_000), 1500 - 69);
        assert_eq!(cache_pages(1500 * 4096, 4096 * 100 + 4095, 30_000), 1400 - 69);
        assert_eq!((cache_pages(0, 0, 0), cache_pages(u64::MAX, 0, u64::MAX) > 0), (1, true));
        for pages in [1, 100, 1 << 20] {
            assert_eq!(cache_pages(limit_bytes(pages, 5 << 20, 4711), 5 << 20, 4711), pages);
        }
    }
}
