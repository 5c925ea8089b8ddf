//! What the generated sources say: a class of some tens of methods and constants in each language.

use hotset_lab::probes::Language;

/// Files in a set.
pub(super) const FILES: usize = 100;
/// Constants, values and methods of a class.
const MEMBERS: usize = 20;

/// A word in a comment of every class, in UTF-8 and in Windows-31J: "class" in Katakana. Reading as text has something to
/// convert.
pub(super) const WORD: (&str, &[u8]) = ("クラス", b"\x83\x4e\x83\x89\x83\x58");

/// How names of files and classes begin: empty ones, those with a class, and the one with all classes.
pub(super) const EMPTY: &str = "e";
pub(super) const CLASS: &str = "c";
pub(super) const ONE: &str = "o";

/// The ending of a source.
pub(super) fn suffix(language: Language) -> &'static str {
    match language {
        Language::C => ".c",
        Language::Go => ".go",
        Language::Python => ".py",
        Language::Ruby => ".rb",
        Language::Node => ".js",
        Language::Java => ".java",
    }
}

/// A file without contents but a comment, so that there is a page to read. Java knows no file without a class.
pub(super) fn empty(language: Language, number: usize) -> String {
    match language {
        Language::Python | Language::Ruby => "# nothing\n".to_owned(),
        Language::C | Language::Node => "/* nothing */\n".to_owned(),
        Language::Go => "// nothing\npackage sources\n".to_owned(),
        Language::Java => format!("// nothing\nfinal class {EMPTY}{number:03} {{}}\n"),
    }
}

/// A class.
pub(super) fn class(language: Language, number: usize) -> String {
    match language {
        Language::C => c(number),
        Language::Go => go(number),
        Language::Python => python(number),
        Language::Ruby => ruby(number),
        Language::Node => node(number, "exports."),
        Language::Java => java(number),
    }
}

/// A class as an ECMAScript module.
pub(super) fn ecmascript(number: usize) -> String {
    node(number, "export const ")
}

/// A line for each member.
fn each(line: impl Fn(usize) -> String) -> String {
    (0..MEMBERS).map(line).collect()
}

/// The next member but one and so on, so that methods differ.
fn other(member: usize) -> usize {
    (member + 1) % MEMBERS
}

fn python(class: usize) -> String {
    let word = WORD.0;
    let constants = each(|i| format!("    CONSTANT_{i:02} = \"{i:02}\"\n"));
    let values = each(|i| format!("        self.value_{i:02} = \"{i:02}\"\n"));
    let methods = each(|i| {
        let o = other(i);
        format!(
            "\n    def method_{i:02}(self):\n        self.value_{i:02} = self.value_{o:02} + \"{i:02}\"\n"
        )
    });
    // Python 2 refuses what isn't ASCII, even in a comment, unless the first lines name the encoding.
    format!(
        "# coding: utf-8\n# {word}\nclass C{class:03}:\n{constants}\n    def __init__(self):\n{values}{methods}\n"
    )
}

fn ruby(class: usize) -> String {
    let word = WORD.0;
    let constants = each(|i| format!("  CONSTANT_{i:02} = \"{i:02}\"\n"));
    let values = each(|i| format!("    @value_{i:02} = \"{i:02}\"\n"));
    let methods = each(|i| {
        let o = other(i);
        format!("\n  def method_{i:02}\n    @value_{i:02} = @value_{o:02} + \"{i:02}\"\n  end\n")
    });
    format!(
        "# {word}\nclass C{class:03}\n{constants}\n  def initialize\n{values}  end\n{methods}end\n"
    )
}

fn node(class: usize, export: &str) -> String {
    let word = WORD.0;
    let constants = each(|i| format!("  static CONSTANT_{i:02} = '{i:02}';\n"));
    let values = each(|i| format!("    this.value{i:02} = '{i:02}';\n"));
    let methods = each(|i| {
        let o = other(i);
        format!(
            "\n  method{i:02}() {{\n    this.value{i:02} = `${{this.value{o:02}}}{i:02}`;\n  }}\n"
        )
    });
    format!(
        "// {word}\n{export}C{class:03} = class {{\n{constants}\n  constructor() {{\n{values}  }}\n{methods}}};\n"
    )
}

fn java(class: usize) -> String {
    let word = WORD.0;
    let constants = each(|i| format!("    static final String CONSTANT_{i:02} = \"{i:02}\";\n"));
    let values = each(|i| format!("    private String value{i:02} = \"{i:02}\";\n"));
    let methods = each(|i| {
        let o = other(i);
        format!(
            "\n    void method{i:02}() {{\n        value{i:02} = value{o:02} + \"{i:02}\";\n    }}\n"
        )
    });
    format!("// {word}\nfinal class {CLASS}{class:03} {{\n{constants}\n{values}{methods}}}\n")
}

/// What comes nearest to a class: a table of constants, a structure, and functions that change it.
fn c(class: usize) -> String {
    let word = WORD.0;
    let constants = each(|i| format!("const char c{class:03}_constant_{i:02}[] = \"{i:02}\";\n"));
    let values = each(|i| format!("    const char *value_{i:02};\n"));
    let methods = each(|i| {
        let o = other(i);
        format!(
            "\nvoid c{class:03}_method_{i:02}(struct c{class:03} *self)\n{{\n    self->value_{i:02} = self->value_{o:02};\n}}\n"
        )
    });
    format!("/* {word} */\n{constants}\nstruct c{class:03} {{\n{values}}};\n{methods}\n")
}

fn go(class: usize) -> String {
    let word = WORD.0;
    let constants = each(|i| format!("const c{class:03}Constant{i:02} = \"{i:02}\"\n"));
    let values = each(|i| format!("\tvalue{i:02} string\n"));
    let methods = each(|i| {
        let o = other(i);
        format!(
            "\nfunc (c *c{class:03}) method{i:02}() {{\n\tc.value{i:02} = c.value{o:02} + \"{i:02}\"\n}}\n"
        )
    });
    format!("// {word}\n{constants}\ntype c{class:03} struct {{\n{values}}}\n{methods}\n")
}
