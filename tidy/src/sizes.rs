//! A file holds one idea, and a function fits a screen.

use std::path::Path;

use syn::visit::{self, Visit};

use crate::source::{Source, at, none_of, rust};

const MAX_FILE_LINES: usize = 400;
const MAX_FUNCTION_LINES: usize = 60;

#[test]
fn no_file_is_long() {
    let long = rust().into_iter().filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > MAX_FILE_LINES).then(|| {
            format!("{}: {lines} lines; divide it: {MAX_FILE_LINES} at most", file.path.display())
        })
    });
    none_of(&long.collect::<Vec<_>>());
}

#[test]
fn no_function_is_long() {
    let files = rust();
    let of_all = |some: &[Source]| -> Vec<String> {
        some.iter().flat_map(|file| long_functions(&file.path, &file.text)).collect()
    };
    // Parsing them takes seconds.
    let (half, other_half) = files.split_at(files.len() / 2);
    let long = std::thread::scope(|scope| {
        let other = scope.spawn(|| of_all(other_half));
        [of_all(half), other.join().expect("it was parsed")].concat()
    });
    none_of(&long);
}

fn long_functions(path: &Path, text: &str) -> Vec<String> {
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut functions = Functions { path, long: Vec::new() };
    functions.visit_file(&file);
    functions.long
}

struct Functions<'a> {
    path: &'a Path,
    long: Vec<String>,
}

impl Functions<'_> {
    fn look(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.ident.span().start().line;
        let lines = block.brace_token.span.close().end().line + 1 - first;
        if lines > MAX_FUNCTION_LINES {
            self.long.push(format!(
                "{}: {} has {lines} lines; divide it: {MAX_FUNCTION_LINES} at most",
                at(self.path, first),
                signature.ident
            ));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.look(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.look(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.look(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[test]
fn a_function_is_as_long_as_it_looks() {
    let of = |lines| {
        format!("struct A;\nimpl A {{\n/// Says.\nfn a() {{\n{}}}\n}}\n", "b();\n".repeat(lines))
    };
    assert!(long_functions(Path::new("a.rs"), &of(58)).is_empty());
    let long = long_functions(Path::new("a.rs"), &of(59));
    assert_eq!(long, ["a.rs:4: a has 61 lines; divide it: 60 at most"]);
}
