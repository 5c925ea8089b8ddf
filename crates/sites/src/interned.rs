//! Frames and sites, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

use hotset_facts::trace::{Frame, Site, SiteIndex, SiteState};

/// Sites at most: a trace's metadata carries each. Of what comes later, the site is not known.
const MAX_SITES: usize = 1 << 18;

/// A frame, by its place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FrameIndex(u32);

/// All frames and sites so far, and which sites were not asked for yet.
#[derive(Default)]
pub(crate) struct Interned {
    frames: Vec<Arc<Frame>>,
    by_frame: HashMap<Arc<Frame>, FrameIndex>,
    sites: HashMap<(Box<[FrameIndex]>, SiteState), SiteIndex>,
    added: Vec<Site>,
}

impl Interned {
    /// The index of a frame.
    pub(crate) fn frame(&mut self, frame: Frame) -> FrameIndex {
        if let Some(known) = self.by_frame.get(&frame) {
            return *known;
        }
        // Each site adds at most a chain of them, so that 32 bits hold them all.
        let index = FrameIndex(u32::try_from(self.frames.len()).unwrap_or(u32::MAX));
        let frame = Arc::new(frame);
        self.frames.push(Arc::clone(&frame));
        self.by_frame.insert(frame, index);
        index
    }

    /// The index of a site; nothing where there are too many.
    pub(crate) fn site(&mut self, frames: Vec<FrameIndex>, state: SiteState) -> Option<SiteIndex> {
        let key = (frames.into_boxed_slice(), state);
        if let Some(known) = self.sites.get(&key) {
            return Some(*known);
        }
        if self.sites.len() >= MAX_SITES {
            return None;
        }
        let index = SiteIndex(self.sites.len().try_into().ok()?);
        let frames = key.0.iter().filter_map(|frame| self.frames.get(frame.0 as usize));
        let frames = frames.map(Arc::clone).collect();
        self.added.push(Site { frames, state });
        self.sites.insert(key, index);
        Some(index)
    }

    /// Whether there is room for another site.
    pub(crate) fn is_full(&self) -> bool {
        self.sites.len() >= MAX_SITES
    }

    /// The sites that are new since this was asked last, in the order of their indexes.
    pub(crate) fn added(&mut self) -> Vec<Site> {
        std::mem::take(&mut self.added)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str) -> Frame {
        let function = Some(function.to_owned());
        Frame { function, module: None, offset: 1, source: None, line: None }
    }

    #[test]
    fn equal_chains_are_one_site_and_told_once() {
        let mut interned = Interned::default();
        let (a, b) = (interned.frame(frame("a")), interned.frame(frame("b")));
        assert_eq!(interned.frame(frame("a")), a);
        let first = interned.site(vec![a, b], SiteState::Whole);
        assert_eq!(first, Some(SiteIndex(0)));
        assert_eq!(interned.site(vec![a, b], SiteState::Cut), Some(SiteIndex(1)));
        assert_eq!(interned.site(vec![a, b], SiteState::Whole), first);
        let added = interned.added();
        assert_eq!(
            added[0],
            Site {
                frames: vec![Arc::new(frame("a")), Arc::new(frame("b"))],
                state: SiteState::Whole
            }
        );
        assert_eq!((added.len(), interned.added().len()), (2, 0));
    }
}
