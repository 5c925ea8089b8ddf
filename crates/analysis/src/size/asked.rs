//! What a prediction is asked for, and of which host.

use hotset_facts::trace::TraceHead;
use hotset_sizing::evidence::{KernelVersion, can_be_mglru};
use hotset_sizing::{PAGE_BYTES, PolicyKind};

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SizeAsked {
    /// The part of the hits of a cache without a limit that the recommended limit has to give: 0 to 1.
    pub target: f64,
    /// Limits that are shown beside those that are chosen, in bytes of the whole program.
    pub limits_bytes: Vec<u64>,
    /// Another policy than that of the kernel.
    pub policy: Option<PolicyKind>,
    /// Another kernel than that of the recording, and whether it has the multi-gen LRU.
    pub host: Option<SizeHost>,
    /// What the device reads in a second at the program's requests; else what was seen.
    pub device_bytes_per_s: Option<u64>,
    /// What the program holds beside its cache, in bytes; else what was seen.
    pub other_bytes: Option<u64>,
    /// Threads that simulate.
    pub threads: usize,
}

impl SizeAsked {
    /// Nanoseconds that a page from the device takes, where that is asked for.
    pub(super) fn miss_ns(&self) -> Option<f64> {
        let rate = self.device_bytes_per_s.filter(|&rate| rate > 0)?;
        Some(PAGE_BYTES as f64 * 1e9 / rate as f64)
    }
}

/// What decides about the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeHost {
    /// The version of Linux.
    pub kernel: KernelVersion,
    /// Whether the multi-gen LRU is on.
    pub multi_gen_lru: bool,
}

impl SizeHost {
    /// The host of a recording; nothing where the recording does not tell.
    pub fn of(head: &TraceHead) -> Option<Self> {
        let kernel = version(&head.environment.as_ref()?.kernel)?;
        Some(Self { kernel, multi_gen_lru: head.reclaim?.multi_gen_lru })
    }

    /// The host of a recording with another kernel: the multi-gen LRU stays on if that kernel can have it.
    pub fn with_kernel(head: &TraceHead, kernel: KernelVersion) -> Self {
        let was_on = head.reclaim.is_some_and(|reclaim| reclaim.multi_gen_lru);
        Self { kernel, multi_gen_lru: was_on && can_be_mglru(kernel) }
    }
}

/// The size of pages of the host of a recording, in bytes, where it is another than that of which limits and simulations are.
pub fn other_page_bytes(head: &TraceHead) -> Option<u64> {
    let bytes = head.environment.as_ref()?.page_size_bytes;
    (bytes != PAGE_BYTES).then_some(bytes)
}

/// The first two numbers of a release, such as `6.12.5-amd64`.
pub fn version(release: &str) -> Option<KernelVersion> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    let mut number = || numbers.next()?.parse().ok();
    Some(KernelVersion::new(number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_another_size_are_told() {
        let mut head = crate::trace::testing::head();
        assert_eq!(other_page_bytes(&head), None);
        if let Some(host) = &mut head.environment {
            host.page_size_bytes = 16_384;
        }
        assert_eq!(other_page_bytes(&head), Some(16_384));
        assert_eq!(other_page_bytes(&TraceHead { environment: None, ..head }), None);
    }

    #[test]
    fn the_multi_gen_lru_stays_on_where_there_is_one() {
        let on = Some(hotset_facts::trace::Reclaim { multi_gen_lru: true, swap_bytes: 0 });
        let head = TraceHead { reclaim: on, ..crate::trace::testing::head() };
        let of = |head, major, minor| {
            SizeHost::with_kernel(head, KernelVersion::new(major, minor)).multi_gen_lru
        };
        assert!(of(&head, 6, 1) && !of(&head, 6, 0) && !of(&head, 4, 19));
        assert!(!of(&TraceHead { reclaim: None, ..head.clone() }, 6, 12));
    }

    #[test]
    fn a_release_begins_with_two_numbers() {
        assert_eq!(version("6.12.5-amd64"), Some(KernelVersion::new(6, 12)));
        assert_eq!(version("7.0-rc1"), Some(KernelVersion::new(7, 0)));
        assert_eq!((version("6"), version("x.y"), version("")), (None, None, None));
    }
}
