//! Linux AIO as programs without a library speak it: include/uapi/linux/aio_abi.h of a little-endian host.

/// `IOCB_CMD_PREAD`.
pub const PREAD: u16 = 0;
/// `IOCB_CMD_PWRITE`.
pub const PWRITE: u16 = 1;
/// `IOCB_CMD_FSYNC`.
pub const FSYNC: u16 = 2;
/// `IOCB_CMD_FDSYNC`.
pub const FDSYNC: u16 = 3;
/// `IOCB_CMD_PREADV`.
pub const PREADV: u16 = 7;
/// `IOCB_CMD_PWRITEV`.
pub const PWRITEV: u16 = 8;

/// `struct iocb`, a request.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Iocb {
    /// What its result names it by.
    pub data: u64,
    /// The kernel's own.
    pub key: u32,
    /// `RWF_…`.
    pub rw_flags: i32,
    /// What to do.
    pub opcode: u16,
    /// Of the request.
    pub priority: i16,
    /// Whose file.
    pub fd: u32,
    /// An address: of the bytes, or of the vector.
    pub buffer: u64,
    /// So many, or so many parts of the vector.
    pub bytes: u64,
    /// In the file.
    pub offset: i64,
    /// Nobody's.
    pub reserved: u64,
    /// `IOCB_FLAG_…`.
    pub flags: u32,
    /// Who is told.
    pub event_fd: u32,
}

/// `struct io_event`, a result.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Event {
    /// Of the request.
    pub data: u64,
    /// The request's address.
    pub iocb: u64,
    /// Bytes, or an error number below zero.
    pub result: i64,
    /// Nothing, for files.
    pub result2: i64,
}
