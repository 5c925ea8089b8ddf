//! The languages, and what is known of each.

/// A language that a probe is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// C, with the host's compiler and C library.
    C,
    /// Go, compiled with the host's toolchain.
    Go,
    /// Python, as the host has it.
    Python,
    /// Ruby, as the host has it.
    Ruby,
    /// JavaScript, run by Node.
    Node,
    /// Java, run by the host's virtual machine.
    Java,
}

/// A source that is carried in this binary.
pub(super) type Source = (&'static str, &'static str);

impl Language {
    /// All, in the order of tables.
    pub const ALL: [Self; 6] =
        [Self::C, Self::Go, Self::Python, Self::Ruby, Self::Node, Self::Java];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Go => "go",
            Self::Python => "python",
            Self::Ruby => "ruby",
            Self::Node => "node",
            Self::Java => "java",
        }
    }

    /// The language of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|language| language.as_str() == name)
    }

    /// The language that a program runs, by its file name: `python3.12` runs Python.
    pub fn of_program(file_name: &str) -> Option<Self> {
        let runs_it = |language: &Self| {
            language.programs().iter().any(|known| match file_name.strip_prefix(known) {
                Some(rest) => !rest.starts_with(|c: char| c.is_ascii_alphabetic()),
                None => false,
            })
        };
        Self::ALL.into_iter().find(runs_it)
    }

    /// What it is looked for under, the most usual first.
    pub(super) fn programs(self) -> &'static [&'static str] {
        match self {
            Self::C => &["cc", "gcc", "clang"],
            Self::Go => &["go"],
            Self::Python => &["python3", "python", "pypy3", "pypy"],
            Self::Ruby => &["ruby", "jruby", "truffleruby"],
            Self::Node => &["node", "nodejs"],
            Self::Java => &["java"],
        }
    }

    /// Places beside PATH where its own installer puts it.
    pub(super) fn places(self) -> &'static [&'static str] {
        match self {
            Self::Go => &["/usr/local/go/bin"],
            _ => &[],
        }
    }

    /// Words for the runtime itself, so that a start takes the least; where a version refuses them, the next ones. Python: no
    /// variables of the environment, no packages, no compiled modules written by the way. Ruby: no RubyGems, whose `require`
    /// stands before Ruby's own; Ruby 1.8 has none and doesn't know the word. Java: no file of counters for other tools, beside
    /// which the JVM looks into those of all JVMs of the host; one that ends meanwhile was one failed lookup more.
    pub(super) fn flags(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Python => &[&["-E", "-s", "-S", "-B"]],
            Self::Ruby => &[&["--disable-gems"], &[]],
            Self::Java => &[&["-XX:-UsePerfData"], &[]],
            _ => &[&[]],
        }
    }

    /// How to get it, in Debian's words.
    pub(super) fn package(self) -> &'static str {
        match self {
            Self::C => "gcc",
            Self::Go => "golang-go",
            Self::Python => "python3",
            Self::Ruby => "ruby",
            Self::Node => "nodejs",
            Self::Java => "default-jdk-headless",
        }
    }

    /// The probe, and what goes with it; the probe first.
    pub(super) fn sources(self) -> &'static [Source] {
        macro_rules! source {
            ($path:literal) => {
                include_str!(concat!("../../probes/", $path))
            };
        }
        match self {
            Self::C => &[("probe.c", source!("c/probe.c"))],
            Self::Go => &[("main.go", source!("go/main.go")), ("go.mod", source!("go/go.mod"))],
            Self::Python => &[
                ("probe.py", source!("python/probe.py")),
                ("library.py", source!("python/library.py")),
                ("hotset_clock.py", source!("python/hotset_clock.py")),
            ],
            Self::Ruby => &[
                ("probe.rb", source!("ruby/probe.rb")),
                ("library.rb", source!("ruby/library.rb")),
                ("clock.rb", source!("ruby/clock.rb")),
                ("answer.rb", source!("ruby/answer.rb")),
            ],
            Self::Node => &[("probe.js", source!("node/probe.js"))],
            Self::Java => &[("Probe.java", source!("java/Probe.java"))],
        }
    }
}
