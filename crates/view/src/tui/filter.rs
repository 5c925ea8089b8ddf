//! Which lines a filter leaves: those with the text anywhere in a name, whatever its case.

use hotset_analysis::top::{Item, Lines};

/// The indices of the lines that `filter` leaves; all of them if it is empty.
pub(super) fn kept(lines: &Lines, filter: &str) -> Vec<u32> {
    let all = 0..u32::try_from(lines.len()).unwrap_or(u32::MAX);
    if filter.is_empty() {
        return all.collect();
    }
    let wanted = filter.to_lowercase();
    let matches = |index: &u32| {
        lines.get(*index as usize).is_some_and(|line| item_matches(line.item, &wanted))
    };
    all.filter(matches).collect()
}

fn item_matches(item: Item<'_>, wanted: &str) -> bool {
    match item {
        Item::Process(item) => {
            let process = &item.process;
            contains(process.comm.as_bytes(), wanted)
                || item.user.as_ref().is_some_and(|user| contains(user.as_bytes(), wanted))
                || process.cgroup.as_value().is_some_and(|path| contains(path.as_bytes(), wanted))
                || contains(process.pid.to_string().as_bytes(), wanted)
        }
        Item::File(item) => match item.file.path.as_value() {
            Some(path) => contains(path.as_os_str().as_encoded_bytes(), wanted),
            None => contains(super::names::file(item).as_bytes(), wanted),
        },
        Item::Group(item) => {
            item.path.as_value().is_some_and(|path| contains(path.as_bytes(), wanted))
                || item.name.as_ref().is_some_and(|name| contains(name.as_bytes(), wanted))
        }
    }
}

/// Whether `text` holds `wanted`, which is in lower case.
fn contains(text: &[u8], wanted: &str) -> bool {
    if text.is_ascii() {
        let wanted = wanted.as_bytes();
        return text.windows(wanted.len()).any(|part| part.eq_ignore_ascii_case(wanted));
    }
    String::from_utf8_lossy(text).to_lowercase().contains(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_in_any_script() {
        assert!(contains(b"PostgreSQL", "gresq"));
        assert!(contains("ÜBER".as_bytes(), "über"));
        assert!(!contains(b"short", "a longer text"));
        assert!(contains(b"\xffName", "name"));
    }
}
