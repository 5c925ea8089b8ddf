//! Flags that mean the same everywhere.

use std::path::PathBuf;

use clap::ValueEnum;

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How text looks.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct LookArgs {
    /// When to use color
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Use plain ASCII instead of Unicode bars and symbols
    #[arg(long)]
    pub(crate) ascii: bool,
}

/// Where reports go and how they look.
#[derive(Debug, clap::Args)]
pub(crate) struct OutputArgs {
    /// Write the profile as JSON (hotset.profile/1) to FILE; `-` is standard output
    ///
    /// FILE is compressed with gzip if its name ends in .gz.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write a self-contained HTML page with charts to FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show N files and processes in each table
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// Do not print the report
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Show every finding in full, and what hotset itself does
    #[arg(short, long)]
    pub(crate) verbose: bool,
}
