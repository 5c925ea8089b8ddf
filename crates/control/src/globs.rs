//! Which files are taken by patterns.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use hotset_sys::tree::PathFilter;

/// Patterns that files must match, and patterns that neither they nor a directory on the way may match.
#[derive(Debug)]
pub struct Globs {
    /// Files must match one of these, if there are any.
    pub include: Patterns,
    /// Neither files nor directories may match one of these.
    pub exclude: Patterns,
}

impl PathFilter for Globs {
    fn enters(&self, directory: &Path) -> bool {
        !self.exclude.matches(directory)
    }

    fn takes(&self, file: &Path) -> bool {
        (self.include.is_empty() || self.include.matches(file)) && !self.exclude.matches(file)
    }
}

/// Patterns for whole paths, which have a `/`, and patterns for names.
#[derive(Debug)]
pub struct Patterns {
    paths: GlobSet,
    names: GlobSet,
}

impl Patterns {
    /// Patterns as a shell has them; `**` spans directories.
    ///
    /// # Errors
    /// Names the pattern that is none.
    pub fn new(patterns: &[String]) -> Result<Self, globset::Error> {
        let (mut paths, mut names) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            // `build/` is how people write a directory.
            let plain = pattern.strip_suffix('/').filter(|rest| !rest.is_empty());
            let plain = plain.unwrap_or(pattern);
            let glob =
                GlobBuilder::new(plain).literal_separator(true).backslash_escape(true).build()?;
            if plain.contains('/') {
                paths.add(glob)
            } else {
                names.add(glob)
            };
        }
        Ok(Self { paths: paths.build()?, names: names.build()? })
    }

    fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.names.is_empty()
    }

    /// Whether a path is taken by one of them.
    pub fn matches(&self, path: &Path) -> bool {
        self.paths.is_match(path)
            || (!self.names.is_empty()
                && path.file_name().is_some_and(|name| self.names.is_match(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(include: &[&str], exclude: &[&str]) -> Globs {
        let owned = |all: &[&str]| all.iter().map(|&one| one.to_owned()).collect::<Vec<_>>();
        let patterns = |all: &[&str]| Patterns::new(&owned(all)).expect("patterns");
        Globs { include: patterns(include), exclude: patterns(exclude) }
    }

    #[test]
    fn a_pattern_with_a_slash_is_for_the_path_and_any_other_for_the_name() {
        let globs = globs(&["*.so", "/data/**/index*"], &[]);
        let takes = |path: &str| globs.takes(Path::new(path));
        assert!(takes("/usr/lib/libc.so") && takes("libm.so") && takes("/data/a/b/index.db"));
        assert!(!takes("/usr/lib.so/readme") && !takes("/srv/data/a/index") && !takes("index"));
        // A star does not span directories, two do.
        let one = self::globs(&["/data/*/x"], &[]);
        assert!(one.takes(Path::new("/data/a/x")) && !one.takes(Path::new("/data/a/b/x")));
    }

    #[test]
    fn excluded_directories_are_not_entered_and_exclude_wins() {
        let globs = globs(&["*.rs"], &["target/", "/src/**/gen", "*_old.rs"]);
        let (enters, takes) =
            (|path: &str| globs.enters(Path::new(path)), |path: &str| globs.takes(Path::new(path)));
        assert!(!enters("/src/target") && !enters("target") && !enters("/src/a/gen"));
        assert!(enters("/src/targets") && enters("/src/a"));
        assert!(takes("/src/a.rs") && !takes("/src/a_old.rs") && !takes("/src/a.c"));
    }

    #[test]
    fn names_of_any_bytes_match_and_bad_patterns_are_named() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/x/a\xff.log"));
        assert!(globs(&["a*.log"], &[]).takes(path));
        let error = Patterns::new(&["a[".to_owned()]).expect_err("refused").to_string();
        assert!(error.contains("a["), "{error}");
    }
}
