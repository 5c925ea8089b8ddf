//! Where the kernel has all physical memory mapped: the sensor reads stacks there, which takes less time than by the helper for the
//! memory of user space. It can't be asked for: the symbol (`page_offset_base`) is in few kernels' lists. But of one page both
//! can be known, where it is in this map and its page frame, and the difference is where the map begins. It is the ring of a packet
//! socket, of which the kernel keeps the address, and which is mapped so that /proc/self/pagemap tells the frame.

use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt as _;

use hotset_sys::{FileView, Mapping};
use libbpf_rs::libbpf_sys;

use crate::record::{Plain, bytes_of_mut, mirror};

/// The program that looks for it.
pub(crate) const PROGRAM: &str = "find_direct_map";

const PAGE_BYTES: usize = 4_096;

mirror! {
    /// What the program is told.
    Frame {
        fd: u32,
        pad: u32,
        number: u64,
    }
}

/// Of page tables: how this CPU has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct PageTables {
    pub(crate) has_five_levels: bool,
    /// Bits of an address in physical memory; 0 where that is not known.
    pub(crate) physical_bits: u32,
}

impl PageTables {
    pub(crate) fn of_this_cpu() -> Self {
        Self::of(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default())
    }

    /// By /proc/cpuinfo. Where memory is encrypted, its physical addresses are shorter by the bit that says so.
    fn of(cpuinfo: &str) -> Self {
        let value = |name: &str| {
            let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
            line.split_once(':').map(|(_, value)| value.trim())
        };
        let bits = value("address sizes")
            .and_then(|sizes| sizes.split_once(" bits physical"))
            .and_then(|(bits, _)| bits.parse::<u32>().ok())
            .filter(|bits| (32..=52).contains(bits));
        let flags = value("flags").unwrap_or_default();
        let has_five_levels = flags.split(' ').any(|flag| flag == "la57");
        Self { has_five_levels, physical_bits: bits.unwrap_or(0) }
    }
}

/// Has the program look for the map. Where that can't be done, the sensor reads stacks by the helper.
pub(crate) fn find(program: BorrowedFd<'_>) -> Option<()> {
    let socket = socket_with_ring()?;
    let ring = Mapping::of_file(&socket, 0, PAGE_BYTES, FileView::default()).ok()?;
    let fd = u32::try_from(socket.as_raw_fd()).ok()?;
    let mut frame = Frame { fd, pad: 0, number: frame_at(ring.start() as u64)? };
    let mut options = libbpf_sys::bpf_test_run_opts {
        sz: size_of::<libbpf_sys::bpf_test_run_opts>() as libbpf_sys::size_t,
        ctx_in: bytes_of_mut(&mut frame).as_mut_ptr().cast(),
        ctx_size_in: size_of::<Frame>() as u32,
        ..Default::default()
    };
    // SAFETY: the context is initialised memory of the size that is told, and lives through the call.
    let answer =
        unsafe { libbpf_sys::bpf_prog_test_run_opts(program.as_raw_fd(), &raw mut options) };
    (answer == 0).then_some(())
}

/// A packet socket that gets no packets, with a ring of one page.
fn socket_with_ring() -> Option<OwnedFd> {
    let page = PAGE_BYTES as libc::c_uint;
    let ring = libc::tpacket_req {
        tp_block_size: page,
        tp_block_nr: 1,
        tp_frame_size: page,
        tp_frame_nr: 1,
    };
    // SAFETY: the call takes numbers only.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
    if fd < 0 {
        return None;
    }
    // SAFETY: the call succeeded, so this is a new descriptor that nobody else owns.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    // SAFETY: the kernel reads a structure of the size that is told.
    let answer = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_PACKET,
            libc::PACKET_RX_RING,
            std::ptr::from_ref(&ring).cast(),
            size_of_val(&ring) as libc::socklen_t,
        )
    };
    (answer == 0).then_some(socket)
}

/// The page frame that is mapped at an address of this process (Documentation/admin-guide/mm/pagemap.rst).
fn frame_at(address: u64) -> Option<u64> {
    const PRESENT: u64 = 1 << 63;
    const NUMBER: u64 = (1 << 55) - 1;
    let mut entry = [0; 8];
    let at = address / PAGE_BYTES as u64 * 8;
    File::open("/proc/self/pagemap").ok()?.read_exact_at(&mut entry, at).ok()?;
    let entry = u64::from_ne_bytes(entry);
    Some(entry & NUMBER).filter(|&number| entry & PRESENT != 0 && number != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configure::Setup;
    use crate::load::load;
    use crate::recording::RecordOptions;
    use crate::tables::Tables;

    #[test]
    fn it_is_found_where_stacks_are_read_and_not_looked_for_elsewhere() {
        for stack_bytes in [4_096, 0] {
            let record = Some(RecordOptions { stack_bytes, ..RecordOptions::default() });
            let setup = Setup { max_rows: 1_024, record, ..Setup::default() };
            let loaded = load(&setup, false).expect("the sensor loads (as root)");
            let globals = Tables::new(&loaded.object, loaded.selection.build).globals();
            let begin = globals.expect("globals").direct_map;
            assert_eq!(begin >> 47 == 0x1_ffff, stack_bytes > 0, "{begin:x}");
        }
    }

    #[test]
    fn page_tables_are_as_the_cpu_says() {
        let plain = "flags\t\t: fpu vme lm\naddress sizes\t: 46 bits physical, 48 bits virtual\n";
        let tables = PageTables { has_five_levels: false, physical_bits: 46 };
        assert_eq!(PageTables::of(plain), tables);
        let large = "flags\t\t: fpu la57 lm\naddress sizes\t: 52 bits physical, 57 bits virtual\n";
        let tables = PageTables { has_five_levels: true, physical_bits: 52 };
        assert_eq!(PageTables::of(large), tables);
        let odd = "flags : la570\naddress sizes : 64 bits physical\n";
        assert_eq!(PageTables::of(odd), PageTables::default());
    }

    #[test]
    fn a_page_of_this_process_has_a_frame_once_it_is_there() {
        let memory = Mapping::populated(PAGE_BYTES).expect("memory");
        assert!(frame_at(memory.start() as u64).is_some(), "as root");
        let untouched = Mapping::anonymous(PAGE_BYTES).expect("memory");
        assert_eq!(frame_at(untouched.start() as u64), None);
    }
}
