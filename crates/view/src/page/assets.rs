//! The scripts and the style that every page carries, and the policy that allows these and nothing else.

/// Marks and ticks.
pub(super) const MARKS: &str = include_str!("../../assets/marks.js");
/// The page's own script.
pub(super) const SCRIPT: &str = include_str!("../../assets/page.js");
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
    " 'sha256-HaSiI+UyENssv8GZaOghxWGl1omGebj8KDmr1HnK2ks='",
    " 'sha256-6VKy2hiQSkCbYw3gT8vR8DPRDABBcQndw3ZYbr0i9e8='",
    " 'sha256-GcjUxq2Ikpp59K5J1vcWFWbf0Lo9FcxJXpdPeH63jx8='",
    "; style-src",
    " 'sha256-2YFo5kxr9cp3vvsPwjgXyj0CBquzdyV40HDVrMUs3Es='",
    " 'sha256-32MMao1vjur/JktQ9zzlsRT2Rv/ZoLt08EmwoAE1+gQ='",
);
