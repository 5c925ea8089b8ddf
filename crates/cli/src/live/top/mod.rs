//! `hotset top`: a full screen where there is a terminal, else samples as text.

mod batch;
mod names;
mod record;
mod replay;
mod screen;
mod session;
mod terminal;

use anyhow::Result;
use hotset_analysis::top::{Column, Order};
use hotset_view::tui::Setup;
use hotset_watch::interval::CurveOptions;

use crate::args::{TargetArgs, TopArgs};
use crate::exit::{Exit, Stop};
use crate::output;

/// One in 16 pages is sampled, as by `export --curves`.
const CURVES_EXPONENT: u32 = 4;

/// Shows what is asked for.
pub(crate) fn top(args: &TopArgs) -> Result<Exit, Stop> {
    let text = args.batch.is_some() || !output::has_screen();
    Ok(match (&args.replay, text) {
        (Some(file), false) => replay::on_screen(args, file),
        (Some(file), true) => replay::as_text(args, file),
        (None, false) => session::on_screen(args),
        (None, true) => batch::live(args),
    }?)
}

/// What is asked for to sort by; else hits.
fn order(args: &TopArgs) -> Option<Order> {
    args.sort.map(Order::usual)
}

fn order_or_usual(args: &TopArgs) -> Order {
    order(args).unwrap_or(Order::usual(Column::Hits))
}

/// What is sampled of the pages of control groups.
fn curves(args: &TopArgs) -> Option<CurveOptions> {
    args.curves.then_some(CurveOptions { exponent: CURVES_EXPONENT, together: false })
}

/// How the screen starts.
fn setup(args: &TopArgs) -> Result<Setup> {
    Ok(Setup {
        look: output::screen_look(args.look),
        size: terminal::size()?,
        host: names::host(),
        interval_ns: hotset_facts::units::nanos(args.interval),
        kind: args.view,
        order: order(args),
        filter: args.filter.clone(),
        scope: scope(args),
        not_measured: Vec::new(),
        recording: args.record.as_ref().map(|path| path.display().to_string()),
    })
}

/// The scope in words, if it is not the whole host.
fn scope(args: &TopArgs) -> Option<String> {
    let TargetArgs { pid, name, cgroup, unit, container } = &args.target;
    let pid = pid.map(|pid| format!("process {pid}"));
    let name = name.as_ref().map(|name| format!("program {}", name.display()));
    let cgroup = cgroup.as_ref().map(|path| format!("cgroup {}", path.display()));
    let unit = unit.as_ref().map(|name| format!("unit {name}"));
    let container = container.as_ref().map(|name| format!("container {name}"));
    [pid, name, cgroup, unit, container].into_iter().flatten().next()
}
