//! HTML pages in headless Chromium. One program, so that a slow page keeps none of the others waiting.

mod diff;
mod lab;
mod profile;
mod run;
mod size;
