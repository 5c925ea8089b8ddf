//! Compresses the BPF objects: as they are they would be a tenth of the binary, and of seven a run loads one or two.

// It speaks to cargo by its standard output.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=objects");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo names no OUT_DIR")?);
    for entry in fs::read_dir(Path::new("objects"))? {
        let path = entry?.path();
        let name = path.file_name().ok_or("an object without a name")?;
        let object = fs::read(&path)?;
        let length = u32::try_from(object.len())?;
        let mut packed = DeflateEncoder::new(length.to_le_bytes().to_vec(), Compression::best());
        packed.write_all(&object)?;
        fs::write(out.join(name), packed.finish()?)?;
    }
    Ok(())
}
