//! `hotset ls --system`.

use hotset_analysis::listing::SortKey;
use hotset_analysis::{sort_cached_files, system_numbers};
use hotset_control::{InodeList, SystemOptions, system_cache};
use hotset_facts::SystemCache;
use hotset_observe::inodes;
use hotset_view::Options;

use crate::args::LsArgs;
use crate::exit::{Exit, Stop};
use crate::{interrupt, output};

/// Files that are listed unless `--top` says otherwise.
const DEFAULT_TOP: usize = 30;

/// Lists what occupies the cache of the machine.
pub(super) fn ls_system(args: &LsArgs) -> Result<Exit, Stop> {
    let (top, min_size_bytes) =
        (args.rows.top.unwrap_or(DEFAULT_TOP), args.selection.min_size.unwrap_or(0));
    let stop = interrupt::stop_flag();
    let options = SystemOptions { top, min_size_bytes, walk: args.walk };
    let found = system_cache(&options, stop, || {
        let scan = inodes::scan(&inodes::Request { top, min_size_bytes }, stop);
        let scan = scan.map_err(|error| error.to_string())?;
        let inodes::InodeScan { file_systems, files, gap, interrupted } = scan;
        Ok(InodeList { file_systems, files, gap, interrupted })
    });
    let mut cache = found.map_err(anyhow::Error::from)?;
    let key = args.rows.sort.unwrap_or(SortKey::Cached);
    sort_cached_files(&mut cache, key, args.rows.reverse);
    output::print(&rendered(&cache, args))?;
    Ok(if cache.interrupted { interrupt::exit() } else { Exit::Success })
}

fn rendered(cache: &SystemCache, args: &LsArgs) -> Vec<u8> {
    let numbers = system_numbers(cache);
    if args.form.json {
        hotset_view::system_json(cache, &numbers)
    } else if args.form.csv {
        hotset_view::system_csv(cache, &numbers)
    } else {
        let Options { width, color, ascii, .. } = output::stdout_options(args.form.look);
        hotset_view::system_text(
            cache,
            &numbers,
            &hotset_view::SystemOptions { width, color, ascii },
        )
        .into_bytes()
    }
}
