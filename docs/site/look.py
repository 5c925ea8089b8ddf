#!/usr/bin/env python3
"""Look at every page of the site in a browser, from its files: no page is wider than a phone, no script fails, and the search finds.

usage: look.py SITE
"""

import concurrent.futures
import json
import pathlib
import sys
from collections.abc import Iterator

from browser import Browser

PHONE = 390
# What is cut off or makes the page scroll sideways: the innermost elements that stick out and are in no box that scrolls.
# The width of the document alone does not tell: mdBook's page hides what is wider.
WIDE = """(() => {
    const main = document.querySelector('main'), root = document.documentElement;
    const scrolls = e => e !== main && (['auto', 'scroll'].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
    const out = [...main.querySelectorAll('*')]
        .filter(e => e.getBoundingClientRect().right > PHONE + 1 && !scrolls(e.parentElement));
    if (!out.length && root.scrollWidth <= PHONE) return null;
    const named = out.slice(-3).map(e => `${e.tagName.toLowerCase()} "${e.textContent.trim().slice(0, 40)}"`);
    return `wider than PHONE pixels: ${named.join(', ')}`;
})()""".replace("PHONE", str(PHONE))
# The index is loaded when the search box is opened; results come as soon as words are typed.
SEARCH = """(async () => {
    const toggle = document.querySelector('#mdbook-search-toggle'), bar = document.querySelector('#mdbook-searchbar');
    if (!toggle) return [];
    toggle.click();
    const until = performance.now() + 10000;
    while (performance.now() < until) {
        bar.value = WORDS;
        bar.dispatchEvent(new Event('input', {bubbles: true}));
        bar.dispatchEvent(new KeyboardEvent('keyup', {key: 'Enter'}));
        await new Promise(done => setTimeout(done, 100));
        const found = [...document.querySelectorAll('#mdbook-searchresults a')].map(a => a.getAttribute('href'));
        if (found.length) return found;
    }
    return [];
})()"""
# Words, and a page that a search for them must offer.
SEARCHES = {"read-ahead hits": "method.html", "evict dirty": "control.html", "trace import strace": "trace-formats.html"}


def pages(site: pathlib.Path) -> list[pathlib.Path]:
    # Results of hotset and the list for browsers without scripts are no pages of the book.
    return sorted(page for page in site.rglob("*.html") if page.name != "toc.html" and (site / "files" / "docs") not in page.parents)


def look_at(pages: Iterator[pathlib.Path], site: pathlib.Path, browser: Browser) -> list[str]:
    """What is wrong with the pages that nobody else takes."""
    wrong = []
    browser.size(PHONE, 844)
    for page in pages:
        name = page.relative_to(site)
        wrong += [f"{name}: {error}" for error in browser.open(page.as_uri())]
        wide = browser.run(WIDE)
        if wide:
            wrong.append(f"{name}: {wide}")
    return wrong


def search(site: pathlib.Path, browser: Browser) -> list[str]:
    wrong = []
    browser.size(1280, 900)
    for words, expected in SEARCHES.items():
        browser.open((site / "index.html").as_uri())
        found = browser.run(SEARCH.replace("WORDS", json.dumps(words)))
        if not any(expected in link for link in found):
            wrong.append(f"a search for \"{words}\" does not offer {expected}, but {found[:5]}")
    return wrong


def main() -> None:
    site = pathlib.Path(sys.argv[1]).resolve()
    found = pages(site)
    if not found:
        sys.exit(f"docs: there is no page in {site}")
    # A list's iterator gives each page to one thread.
    left = iter(found)
    with Browser() as first, Browser() as second, concurrent.futures.ThreadPoolExecutor() as pool:
        jobs = [pool.submit(look_at, left, site, browser) for browser in (first, second)]
        wrong = [what for job in jobs for what in job.result()] + search(site, first)
    for what in wrong:
        print(f"docs: {what}", file=sys.stderr)
    print(f"docs: {len(found)} pages at {PHONE} pixels and {len(SEARCHES)} searches, {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
