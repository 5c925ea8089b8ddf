//! The charts and tables of `lab buffer`.

use hotset_analysis::lab::ConstLevel::{self, Name, Number};
use hotset_view::lab::{ChartSpec, Scale, Shape};
use hotset_view::page::ChartKind;

type Keep = (&'static str, &'static [ConstLevel]);

const NATIVE: Keep = ("writer", &[Name("native")]);
const NEW: Keep = ("file", &[Name("new")]);
const WRITE: Keep = ("phase", &[Name("write")]);
const NO_SYNC: Keep = ("sync", &[Name("none")]);
/// What is beside a multiple of a page: a question of its own.
const BESIDE_PAGES: &[ConstLevel] = &[Number(4095), Number(4097), Number(8191), Number(8193)];

const PHASE: &str = "The time of copying pieces into the buffer and of write(2), for one new file. Opening and closing it was \
    measured separately.";

/// A chart and a table for each question.
pub(super) const CHARTS: &[ChartSpec<'static>] = &[
    ChartSpec {
        question: "How does the time grow with the file?",
        operation: "file",
        title: "Time of writing a file by its size, one line per buffer size",
        kind: ChartKind::Lines,
        x: "total_bytes",
        series: &["buffer_bytes"],
        keep: &[NATIVE, NEW, WRITE, NO_SYNC],
        leave_out: Some(("buffer_bytes", BESIDE_PAGES)),
        each: Some("piece_bytes"),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        table: Shape::Across("buffer_bytes"),
        notes: &[
            PHASE,
            "none: no buffer, each piece is a write(2).",
            "Left out here: buffers of 4095, 4097, 8191 and 8193 bytes.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How large should the buffer be?",
        operation: "file",
        title: "Time of writing a file by the size of the buffer, one line per file size",
        kind: ChartKind::Lines,
        x: "buffer_bytes",
        series: &["total_bytes"],
        keep: &[NATIVE, NEW, WRITE, NO_SYNC],
        each: Some("piece_bytes"),
        x_scale: Scale::Places,
        y_scale: Scale::Log,
        notes: &[
            PHASE,
            "Calls are those of a whole sample, which writes several files, as counted by the kernel.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Must a buffer be a multiple of 4096 bytes?",
        operation: "file",
        title: "Time of writing a file with buffer sizes around multiples of 4096 bytes",
        kind: ChartKind::Points,
        x: "buffer_bytes",
        series: &["piece_bytes"],
        keep: &[
            NATIVE,
            NEW,
            WRITE,
            NO_SYNC,
            (
                "buffer_bytes",
                &[
                    Number(4095),
                    Number(4096),
                    Number(4097),
                    Number(8191),
                    Number(8192),
                    Number(8193),
                ],
            ),
        ],
        largest: Some("total_bytes"),
        each: Some("total_bytes"),
        x_scale: Scale::Places,
        y_scale: Scale::Linear,
        table: Shape::Across("buffer_bytes"),
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How much does a buffer gain if the data must reach the device?",
        operation: "file",
        title: "Time of writing a file with fsync at the end, and with O_DSYNC",
        kind: ChartKind::Lines,
        x: "buffer_bytes",
        series: &["sync"],
        keep: &[NATIVE, NEW, WRITE, ("sync", &[Name("fsync"), Name("dsync")])],
        each: Some("total_bytes"),
        x_scale: Scale::Places,
        y_scale: Scale::Log,
        notes: &[
            "With O_DSYNC each write(2) waits for the device; buffer sizes that need too many calls were not measured.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "Do library buffers perform as well?",
        operation: "file",
        title: "Time of the native writer, of fwrite with the program's own buffer, and of fwrite with only a size",
        kind: ChartKind::Lines,
        x: "buffer_bytes",
        series: &["writer"],
        keep: &[
            NEW,
            WRITE,
            NO_SYNC,
            ("writer", &[Name("native"), Name("stdio"), Name("stdio-null")]),
        ],
        largest: Some("total_bytes"),
        each: Some("piece_bytes"),
        x_scale: Scale::Places,
        y_scale: Scale::Log,
        notes: &[
            "stdio-null: setvbuf(file, NULL, _IOFBF, size). glibc ignores the size, as the number of calls shows.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How large should the buffer be in other languages?",
        operation: "file",
        title: "Time of opening, writing and closing a file by the size of the buffer",
        kind: ChartKind::Lines,
        x: "buffer_bytes",
        series: &["writer", "total_bytes"],
        keep: &[("phase", &[Name("open+write+close")])],
        each: Some("piece_bytes"),
        x_scale: Scale::Places,
        y_scale: Scale::Log,
        notes: &[
            "Other languages' probes time opening, writing and closing together.",
            "Calls are those of one file: a sample of another language writes one.",
        ],
        ..ChartSpec::EMPTY
    },
    ChartSpec {
        question: "How long do opening and closing take?",
        operation: "file",
        title: "Time of opening and closing alone, with a new and with an existing file",
        kind: ChartKind::Bars,
        x: "file",
        series: &["writer"],
        keep: &[("phase", &[Name("open+close")])],
        ..ChartSpec::EMPTY
    },
];
