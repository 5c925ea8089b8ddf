//! Compresses the BPF objects: as they are they would be a tenth of the binary, and of seven a run loads one or two. And names to
//! the linker what the host's static libelf needs beside zlib.

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
    link_libelf();
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

/// libbpf-sys links libelf and zlib alone. Newer builds of libelf call zstd, and one version lacks two of its own functions.
fn link_libelf() {
    const FILE: &str = "libelf-0.192.c";
    println!("cargo::rerun-if-changed={FILE}");
    // Where it is not known here, the linker says what it lacks.
    let probed = pkg_config::Config::new().statik(true).cargo_metadata(false).probe("libelf");
    let Ok(libelf) = probed else { return };
    if let Ok(directory) = pkg_config::get_variable("libelf", "libdir") {
        println!("cargo::rustc-link-search=native={directory}");
    }
    for library in libelf.libs.iter().filter(|name| !["elf", "z"].contains(&name.as_str())) {
        // Left out of this crate's archive: the linker takes it from the host's.
        println!("cargo::rustc-link-lib=static:-bundle={library}");
    }
    if libelf.version == "0.192" {
        // Whole, as the linker meets it before it knows that libelf needs it.
        cc::Build::new().file(FILE).link_lib_modifier("+whole-archive").compile("elf_missing");
    }
}
