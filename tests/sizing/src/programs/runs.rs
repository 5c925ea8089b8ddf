//! What a kernel did with a program under a limit: a run is a row of CSV.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::Program;

/// The first line of such CSV, below comments.
pub const COLUMNS: &str = "policy,program,limit_mib,pages,read_pages,refaults,milliseconds";

/// A run of a real kernel.
#[derive(Debug, Clone, Copy)]
pub struct ProgramRun {
    /// Whether the multi-gen LRU was enabled.
    pub is_mglru: bool,
    /// The program.
    pub program: &'static Program,
    /// The limit of the whole control group, in MiB.
    pub limit_mib: u32,
    /// Pages that it asked for.
    pub pages: u64,
    /// Pages that were read from the device, those read ahead in vain included.
    pub read_pages: u64,
    /// Of these, pages that the group had evicted before, by its own count.
    pub refaults: u64,
    /// How long it took.
    pub milliseconds: u64,
}

impl ProgramRun {
    /// The policy's name in CSV.
    pub fn policy(&self) -> &'static str {
        if self.is_mglru { "mglru" } else { "classic" }
    }
}

impl Display for ProgramRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, limit_mib, pages, read_pages, refaults, milliseconds, .. } = self;
        write!(f, "{},{},{limit_mib},{pages},", self.policy(), program.name)?;
        write!(f, "{read_pages},{refaults},{milliseconds}")
    }
}

impl FromStr for ProgramRun {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = |what: &str| format!("\"{line}\": {what}; expected {COLUMNS}");
        let cells: Vec<&str> = line.split(',').collect();
        let &[policy, name, ref numbers @ ..] = &cells[..] else {
            return Err(wrong("too few cells"));
        };
        let numbers: Result<Vec<u64>, _> = numbers.iter().map(|number| number.parse()).collect();
        let numbers = numbers.map_err(|error| wrong(&error.to_string()))?;
        let &[limit_mib, pages, read_pages, refaults, milliseconds] = &numbers[..] else {
            return Err(wrong("not five numbers"));
        };
        let is_mglru = match policy {
            "mglru" => true,
            "classic" => false,
            _ => return Err(wrong("unknown policy")),
        };
        let program = Program::named(name).ok_or_else(|| wrong("unknown program"))?;
        let limit_mib = u32::try_from(limit_mib).map_err(|error| wrong(&error.to_string()))?;
        Ok(Self { is_mglru, program, limit_mib, pages, read_pages, refaults, milliseconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::parse;

    #[test]
    fn a_run_is_written_and_read() {
        let text = "classic,files-many,28,288000,120000,90000,6630";
        let run: ProgramRun = text.parse().expect("a run");
        assert_eq!(run.to_string(), text);
        for wrong in
            ["", "classic,files-none,1,2,3,4,5", "lru,files-many,1,2,3,4,5", "mglru,files-many,1,2"]
        {
            assert!(wrong.parse::<ProgramRun>().is_err(), "{wrong}");
        }
        assert_eq!(
            parse::<ProgramRun>(&format!("# x\n{COLUMNS}\n{text}\n")).map(|runs| runs.len()),
            Ok(1)
        );
    }
}
