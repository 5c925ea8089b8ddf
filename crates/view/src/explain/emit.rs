//! What goes into files that can be applied as they are.

use std::path::Path;

use hotset_facts::SaveReport;

use crate::units::{bytes, plural};

/// A drop-in of systemd that restores a snapshot before a service starts. The service starts also where that fails.
pub fn restore_drop_in(set: &Path) -> String {
    let set =
        set.display().to_string().replace('%', "%%").replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "# Reads the pages that the service needs before it starts.\n\
         # Copy to /etc/systemd/system/NAME.service.d/ and run: systemctl daemon-reload\n\
         [Service]\n\
         ExecStartPre=-hotset restore -q \"{set}\"\n"
    )
}

/// What was written where.
pub fn emitted(findings: &Path, set: Option<(&Path, &SaveReport)>) -> String {
    let Some((set, saved)) = set else {
        return format!(
            "{}: written. No finding is about a cold start, so there is nothing else to apply",
            findings.display()
        );
    };
    let size = bytes(saved.pages.saturating_mul(saved.page_bytes));
    format!(
        "{}: {} with {size} to restore; hotset-restore.conf beside it does so before a service starts",
        set.display(),
        plural(saved.files, "file")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drop_in_quotes_what_systemd_would_read_otherwise() {
        let text = restore_drop_in(Path::new("/srv/a b/100%/\"x\"/start.set"));
        let line = text.lines().last().expect("a line");
        assert_eq!(line, r#"ExecStartPre=-hotset restore -q "/srv/a b/100%%/\"x\"/start.set""#);
    }
}
