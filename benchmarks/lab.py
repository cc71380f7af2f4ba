"""``python -m benchmarks.lab [--write] [page …]``: how soon a dragged row is seen in the lab.

The lab's server, and Chromium in front of it, on this machine. On every page that has rows one row
is moved in a small circle. A move counts from the wish to the frame on the screen: the request, the
fit in Python, the answer, the drawing. While a finger moves the lab waits for one such answer after
the other, so this is the time between two frames. ``--write`` puts the table into LAB.md.
"""

import os
import platform
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from pellucid.lab.pages import PAGES, page_of
from pellucid.lab.serving import served

MOVES = 40
LIMIT = 50.0  # milliseconds, as the median
PAGE = Path(__file__).with_name("LAB.md")
BROWSER = Path(__file__).parents[1] / "tests" / "lab"  # its tests drive Chromium without a driver
CIRCLE = """(async () => {
  const times = [], i = rows().held_out ? Math.max(rows().held_out.indexOf(false), 0) : 0;
  const [x, y] = placeOf(rows(), i), all = rows().X.map((_, k) => placeOf(rows(), k));
  const span = (k) => Math.max(...all.map((p) => p[k])) - Math.min(...all.map((p) => p[k]));
  for (let k = 0; k < %d; k += 1) {
    const turn = (2 * Math.PI * k) / 20;
    edit(moved(rows(), i, x + 0.05 * span(0) * Math.cos(turn), y + 0.05 * span(1) * Math.sin(turn)),
      { remember: false, send: false });
    const begun = performance.now();
    await renew("coarse");
    times.push(performance.now() - begun);
  }
  return times;
})()"""


class Seen(NamedTuple):
    """Milliseconds from a move to its frame."""

    page: str
    title: str
    median: float
    p90: float


def measure(names: list[str]) -> list[Seen]:
    """The pages one after the other, each at the end of its first run."""
    sys.path.insert(0, str(BROWSER))
    from test_lab_browser import Browser

    found = []
    with served() as lab, tempfile.TemporaryDirectory() as folder:
        browser = Browser(folder)
        for name in names:
            browser.open(lab.address(name, place="step=end"))
            browser.wait("state.trace && !state.running")
            times = sorted(browser.run(CIRCLE % MOVES)[3:])  # the first ones meet cold caches
            p90 = times[int(0.9 * len(times))]
            found.append(Seen(name, PAGES[name], statistics.median(times), p90))
            print(f"{name:28} {found[-1].median:7.1f} {p90:7.1f}", flush=True)
        browser.close()
    return found


def report(found: list[Seen]) -> str:
    slow = [one.title for one in found if one.median > LIMIT]
    lines = [
        "# How soon a dragged row is seen in the lab",
        "",
        f"`python -m benchmarks.lab --write`, {os.cpu_count()} cores, {platform.machine()}, Python",
        f"{platform.python_version()}, Chromium without a window. Milliseconds from a move to its",
        f"frame on the screen, {MOVES} moves a page, in the order of the median.",
        "",
        f"Median over the {len(found)} pages {statistics.median(o.median for o in found):.0f} ms; "
        f"{len(found) - len(slow)} of them have a median of at most {LIMIT:.0f} ms"
        + (f", {', '.join(slow)} have not." if slow else "."),
        "",
        "| page | median | of ten moves nine within |",
        "|---|---|---|",
    ]
    ranked = sorted(found, key=lambda one: one.median)
    lines += [f"| {one.title} | {one.median:.0f} | {one.p90:.0f} |" for one in ranked]
    return "\n".join(lines) + "\n"


def main(words: list[str]) -> Any:
    with_rows = [name for name in PAGES if page_of(name).kind != "none"]
    names = [name for name in words if name in with_rows] or with_rows
    text = report(measure(names))
    if "--write" in words:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
