//! Why pages of one file stayed.

use hotset_facts::{ControlledFile, FileHolder, Stayed, Unevictable};

/// True where pages stayed and the kernel doesn't say why.
pub(super) fn is_unexplained(file: &ControlledFile) -> bool {
    file.stayed.last().is_some_and(|last| last.reason == Unevictable::Unknown)
}

/// Puts the processes that map the file in the place of "unknown". A mapped page keeps its whole folio, so that they
/// explain all the rest, even where their pages are fewer.
pub(super) fn name_holders(stayed: &mut Vec<Stayed>, holders: &[FileHolder]) {
    let kept_by = |holder: &FileHolder| {
        Some(Stayed {
            reason: holder.keeps()?,
            pages: holder.pages.value(),
            holder: Some((holder.pid, holder.comm.clone())),
        })
    };
    let held: Vec<Stayed> = holders.iter().filter_map(kept_by).collect();
    if !held.is_empty() {
        stayed.pop();
        stayed.extend(held);
    }
}

#[cfg(test)]
mod tests {
    use hotset_facts::{Observed, Reason};

    use super::*;

    const HIDDEN: Observed<u64> = Observed::Missing(Reason::unsupported("hidden"));

    fn holder(pid: u32, pages: Observed<u64>, locked: bool) -> FileHolder {
        FileHolder { pid, comm: format!("p{pid}"), pages, locked }
    }

    #[test]
    fn processes_take_the_place_of_what_is_unknown_only_if_they_hold_pages() {
        let kept = |reason, pages| Stayed { reason, pages: Some(pages), holder: None };
        let before = [kept(Unevictable::Dirty, 4), kept(Unevictable::Unknown, 6)];
        let mut held = before.to_vec();
        name_holders(&mut held, &[holder(1, Observed::Value(0), false)]);
        assert_eq!(held, before, "it maps the file and has no page of it");
        let holders = [
            holder(1, Observed::Value(0), false),
            holder(2, Observed::Value(3), false),
            holder(3, Observed::Value(0), true),
            holder(4, HIDDEN, false),
        ];
        name_holders(&mut held, &holders);
        let told: Vec<_> = held
            .iter()
            .map(|stayed| (stayed.reason, stayed.pages, stayed.holder.as_ref().map(|by| by.0)))
            .collect();
        let wanted = [
            (Unevictable::Dirty, Some(4), None),
            (Unevictable::Mapped, Some(3), Some(2)),
            (Unevictable::Locked, Some(0), Some(3)),
            (Unevictable::Mapped, None, Some(4)),
        ];
        assert_eq!(told, wanted);
    }
}
