//! One layout: a module with children is `x/mod.rs`, and a module is found by its name.

use std::path::Path;

use crate::source::{at, none_of, root, rust};

#[test]
fn a_module_with_children_is_a_folder() {
    let wrong = rust().into_iter().filter_map(|file| {
        let folder = file.path.with_extension("");
        let is_root = ["lib", "main"].iter().any(|name| folder.ends_with(name));
        let parent = file.path.parent().unwrap_or(Path::new(""));
        // Each file of a `tests` or `bin` folder is a crate of its own.
        let is_crate = parent.ends_with("tests") || parent.ends_with("bin");
        (!is_root && !is_crate && root().join(&folder).is_dir()).then(|| {
            format!(
                "{}: lies beside its folder; make it {}/mod.rs",
                file.path.display(),
                folder.display()
            )
        })
    });
    none_of(&wrong.collect::<Vec<_>>());
}

#[test]
fn no_module_is_named_by_a_path() {
    let mut wrong = Vec::new();
    // A fuzz target compiles a private module of a crate, which has no other name there.
    for file in rust().into_iter().filter(|file| !file.path.starts_with("fuzz")) {
        for (index, line) in file.text.lines().enumerate() {
            if line.trim_start().starts_with("#[path") {
                let place = at(&file.path, index + 1);
                wrong.push(format!("{place}: move the module to where its name leads"));
            }
        }
    }
    none_of(&wrong);
}
