//! The scripts and the style that every page carries, and the policy that allows these and nothing else.

/// Marks and ticks.
pub(super) const MARKS: &str = include_str!("../../assets/marks.js");
/// The page's own script.
pub(super) const SCRIPT: &str = include_str!("../../assets/page.js");
/// What pictures are made of: grids, lanes and flames on a canvas.
pub(super) const DRAWINGS: &str = include_str!("../../assets/drawings.js");
/// What a picture of requests before and after a change is made of.
pub(super) const PATTERNS: &str = include_str!("../../assets/patterns.js");
/// Zoom, keyboard and legend of pictures.
pub(super) const PICTURES: &str = include_str!("../../assets/pictures.js");
/// The page's own style.
pub(super) const STYLE: &str = include_str!("../../assets/page.css");
/// The chart library.
pub(super) const UPLOT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
/// Its style.
pub(super) const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
/// Its licence, which goes with every copy.
pub(super) const UPLOT_LICENCE: &str = include_str!("../../assets/uplot/LICENSE");
/// Its version.
pub(super) const UPLOT_VERSION: &str = "1.6.32";

/// Nothing is fetched, and nothing runs but the texts above: each is named by its hash, so that markup that slipped
/// through an escape could not run either. A test compares the hashes and names the right ones.
pub(super) const POLICY: &str = concat!(
    "default-src 'none'; base-uri 'none'; form-action 'none'; script-src",
    " 'sha256-dMmcjq93xrsXVqwRrWpMlSOMAuFikhMYGcerg6mN1SQ='",
    " 'sha256-4FY2J5i5fF3D/GFLcFdsq3mTaOdLld0SS8ODeMGCmKU='",
    " 'sha256-GcjUxq2Ikpp59K5J1vcWFWbf0Lo9FcxJXpdPeH63jx8='",
    " 'sha256-pLHCZ3KmJC4tnmPvRiEhDmtm//EWgaecyq75MxGz5ws='",
    " 'sha256-OHwDgkUx7EJzDIrMkVGXW5jVupHlbGPA9umyZwhJMDg='",
    " 'sha256-ZqcOnss9B2euXuEJF4zp7dyIUNp5KHilJGAqdjCH0l4='",
    "; style-src",
    " 'sha256-v/ICCJZc5ceRTMQkMrC8PSP/fVNn7y4ktadpxaR4qGM='",
    " 'sha256-32MMao1vjur/JktQ9zzlsRT2Rv/ZoLt08EmwoAE1+gQ='",
);
