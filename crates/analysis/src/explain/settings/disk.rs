//! The read-ahead window of a disk, which every program on it has.

use hotset_facts::units::exact_bytes;
use hotset_facts::{Dev, Environment, Filesystem};

use super::Setting;

/// The rule whose findings it answers.
pub(super) const RULE: &str = "readahead-wasted";
/// Pages of the window that is proposed: 16 KiB of pages of 4 KiB. Small enough that a read at a random place fetches little that
/// nobody asked for; none at all would make sequential reads of all programs wait at each call.
const PAGES: u64 = 4;

/// A disk that files are on, with a window that can be made smaller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::explain) struct Disk {
    /// What its files have as their device.
    pub(super) dev: Dev,
    name: String,
    read_ahead_kb: u64,
    proposed_kb: u64,
}

/// The disks of a host's file systems, as far as the recording names them.
pub(in crate::explain) fn disks(host: &Environment) -> Vec<Disk> {
    let proposed_kb = host.page_size_bytes.saturating_mul(PAGES) / 1024;
    let disk = |one: &Filesystem| {
        let name = disk_of(&one.device)?.to_owned();
        let read_ahead_kb = one.read_ahead_kb.value().filter(|&kb| kb > proposed_kb)?;
        Some(Disk { dev: one.dev, name, read_ahead_kb, proposed_kb })
    };
    host.filesystems.iter().filter_map(disk).collect()
}

impl Disk {
    pub(super) fn setting(&self) -> Setting {
        let Self { name, read_ahead_kb: before, proposed_kb: after, .. } = self;
        let size = |kb: u64| exact_bytes(kb.saturating_mul(1024));
        Setting {
            of: format!("/dev/{name}"),
            how: format!(
                "Set read_ahead_kb to {after}: a read at a random place then reads ahead up to {}, instead of up to {}.",
                size(*after),
                size(*before)
            ),
            risks: format!(
                "It concerns every program that reads from {name}: sequential reads take more and smaller requests. {name} can be \
                 another disk after a restart, if there are several. To undo it, remove the file, and write {before} to \
                 /sys/block/{name}/queue/read_ahead_kb."
            ),
            file: "60-hotset-read-ahead.rules".to_owned(),
            place: "Copy it to /etc/udev/rules.d/, and run:".to_owned(),
            run: Some(format!(
                "udevadm control --reload && udevadm trigger --action=change --sysname-match={name}"
            )),
            comment: "#".to_owned(),
            text: format!(
                "ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"{name}\", ATTR{{queue/read_ahead_kb}}=\"{after}\"\n"
            ),
        }
    }
}

/// The disk that a device is, or a part of, by its name: `vda` of `/dev/vda1`. None of devices that are made of others, or whose
/// number says nothing about what is behind it (loop0, dm-0, md0).
fn disk_of(device: &str) -> Option<&str> {
    let name = device.strip_prefix("/dev/")?;
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if let Some(letters) = name.strip_prefix("sd").or_else(|| name.strip_prefix("vd")) {
        let letters = letters.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_disk = !letters.is_empty() && letters.bytes().all(|c| c.is_ascii_lowercase());
        return is_disk.then(|| name.get(..letters.len() + 2))?;
    }
    // Their names end with a digit, so that parts have a `p` before their number.
    let disk = match name.rsplit_once('p') {
        Some((disk, part)) if is_digits(part) => disk,
        _ => name,
    };
    let is_card = disk.strip_prefix("mmcblk").is_some_and(is_digits);
    let is_nvme = disk.strip_prefix("nvme").and_then(|tail| tail.split_once('n'));
    let is_nvme = is_nvme.is_some_and(|(of, space)| is_digits(of) && is_digits(space));
    (is_card || is_nvme).then_some(disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_name_of_its_disk_and_other_devices_have_none() {
        for (device, disk) in [
            ("/dev/sda", Some("sda")),
            ("/dev/sdab12", Some("sdab")),
            ("/dev/vda1", Some("vda")),
            ("/dev/nvme0n1", Some("nvme0n1")),
            ("/dev/nvme12n1p3", Some("nvme12n1")),
            ("/dev/mmcblk0p2", Some("mmcblk0")),
            ("/dev/mmcblk0boot0", None),
            ("/dev/nvme0", None),
            ("/dev/loop0", None),
            ("/dev/md0p1", None),
            ("/dev/dm-0", None),
            ("/dev/root", None),
            ("/dev/mapper/vg-root", None),
            ("/dev/sd\"a", None),
            ("/dev/sd1", None),
            ("tmpfs", None),
            ("server:/export", None),
        ] {
            assert_eq!(disk_of(device), disk, "{device}");
        }
    }
}
