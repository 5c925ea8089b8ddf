//! The names of users, as /etc/passwd has them. Directories elsewhere (LDAP, sssd) are not asked: that could take seconds.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// The names in /etc/passwd; none where it can't be read.
pub fn names() -> HashMap<u32, Arc<str>> {
    std::fs::read(Path::new("/etc/passwd")).map(|bytes| parse(&bytes)).unwrap_or_default()
}

/// Lines are `name:password:uid:...`, see passwd(5); others are passed over. Of two names for a number the first counts.
pub fn parse(bytes: &[u8]) -> HashMap<u32, Arc<str>> {
    let mut names = HashMap::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        let mut fields = line.split(':');
        let (Some(name), Some(_), Some(uid)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        if let (false, Ok(uid)) = (name.is_empty(), uid.parse::<u32>()) {
            names.entry(uid).or_insert_with(|| Arc::from(name));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_nonsense_passed_over() {
        let names = parse(
            b"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/:\nbad\n:x:5:\nx:y:-1:\n\xff:x:7:7::/:\n",
        );
        assert_eq!(names.get(&0).map(|name| &**name), Some("root"));
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(super::names().contains_key(&0), "every host has a root");
    }
}
