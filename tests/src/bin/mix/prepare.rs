//! The files that a mixture begins with.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hotset_facts::random::Random;

use super::Outcome;
use super::args::Args;
use super::worker::{READ_ONLY, STABLE, VOLATILE};

/// Some cached, some not, some sparse, one empty.
pub(super) fn prepare(args: &Args) -> Outcome<()> {
    let mut random = Random::new(args.seed()?);
    let dir = args.dir()?;
    let lower = args.lower().unwrap_or_else(|| dir.clone());
    for dir in [&lower, &dir] {
        std::fs::create_dir_all(dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    }
    for index in 0..STABLE {
        make(&dir.join(format!("s{index}")), &mut random)?;
    }
    for index in 0..VOLATILE {
        make(&dir.join(format!("v{index}")), &mut random)?;
    }
    for index in 0..READ_ONLY {
        make(&lower.join(format!("r{index}")), &mut random)?;
    }
    Ok(())
}

fn make(path: &Path, random: &mut Random) -> Outcome<()> {
    let size = match random.below(8) {
        0 => 0,
        1 => random.below(5000),
        2 | 3 => random.below(256) << 12,
        _ => random.below(2 << 20),
    };
    let file = File::create(path)?;
    if random.below(4) == 0 {
        // Holes but for a few pieces.
        file.set_len(size)?;
        for _ in 0..random.below(4) {
            let offset = random.below(size + 1);
            file.write_all_at(&vec![7; random.below(20_000).min(size - offset) as usize], offset)?;
        }
    } else {
        let bytes: Vec<u8> =
            (0..size).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
        file.write_all_at(&bytes, 0)?;
    }
    if random.below(4) > 0 {
        file.sync_all()?;
        if random.below(3) > 0 {
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
        }
    }
    Ok(())
}
