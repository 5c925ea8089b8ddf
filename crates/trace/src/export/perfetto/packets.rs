//! Packets of a Perfetto trace, with the numbers of their fields (protos/perfetto/trace of Perfetto
//! 59).

use std::io::{self, Write};

use hotset_facts::trace::Operation;

use crate::export::protobuf::Message;

/// Fields of `TracePacket`, and the one of `Trace` that holds packets.
mod packet {
    pub(super) const PACKET: u64 = 1;
    pub(super) const CLOCK_SNAPSHOT: u64 = 6;
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const INTERNED: u64 = 12;
    pub(super) const SEQUENCE_FLAGS: u64 = 13;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
}

/// `SEQ_INCREMENTAL_STATE_CLEARED`: what this packet interns holds from here on.
const CLEARED: u64 = 1;

/// `SEQ_NEEDS_INCREMENTAL_STATE`: the packet uses what was interned.
const NEEDS: u64 = 2;

/// The kernel's boot time, which Perfetto takes for the time of a trace, and the time of day
/// (builtin_clock.proto).
const BOOTTIME: u64 = 6;
const REALTIME: u64 = 1;

/// `TrackEvent.Type`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// Names of what is told of a slice.
#[derive(Debug, Clone, Copy)]
pub(super) enum Note {
    Path = 1,
    NewPath,
    Offset,
    AskedBytes,
    Result,
    Error,
    Flags,
    Pages,
    Hits,
    Misses,
    ReadAhead,
    DeviceReadBytes,
    DeviceWriteBytes,
    Site,
}

const NOTES: [&str; 14] = [
    "path",
    "new path",
    "offset",
    "asked bytes",
    "result",
    "error",
    "flags",
    "pages",
    "hits",
    "misses",
    "read ahead",
    "device read bytes",
    "device write bytes",
    "call site",
];

/// A value of a note.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    Uint(u64),
    Int(i64),
    Text(&'a str),
}

/// Adds a note to an event.
pub(super) fn note(event: &mut Message, name: Note, value: Value<'_>) {
    let mut note = Message::new();
    note.uint(1, name as u64);
    match value {
        Value::Uint(value) => note.uint(3, value),
        Value::Int(value) => note.int(4, value),
        Value::Text(text) => note.text(6, text),
    };
    event.message(4, &note);
}

/// The event of a track; notes are added to it.
pub(super) fn event(kind: Type, track: u64, operation: Option<Operation>) -> Message {
    let mut event = Message::new();
    event.uint(9, kind as u64).uint(11, track);
    if let Some(operation) = operation {
        event.uint(10, operation as u64 + 1);
    }
    event
}

/// Writes packets.
pub(super) struct Packets<W> {
    out: W,
    packet: Message,
    framed: Message,
}

impl<W: Write> Packets<W> {
    /// Begins with the names that events refer to, and with the time of day of the beginning where
    /// it is known.
    pub(super) fn new(out: W, started_ns: Option<u64>) -> io::Result<Self> {
        let mut packets = Self { out, packet: Message::new(), framed: Message::new() };
        if let Some(started_ns) = started_ns {
            let mut snapshot = Message::new();
            for (clock, time_ns) in [(BOOTTIME, 0), (REALTIME, started_ns)] {
                snapshot.message(1, Message::new().uint(1, clock).uint(2, time_ns));
            }
            packets.packet.message(packet::CLOCK_SNAPSHOT, &snapshot);
            packets.write(0)?;
        }
        let mut interned = Message::new();
        for operation in Operation::ALL {
            let iid = *operation as u64 + 1;
            interned.message(2, Message::new().uint(1, iid).text(2, operation.as_str()));
        }
        for (iid, name) in (1..).zip(NOTES) {
            interned.message(3, Message::new().uint(1, iid).text(2, name));
        }
        packets.packet.message(packet::INTERNED, &interned);
        packets.write(CLEARED)?;
        Ok(packets)
    }

    fn write(&mut self, flags: u64) -> io::Result<()> {
        self.packet.uint(packet::SEQUENCE, 1);
        if flags > 0 {
            self.packet.uint(packet::SEQUENCE_FLAGS, flags);
        }
        self.framed.clear();
        self.framed.message(packet::PACKET, &self.packet);
        self.packet.clear();
        self.out.write_all(self.framed.bytes())
    }

    pub(super) fn event(&mut self, time_ns: u64, event: &Message) -> io::Result<()> {
        self.packet.uint(packet::TIMESTAMP, time_ns).message(packet::TRACK_EVENT, event);
        self.write(NEEDS)
    }

    pub(super) fn track(&mut self, track: &Message) -> io::Result<()> {
        self.packet.message(packet::TRACK_DESCRIPTOR, track);
        self.write(0)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
