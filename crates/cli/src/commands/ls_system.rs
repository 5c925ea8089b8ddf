//! `hotset ls --system`.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use hotset_analysis::{CacheOrder, sort_cached_files, system_numbers};
use hotset_facts::{CacheSource, SystemCache};
use hotset_observe::inodes;
use hotset_sys::proc::{meminfo, openers};
use hotset_view::SystemOptions;

use crate::args::{LsArgs, SortArg};
use crate::exit::Exit;
use crate::{interrupt, output};

/// Files that are listed unless `--top` says otherwise.
const DEFAULT_TOP: usize = 30;

/// Lists what occupies the cache of the machine.
pub(crate) fn ls_system(args: &LsArgs) -> Exit {
    let stop = interrupt::stop_flag();
    let written = look(args, stop).and_then(|cache| {
        output::print(&rendered(&cache, args))?;
        Ok(cache.interrupted)
    });
    match written {
        Ok(false) => Exit::Success,
        Ok(true) => interrupt::exit(),
        Err(error) => {
            output::say(format_args!("{error:#}"));
            Exit::Failure
        }
    }
}

fn look(args: &LsArgs, stop: &AtomicBool) -> Result<SystemCache> {
    let request = inodes::Request {
        top: args.rows.top.unwrap_or(DEFAULT_TOP),
        min_size_bytes: args.selection.min_size.unwrap_or(0),
    };
    let mut cache = if args.walk {
        by_walk(&request, "as --walk asks for".to_owned(), stop)?
    } else {
        by_inode_list(&request, stop).or_else(|error| by_walk(&request, error, stop))?
    };
    name_holders(&mut cache);
    sort_cached_files(&mut cache, order(args), args.rows.reverse);
    Ok(cache)
}

/// The reason comes back where it can't be done.
fn by_inode_list(request: &inodes::Request, stop: &AtomicBool) -> Result<SystemCache, String> {
    let before = meminfo::now().map_err(|error| error.to_string())?;
    let scan = inodes::scan(request, stop).map_err(|error| error.to_string())?;
    let after = meminfo::now().map_err(|error| error.to_string())?;
    Ok(SystemCache {
        source: CacheSource::InodeList,
        fallback: None,
        page_size: hotset_sys::page_size(),
        file_systems: scan.file_systems,
        files: scan.files,
        gap: scan.gap,
        unreadable: Vec::new(),
        unreadable_count: 0,
        unknown_files: 0,
        interrupted: scan.interrupted,
        before,
        after,
    })
}

fn by_walk(request: &inodes::Request, why: String, stop: &AtomicBool) -> Result<SystemCache> {
    let before = meminfo::now()?;
    let scan = hotset_sys::system::scan(request.top, request.min_size_bytes, stop)?;
    Ok(SystemCache {
        source: CacheSource::Walk,
        fallback: Some(why),
        page_size: hotset_sys::page_size(),
        file_systems: scan.file_systems,
        files: scan.files,
        gap: None,
        unreadable: scan.unreadable,
        unreadable_count: scan.unreadable_count,
        unknown_files: scan.unknown_files,
        interrupted: scan.interrupted,
        before,
        after: meminfo::now()?,
    })
}

/// Deleted files go only when those go that hold them.
fn name_holders(cache: &mut SystemCache) {
    let deleted: HashSet<_> =
        cache.files.iter().filter(|file| file.deleted).map(|file| file.id).collect();
    let mut holders = openers::of(&deleted);
    for file in cache.files.iter_mut().filter(|file| file.deleted) {
        file.holders = holders.remove(&file.id).unwrap_or_default();
    }
}

fn order(args: &LsArgs) -> CacheOrder {
    match args.rows.sort {
        Some(SortArg::Size) => CacheOrder::Size,
        Some(SortArg::Name) => CacheOrder::Path,
        Some(SortArg::Percent) => CacheOrder::Share,
        Some(SortArg::Dirty) => CacheOrder::Dirty,
        Some(SortArg::Evicted) => CacheOrder::Evicted,
        Some(SortArg::Cached) | None => CacheOrder::Cached,
    }
}

fn rendered(cache: &SystemCache, args: &LsArgs) -> Vec<u8> {
    let numbers = system_numbers(cache);
    if args.form.json {
        hotset_view::system_json(cache, &numbers)
    } else if args.form.csv {
        hotset_view::system_csv(cache, &numbers)
    } else {
        let (width, color) = output::stdout_style(args.form.color);
        let ascii = args.form.ascii || !output::locale_is_utf8();
        hotset_view::system_text(cache, &numbers, &SystemOptions { width, color, ascii })
            .into_bytes()
    }
}
