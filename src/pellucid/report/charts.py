"""Small inline pictures: plain SVG that takes its colours from the page's own style.

Every chart is a function of numbers that returns safe markup. A ``Frame`` maps data to pixels and
collects shapes; classes (``ink``, ``accent``, ``quiet``, ``warn``) are coloured by the style
sheet, so one drawing serves light, dark and paper. Text from the user is always escaped.
"""

import math
from collections.abc import Iterable, Sequence
from html import escape

from markupsafe import Markup

from pellucid.report.words import number

Numbers = Sequence[float | None]


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values that cover ``[low, high]`` in steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> ticks(3.0, 3.0)
    [3.0]
    """
    if not high > low:
        return [low]
    raw = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(s for s in (power, 2 * power, 5 * power, 10 * power) if s >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    digits = max(0, -math.floor(math.log10(step)))
    return [round((first + i) * step, digits) for i in range(count)]


def limits(values: Iterable[float | None], pad: float = 0.05) -> tuple[float, float]:
    """Least and greatest finite value with a margin; a single value gets one of its own size.

    >>> limits([0.0, None, 10.0], pad=0.1)
    (-1.0, 11.0)
    """
    finite = [v for v in values if v is not None and math.isfinite(v)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    room = pad * (high - low) or pad * abs(low) or pad
    return low - room, high + room


def circle(x: float, y: float, r: float, kind: str) -> str:
    return f'<circle class="dot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r:g}"/>'


def rect(x: float, y: float, width: float, height: float, kind: str, rx: float = 0) -> str:
    size = f'width="{width:.1f}" height="{height:.1f}"'
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" {size} rx="{rx:g}"/>'


class Frame:
    """A rectangle with axes: ``x`` and ``y`` map data to pixels, shapes are added in order."""

    def __init__(
        self,
        xlim: tuple[float, float],
        ylim: tuple[float, float],
        *,
        width: int = 440,
        height: int = 280,
        left: int = 52,
        bottom: int = 42,
        top: int = 12,
        right: int = 14,
        log_x: bool = False,
    ) -> None:
        self.width, self.height = width, height
        widest = max((len(number(value)) for value in ticks(*ylim)), default=0)
        left = max(left, 24 + math.ceil(7.7 * widest))  # the title stands beside the ticks
        self.left, self.right, self.top, self.bottom = left, width - right, top, height - bottom
        self.log_x = log_x
        self.xlim = (math.log10(xlim[0]), math.log10(xlim[1])) if log_x else xlim
        self.ylim = ylim
        self.shapes: list[str] = []

    def x(self, value: float) -> float:
        value = math.log10(value) if self.log_x else value
        share = (value - self.xlim[0]) / ((self.xlim[1] - self.xlim[0]) or 1.0)
        return self.left + share * (self.right - self.left)

    def y(self, value: float) -> float:
        share = (value - self.ylim[0]) / ((self.ylim[1] - self.ylim[0]) or 1.0)
        return self.bottom - share * (self.bottom - self.top)

    def axes(self, x_label: str = "", y_label: str = "", *, x_ticks: bool = True) -> "Frame":
        """Thin grid, tick labels and titles."""
        for value in ticks(*self.ylim):
            y = self.y(value)
            self.shapes.append(f'<path class="grid" d="M{self.left} {y:.1f}H{self.right}"/>')
            self.text(self.left - 7, y + 4, number(value), "end")
        if x_ticks:
            for value in self._x_ticks():
                self.text(self.x(value), self.bottom + 17, number(value), "middle")
        self.shapes.append(f'<path class="axis" d="M{self.left} {self.bottom}H{self.right}"/>')
        if x_label:
            middle = (self.left + self.right) / 2
            self.text(middle, self.height - 5, x_label, "middle", "title")
        if y_label:
            y = (self.top + self.bottom) / 2
            self.shapes.append(
                f'<text class="title" text-anchor="middle" transform="translate(12 {y:.0f}) '
                f'rotate(-90)">{escape(y_label)}</text>'
            )
        return self

    def _x_ticks(self) -> list[float]:
        if not self.log_x:
            return ticks(*self.xlim, about=max(2, (self.right - self.left) // 55))
        low, high = math.ceil(self.xlim[0] - 1e-9), math.floor(self.xlim[1] + 1e-9)
        step = max(1, math.ceil((high - low + 1) / 6))
        return [10.0**k for k in range(low, high + 1, step)]

    def text(self, x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> None:
        name = f' class="{kind}"' if kind else ""
        self.shapes.append(
            f'<text{name} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def line(self, xs: Numbers, ys: Numbers, kind: str = "accent", dashed: bool = False) -> None:
        points = [
            f"{self.x(a):.1f} {self.y(b):.1f}"
            for a, b in zip(xs, ys, strict=True)
            if a is not None and b is not None
        ]
        if points:
            extra = " dashed" if dashed else ""
            self.shapes.append(f'<path class="line {kind}{extra}" d="M{"L".join(points)}"/>')

    def band(self, xs: Numbers, low: Numbers, high: Numbers, kind: str = "accent") -> None:
        rows = [
            (a, b, c)
            for a, b, c in zip(xs, low, high, strict=True)
            if a is not None and b is not None and c is not None
        ]
        if rows:
            there = "L".join(f"{self.x(a):.1f} {self.y(c):.1f}" for a, _, c in rows)
            back = "L".join(f"{self.x(a):.1f} {self.y(b):.1f}" for a, b, _ in reversed(rows))
            self.shapes.append(f'<path class="band {kind}" d="M{there}L{back}Z"/>')

    def dots(self, xs: Numbers, ys: Numbers, kind: str = "accent", r: float = 3.0) -> None:
        for a, b in zip(xs, ys, strict=True):
            if a is not None and b is not None:
                self.shapes.append(circle(self.x(a), self.y(b), r, kind))

    def level(self, y: float, kind: str = "quiet", words: str = "") -> None:
        """A horizontal line across the frame, named at its right end."""
        at = self.y(y)
        self.shapes.append(
            f'<path class="line {kind} dashed" d="M{self.left} {at:.1f}H{self.right}"/>'
        )
        if words:
            self.text(self.right, at - 5, words, "end")

    def mark(self, x: float, kind: str = "quiet", words: str = "") -> None:
        """A vertical line, named at the top."""
        at = self.x(x)
        self.shapes.append(
            f'<path class="line {kind} dashed" d="M{at:.1f} {self.top}V{self.bottom}"/>'
        )
        if words:
            late = at > (self.left + self.right) / 2
            self.text(at + (-5 if late else 5), self.top + 10, words, "end" if late else "start")

    def svg(self, alt: str) -> Markup:
        return wrap("".join(self.shapes), self.width, self.height, alt)


def wrap(shapes: str, width: float, height: float, alt: str, kind: str = "chart") -> Markup:
    """The finished picture, with its description for those who cannot see it."""
    return Markup(
        f'<svg class="{kind}" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(alt, quote=True)}">{shapes}</svg>'
    )


def strip(
    estimate: float,
    low: float | None,
    high: float | None,
    *,
    span: tuple[float, float],
    train: float | None = None,
    guess: float | None = None,
    chosen: bool = False,
    alt: str = "",
) -> Markup:
    """One row of the leaderboard: dot, interval, a tick for the training score, guessing."""
    width, y = 250, 12

    def x(value: float) -> float:
        share = (value - span[0]) / ((span[1] - span[0]) or 1.0)
        return 6 + min(max(share, 0.0), 1.0) * (width - 12)

    kind = "accent" if chosen else "ink"
    shapes = [f'<path class="grid" d="M6 {y}H{width - 6}"/>']
    if guess is not None and span[0] <= guess <= span[1]:
        shapes.append(f'<path class="line quiet dashed" d="M{x(guess):.1f} 0V24"/>')
    if low is not None and high is not None:
        shapes.append(f'<path class="whisker {kind}" d="M{x(low):.1f} {y}H{x(high):.1f}"/>')
    if train is not None and span[0] <= train <= span[1]:
        shapes.append(f'<path class="tick {kind}" d="M{x(train):.1f} 4V20"/>')
    shapes.append(circle(x(estimate), y, 5, kind))
    return wrap("".join(shapes), width, 24, alt, "strip")


def parts(shares: Sequence[tuple[str, float, str]], alt: str) -> Markup:
    """A bar cut into named parts (text, size, class)."""
    width, at, shapes = 880, 0.0, []
    whole = sum(size for _, size, _ in shares) or 1.0
    for words, size, kind in shares:
        w = size / whole * width
        shapes.append(rect(at, 0, max(w - 2, 0.5), 34, f"part {kind}", 4))
        if w > 7 * len(words):
            shapes.append(
                f'<text class="on {kind}" x="{at + w / 2 - 1:.1f}" y="22" text-anchor="middle">'
                f"{escape(words)}</text>"
            )
        at += w
    return wrap("".join(shapes), width, 34, alt, "wide")


def whiskers(
    names: Sequence[str],
    estimates: Numbers,
    lows: Numbers,
    highs: Numbers,
    *,
    label: str,
    alt: str,
    bars: bool = False,
    zero: bool = True,
) -> Markup:
    """Named estimates with intervals, one under the other, with a line at zero unless unwanted."""
    row, left = 24, min(260, 30 + 7 * max((len(short(n)) for n in names), default=4))
    xlim = limits([*([0.0] if zero else []), *estimates, *lows, *highs])
    height = row * len(names) + 50
    f = Frame(xlim, (0, 1), width=680, height=height, left=left, bottom=44, top=4)
    for at in f._x_ticks():
        x = f.x(at)
        f.shapes.append(f'<path class="grid" d="M{x:.1f} {f.top}V{f.bottom}"/>')
        f.text(x, f.bottom + 17, number(at), "middle")
    if zero:
        f.shapes.append(f'<path class="axis" d="M{f.x(0.0):.1f} {f.top}V{f.bottom}"/>')
    f.text((f.left + f.right) / 2, height - 5, label, "middle", "title")
    for i, name in enumerate(names):
        y, value = f.top + row * (i + 0.5), estimates[i]
        f.text(left - 8, y + 4, short(name), "end", "name")
        if value is None:
            continue
        if bars:
            a, b = sorted((f.x(0.0), f.x(value)))
            f.shapes.append(rect(a, y - 7, b - a, 14, "bar accent", 2))
        low, high = lows[i], highs[i]
        if low is not None and high is not None:
            kind = "ink" if bars else "accent"
            f.shapes.append(
                f'<path class="whisker {kind}" d="M{f.x(low):.1f} {y:.1f}H{f.x(high):.1f}"/>'
            )
        if not bars:
            f.shapes.append(circle(f.x(value), y, 4, "accent"))
    return Markup('<div class="names" tabindex="0">') + f.svg(alt) + Markup("</div>")


def apart(wished: Sequence[float], least: float) -> list[float]:
    """Heights of labels, moved down where one would be nearer than ``least`` to that above it.

    >>> apart([20.0, 12.0, 10.0], 13)
    [36.0, 23.0, 10.0]
    """
    places, above = list(wished), -math.inf
    for i in sorted(range(len(wished)), key=lambda i: wished[i]):
        places[i] = above = max(wished[i], above + least)
    return places


def histogram(counts: Sequence[float], alt: str) -> Markup:
    """The shape of a column, as small as a word."""
    width, height, top = 96, 22, max(counts, default=0) or 1
    w = width / max(len(counts), 1)
    shapes = "".join(
        rect(i * w + 0.5, height - c / top * height, max(w - 1, 0.7), c / top * height, "bar quiet")
        for i, c in enumerate(counts)
    )
    return wrap(shapes, width, height, alt, "spark")


def short(name: str, most: int = 30) -> str:
    """A name that fits beside a picture; its middle gives way.

    >>> short("a_very_long_column_name_that_goes_on")
    'a_very_long_col…me_that_goes_on'
    """
    if len(name) <= most + 2:
        return name
    half = most // 2
    return f"{name[:half]}…{name[-half:]}"
