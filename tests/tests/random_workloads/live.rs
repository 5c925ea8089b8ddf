//! A mixture that was begun before it is observed, by `attach` and `stat` at once.

use std::process::Command;

use hotset_tests::books::{Books, Counts};
use hotset_tests::filesystems::Kind;
use hotset_tests::watching::{Watching, sum};
use hotset_tests::{Attached, Scratch, mix};
use serde_json::Value;

use crate::begun::Begun;
use crate::judge::{among, equal, major_faults};

/// The profile of `attach`, the books, and where the sums over the lines of `stat` differ from these.
pub(crate) fn watch(
    scratch: &Scratch,
    words: &[String],
    kind: Kind,
) -> (Value, Vec<Books>, Vec<String>) {
    let mut begun = Begun::start(Command::new(mix()).args(words));
    let pid = begun.pid().to_string();
    let attached = Attached::start(scratch, "attached.json", &["--pid", &pid]);
    let mut watching = Watching::start(&["--pid", &pid, "0.2"]);
    let books = begun.books();
    watching.until_now();
    begun.finish();
    let (profile, _) = attached.finish();
    let (lines, _) = watching.finish();
    let found = differences(&lines, &books, kind);
    (profile, books, found)
}

fn differences(lines: &[Value], books: &[Books], kind: Kind) -> Vec<String> {
    let (mut all, mut least, mut most) = (Counts::default(), 0, 0);
    for of in books {
        all += of.sum();
        least += major_faults(of, kind).start();
        most += major_faults(of, kind).end();
    }
    let wanted = match kind {
        // O_DIRECT is taken, and everything is cached all the same.
        Kind::Tmpfs | Kind::Journal => {
            vec![("total", all.read.pages + all.direct_read.pages), ("direct_read_bytes", 0)]
        }
        // Which of the calls with O_DIRECT pass the cache is for the file system to say.
        Kind::Btrfs | Kind::Compressed => vec![],
        Kind::Ext4 | Kind::Xfs | Kind::Overlay => {
            vec![("total", all.read.pages), ("direct_read_bytes", all.direct_read.bytes)]
        }
    };
    let mut found = Vec::new();
    for (key, wanted) in wanted {
        equal(&mut found, &format!("stat: {key}"), sum(lines, key), wanted);
    }
    among(&mut found, "stat: major_faults", sum(lines, "major_faults"), least..=most);
    found
}
