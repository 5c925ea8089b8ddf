//! Call sites as one tree: the outermost call is its root, and calls that were made by the same chain are one node.

use std::collections::HashMap;

use hotset_facts::trace::{Frame, Site, SiteState};

use super::counts::TraceCounts;

/// Nodes while it is built: what finds no place is counted for its caller alone.
const MAX_NODES: usize = 1 << 15;
/// Nodes that are kept: as many boxes as a picture of a thousand columns can show in a few dozen rows.
const KEPT: usize = 2_000;
/// Frames of a site, from the outermost on.
const MAX_FRAMES: usize = 256;
/// A box below this share of all is narrower than a column of the picture.
const VISIBLE: f64 = 0.001;

/// What the width of a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlameWeight {
    /// Time in which the thread waited, or, where a source doesn't tell that, time of the requests; in nanoseconds.
    Time,
    /// Pages that came from the device.
    DevicePages,
}

/// A chain of calls, from the outermost to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlameNode {
    /// The function, else where in its module it is.
    pub name: String,
    /// The module that it is in; empty where it is not known.
    pub module: String,
    /// Its caller, which stands before it; `None` for an outermost call.
    pub caller: Option<usize>,
    /// Callers above it.
    pub depth: usize,
    /// Records of it and of what it called.
    pub records: u64,
    /// Their [`FlameWeight::Time`].
    pub time_ns: u64,
    /// Their [`FlameWeight::DevicePages`].
    pub device_pages: u64,
}

impl FlameNode {
    /// How much of a weight it has.
    pub fn weight(&self, weight: FlameWeight) -> u64 {
        match weight {
            FlameWeight::Time => self.time_ns,
            FlameWeight::DevicePages => self.device_pages,
        }
    }
}

/// All call sites of a trace, merged from the outermost call on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Flame {
    /// The nodes: a caller before what it called, and those of a caller in the order of their time.
    pub nodes: Vec<FlameNode>,
    /// Time of all sites.
    pub time_ns: u64,
    /// Pages from the device of all sites.
    pub device_pages: u64,
    /// Nodes that were left out because they are too small to be seen.
    pub left_out: usize,
}

/// Builds one.
#[derive(Debug, Default)]
pub(super) struct FlameBuilder {
    nodes: Vec<FlameNode>,
    at: HashMap<(Option<usize>, String, String), usize>,
    lost: usize,
}

/// What it is called, and in what module.
fn named(frame: &Frame) -> (String, String) {
    let module = frame.module.clone().unwrap_or_default();
    let name = frame.function.clone().unwrap_or_else(|| {
        let file = module.rsplit('/').next().unwrap_or_default();
        format!("{file}+0x{:x}", frame.offset)
    });
    (name, module)
}

impl FlameBuilder {
    /// Adds a site with what was counted for it.
    pub(super) fn add(&mut self, site: &Site, counts: &TraceCounts) {
        let time_ns = counts.waited_ns.or(counts.time_ns).unwrap_or(0);
        let device_pages = counts.from_device_pages().unwrap_or(0);
        let above = match site.state {
            SiteState::Whole => None,
            SiteState::Cut => Some("[callers cut off]"),
            SiteState::Lost => Some("[callers unknown]"),
        };
        let above = above.map(|name| (name.to_owned(), String::new()));
        let frames = site.frames.iter().rev().map(|frame| named(frame)).take(MAX_FRAMES);
        let mut caller = None;
        for (name, module) in above.into_iter().chain(frames) {
            let Some(node) = self.node(caller, name, module) else { break };
            let here = &mut self.nodes[node];
            here.records = here.records.saturating_add(counts.records);
            here.time_ns = here.time_ns.saturating_add(time_ns);
            here.device_pages = here.device_pages.saturating_add(device_pages);
            caller = Some(node);
        }
    }

    fn node(&mut self, caller: Option<usize>, name: String, module: String) -> Option<usize> {
        let key = (caller, name, module);
        if let Some(&known) = self.at.get(&key) {
            return Some(known);
        }
        if self.nodes.len() >= MAX_NODES {
            self.lost += 1;
            return None;
        }
        let depth = caller.map_or(0, |caller| self.nodes[caller].depth + 1);
        self.nodes.push(FlameNode {
            name: key.1.clone(),
            module: key.2.clone(),
            caller,
            depth,
            records: 0,
            time_ns: 0,
            device_pages: 0,
        });
        self.at.insert(key, self.nodes.len() - 1);
        Some(self.nodes.len() - 1)
    }

    /// The tree, without what is too small to be seen.
    pub(super) fn finish(self) -> Flame {
        let roots = || self.nodes.iter().filter(|node| node.caller.is_none());
        let sum = |of: fn(&FlameNode) -> u64| roots().map(of).fold(0, u64::saturating_add);
        let (time_ns, device_pages) = (sum(|node| node.time_ns), sum(|node| node.device_pages));
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        let size = |node: &FlameNode| {
            share(node.time_ns, time_ns).max(share(node.device_pages, device_pages))
        };
        let mut by_size: Vec<usize> = (0..self.nodes.len()).collect();
        // A caller is never smaller than what it called, and stands before it: whoever is kept has its caller.
        by_size.sort_by(|&a, &b| {
            size(&self.nodes[b]).total_cmp(&size(&self.nodes[a])).then(a.cmp(&b))
        });
        by_size.truncate(KEPT);
        let keep: Vec<usize> =
            by_size.into_iter().filter(|&node| size(&self.nodes[node]) >= VISIBLE).collect();
        let left_out = self.nodes.len() - keep.len() + self.lost;
        Flame { nodes: in_order(&self.nodes, keep), time_ns, device_pages, left_out }
    }
}

/// The kept nodes, each before what it called.
fn in_order(all: &[FlameNode], mut keep: Vec<usize>) -> Vec<FlameNode> {
    keep.sort_by_key(|&node| (std::cmp::Reverse(all[node].time_ns), node));
    let mut called: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for node in keep {
        called.entry(all[node].caller).or_default().push(node);
    }
    let mut out: Vec<FlameNode> = Vec::new();
    let mut next: Vec<(usize, Option<usize>)> = Vec::new();
    let push = |next: &mut Vec<_>, of: Option<usize>, caller: Option<usize>| {
        let inner = called.get(&of).into_iter().flatten().rev();
        next.extend(inner.map(|&node| (node, caller)));
    };
    push(&mut next, None, None);
    while let Some((node, caller)) = next.pop() {
        out.push(FlameNode { caller, ..all[node].clone() });
        push(&mut next, Some(node), Some(out.len() - 1));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn site(functions: &[&str], state: SiteState) -> Site {
        let frame = |name: &&str| Frame {
            function: Some((*name).to_owned()),
            module: Some("/bin/x".to_owned()),
            offset: 1,
            source: None,
            line: None,
        };
        Site { frames: functions.iter().rev().map(frame).map(Arc::new).collect(), state }
    }

    fn counts(waited_ns: u64) -> TraceCounts {
        TraceCounts { records: 1, waited_ns: Some(waited_ns), ..TraceCounts::default() }
    }

    fn names(flame: &Flame) -> Vec<(&str, usize, u64)> {
        flame.nodes.iter().map(|node| (node.name.as_str(), node.depth, node.time_ns)).collect()
    }

    #[test]
    fn the_same_callers_are_one_node() {
        let mut flame = FlameBuilder::default();
        flame.add(&site(&["main", "load", "read"], SiteState::Whole), &counts(10));
        flame.add(&site(&["main", "query", "read"], SiteState::Whole), &counts(60));
        flame.add(&site(&["read"], SiteState::Cut), &counts(30));
        let flame = flame.finish();
        let wanted = [
            ("main", 0, 70),
            ("query", 1, 60),
            ("read", 2, 60),
            ("load", 1, 10),
            ("read", 2, 10),
            ("[callers cut off]", 0, 30),
            ("read", 1, 30),
        ];
        assert_eq!((names(&flame), flame.time_ns, flame.left_out), (wanted.to_vec(), 100, 0));
        assert_eq!(flame.nodes[4].caller, Some(3));
    }

    #[test]
    fn what_is_too_small_to_be_seen_is_left_out_with_its_callers_kept() {
        let mut flame = FlameBuilder::default();
        flame.add(&site(&["main", "a"], SiteState::Whole), &counts(1_000_000));
        for number in 0..10 {
            flame.add(&site(&["main", &format!("f{number}")], SiteState::Whole), &counts(1));
        }
        let flame = flame.finish();
        assert_eq!(names(&flame), [("main", 0, 1_000_010), ("a", 1, 1_000_000)]);
        assert_eq!(flame.left_out, 10);
    }

    #[test]
    fn a_function_without_a_name_is_its_place() {
        let frame = Frame {
            function: None,
            module: Some("/usr/lib/libz.so.1".to_owned()),
            offset: 0x1f0,
            source: None,
            line: None,
        };
        assert_eq!(named(&frame).0, "libz.so.1+0x1f0");
    }
}
