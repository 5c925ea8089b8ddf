//! What elementary operations cost on this host, measured, so that a finding can say what its fix would save.

use serde::{Deserialize, Serialize};

/// Nanoseconds per operation on this host, all served from the cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostTable {
    /// An empty system call.
    pub syscall_ns: f64,
    /// pread of 4 bytes.
    pub read_4b_ns: f64,
    /// pread of 4 KiB.
    pub read_4k_ns: f64,
    /// pread of 64 KiB.
    pub read_64k_ns: f64,
    /// write of 4 bytes.
    pub write_4b_ns: f64,
    /// write of 4 KiB.
    pub write_4k_ns: f64,
    /// write of 64 KiB.
    pub write_64k_ns: f64,
    /// stat of a path that exists.
    pub stat_ns: f64,
    /// stat of a path that does not exist.
    pub stat_enoent_ns: f64,
    /// open and close of a path that exists.
    pub open_close_ns: f64,
}

impl CostTable {
    /// What a buffered read of `bytes` costs from the cache: linear between the measured sizes, and by the 64 KiB rate
    /// above them.
    pub fn read_ns(&self, bytes: f64) -> f64 {
        interpolate(bytes, self.read_4b_ns, self.read_4k_ns, self.read_64k_ns)
    }

    /// What a buffered write of `bytes` costs, by the same rule.
    pub fn write_ns(&self, bytes: f64) -> f64 {
        interpolate(bytes, self.write_4b_ns, self.write_4k_ns, self.write_64k_ns)
    }
}

fn interpolate(bytes: f64, at_4b: f64, at_4k: f64, at_64k: f64) -> f64 {
    const KIB4: f64 = 4096.0;
    const KIB64: f64 = 65536.0;
    if bytes <= 4.0 {
        at_4b
    } else if bytes <= KIB4 {
        at_4b + (at_4k - at_4b) * (bytes - 4.0) / (KIB4 - 4.0)
    } else if bytes <= KIB64 {
        at_4k + (at_64k - at_4k) * (bytes - KIB4) / (KIB64 - KIB4)
    } else {
        at_64k * bytes / KIB64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_grow_with_size() {
        let costs = CostTable {
            syscall_ns: 100.0,
            read_4b_ns: 280.0,
            read_4k_ns: 340.0,
            read_64k_ns: 1600.0,
            write_4b_ns: 460.0,
            write_4k_ns: 700.0,
            write_64k_ns: 9000.0,
            stat_ns: 750.0,
            stat_enoent_ns: 480.0,
            open_close_ns: 1500.0,
        };
        assert_eq!(costs.read_ns(4.0), 280.0);
        assert_eq!(costs.read_ns(4096.0), 340.0);
        assert_eq!(costs.read_ns(131_072.0), 3200.0);
        assert!(costs.write_ns(100.0) > costs.write_4b_ns);
    }
}
