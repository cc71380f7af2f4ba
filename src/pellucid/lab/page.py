"""A page of the lab: what can be set, what can be drawn, what is asked, and how it is run."""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.lab.controls import Control, checked
from pellucid.lab.pages import PAGES, Entry
from pellucid.lab.trace import Trace

KINDS = ("classes", "values", "points", "none")
MOST_ROWS = 400  # of a page's data: more are cut with a fixed seed
HELD_OUT = 0.3  # share of rows that the fit does not see, where a page holds some out


class Preset(NamedTuple):
    """Settings and data with a name; a ``broken`` one makes the method fail, ``words`` say how."""

    name: str
    words: str
    params: dict[str, Any]
    data: Callable[[Any], "LabData"] | None  # random generator -> rows
    broken: bool = False

    @property
    def id(self) -> str:
        """The name as a link writes it.

        >>> Preset("Break it: γ = 1", "", {}, None).id
        'break-it-γ-1'
        """
        return re.sub(r"\W+", "-", self.name.lower()).strip("-")


class Question(NamedTuple):
    """Asked before the run is watched; ``why`` is shown with the answer."""

    text: str
    options: tuple[str, ...]
    answer: int
    why: str


def given(data: Callable[[Any], Any] | None = None, **params: Any) -> tuple[dict[str, Any], Any]:
    """The settings and the data of a preset."""
    return params, data


def read_presets(text: str, *made: tuple[dict[str, Any], Any]) -> tuple[Preset, ...]:
    """Presets from lines "name | words" (after "! ": the method fails), further lines indented.

    >>> read_presets("One | a line\\n    and more\\n! Two | fails", given(), given(k=1))[1]
    Preset(name='Two', words='fails', params={'k': 1}, data=None, broken=True)
    """
    found = []
    for block, (params, data) in zip(re.split(r"\n(?! )", text.strip()), made, strict=True):
        name, words = " ".join(block.split()).removeprefix("! ").split(" | ", 1)
        found.append(Preset(name, words, params, data, block.startswith("! ")))
    return tuple(found)


def read_questions(text: str) -> tuple[Question, ...]:
    """Questions from lines "? question", "(_) wrong (x) right", "= why"; lines may be folded.

    >>> read_questions("? 1 + 1\\n(_) 1 (x) 2\\n= Count.")
    (Question(text='1 + 1', options=('1', '2'), answer=1, why='Count.'),)
    """
    found = []
    for block in re.split(r"^\? ", text, flags=re.MULTILINE)[1:]:
        asked, why = re.split(r"^= ", block, flags=re.MULTILINE)
        asked, *options = re.split(r"\s*\(([_x])\) ", " ".join(asked.split()))
        words = " ".join(why.split())
        found.append(Question(asked, tuple(options[1::2]), options[::2].index("x"), words))
    return tuple(found)


class LabData(NamedTuple):
    """Rows of a page. ``y`` codes of classes or numbers; ``held_out`` rows the fit does not see."""

    X: Any
    y: Any = None
    held_out: Any = None
    names: tuple[str, ...] = ("x1", "x2")

    @property
    def train(self) -> tuple[Any, Any]:
        keep = np.ones(len(self.X), bool) if self.held_out is None else ~self.held_out
        return self.X[keep], None if self.y is None else self.y[keep]

    @property
    def test(self) -> tuple[Any, Any]:
        keep = np.zeros(len(self.X), bool) if self.held_out is None else self.held_out
        return self.X[keep], None if self.y is None else self.y[keep]


Run = Callable[[LabData | None, dict[str, Any], int], Trace]


class Page(NamedTuple):
    """A page of the lab, or the folder of several (``of_method`` makes the page of one of them).

    ``kind`` says what its data are: "classes" (two columns and a class), "values" (one column and
    a number), "points" (two columns), "none" (the page has its own). The first preset is where the
    page opens. ``run(data, params, seed)`` makes the trace; ``data`` is None where kind is "none".
    ``story`` and what follows come from the method's file, see ``stories``.
    """

    name: str
    title: str
    summary: str
    kind: str
    controls: tuple[Control, ...]
    presets: tuple[Preset, ...]
    run: Run
    chapter: str = ""
    story: tuple[Any, ...] = ()
    source: dict[str, Any] | None = None
    symbols: dict[str, str | list[str]] = {}  # noqa: RUF012
    handles: list[dict[str, Any]] = []  # noqa: RUF012
    related: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        said = ("name", "title", "summary", "kind", "chapter", "source", "symbols", "handles")
        shown = ("id", "name", "words", "params", "broken")
        return {
            **{key: getattr(self, key) for key in said},
            "controls": [control._asdict() for control in self.controls],
            "presets": [{key: getattr(preset, key) for key in shown} for preset in self.presets],
            "story": [self.scene(one) for one in self.story],
            "related": [{"name": name, "title": PAGES[name]} for name in self.related],
        }

    def scene(self, one: Any) -> dict[str, Any]:
        """A scene as the browser reads it: its preset by place."""
        names = [preset.name for preset in self.presets]
        told = {key: getattr(one, key) for key in ("kind", "at", "to", "say")}
        return {**told, "preset": names.index(one.preset), "question": one.question._asdict()}

    def of_method(self, name: str, entry: Entry) -> "Page":
        """The page of one method: its presets, and a control "method" that knows no other."""
        method = next(control for control in self.controls if control.name == "method")
        chosen = [
            p for p in self.presets if p.params.get("method", method.default) in entry.methods
        ]
        mine = tuple(sorted(chosen, key=lambda preset: preset.broken))  # what works comes first
        first = mine[0].params.get("method", method.default)
        only = method._replace(options=entry.methods, default=first)
        controls = tuple(only if control is method else control for control in self.controls)
        return self._replace(
            name=name, title=entry.title, controls=controls, presets=mine, chapter=entry.chapter
        )

    def settings(self, given: dict[str, Any] | None = None) -> dict[str, Any]:
        """Every control's value: those given, checked and put in range, else the defaults."""
        given = dict(given or {})
        unknown = sorted(set(given) - {control.name for control in self.controls})
        if unknown:
            raise ValueError(f"the page {self.name} has no setting {unknown[0]!r}")
        return {c.name: checked(c, given.get(c.name, c.default)) for c in self.controls}


def make_page(
    name: str,
    kind: str,
    run: Run,
    summary: str,
    controls: tuple[Control, ...],
    presets: tuple[Preset, ...],
) -> Page:
    """The page of a folder."""
    return Page(name, name, " ".join(summary.split()), kind, controls, presets, run)


def hold_out(n: int, seed: int, share: float = HELD_OUT) -> Any:
    """A fixed random share of the rows, as a mask."""
    order = np.random.default_rng([seed, 7]).permutation(n)
    mask = np.zeros(n, bool)
    mask[order[: int(share * n)]] = True
    return mask


def rows_of(page: Page, given: dict[str, Any], seed: int) -> LabData:
    """The rows that a reader drew, dragged or loaded: {"X": rows, "y": ..., "names": ...}.

    ``held_out``, one boolean per row, keeps rows out of the fit; without it, on a page that holds
    some out, they are dealt by the seed.
    """
    X = np.asarray(given.get("X", []), float)
    width = 1 if page.kind == "values" else 2
    if page.kind == "none":
        raise ValueError(f"the page {page.name} has its own data")
    if X.ndim != 2 or X.shape[1] != width or not 2 <= len(X) <= MOST_ROWS:
        raise ValueError(
            f"the page {page.name} needs 2 to {MOST_ROWS} rows of {width} numbers, got {X.shape}"
        )
    y = None if page.kind == "points" else np.asarray(given.get("y", []), float)
    if y is not None and y.shape != (len(X),):
        raise ValueError(f"y must have one number per row ({len(X)}), got shape {y.shape}")
    if not np.isfinite(X).all() or (y is not None and not np.isfinite(y).all()):
        raise ValueError("every value must be a finite number")
    if y is not None and page.kind == "classes":
        y = np.unique(y, return_inverse=True)[1]
        if not 2 <= y.max() + 1 <= 8:
            raise ValueError(f"there must be 2 to 8 classes, got {y.max() + 1}")
    names = tuple(str(name)[:40] for name in given.get("names", ()))
    if len(names) != width:
        names = ("x1", "x2")[:width]
    return LabData(X, y, held_out_of(page, given.get("held_out"), len(X), seed), names)


def held_out_of(page: Page, given: Any, n: int, seed: int) -> Any:
    """The mask of the rows held out, None where there are none."""
    if given is None:
        made = page.presets[0].data
        split = made is not None and made(np.random.default_rng(seed)).held_out is not None
        return hold_out(n, seed) if split else None
    mask = np.asarray(given)
    if mask.shape != (n,) or mask.dtype != bool:
        raise ValueError(f"held_out must have one true or false per row ({n})")
    if n - mask.sum() < 2:
        raise ValueError(f"at least 2 rows must not be held out, got {n - mask.sum()}")
    return mask if mask.any() else None


def make_trace(page: Page, preset: int = 0, seed: int = 0) -> Trace:
    """The trace of one of a page's presets."""
    chosen = page.presets[preset]
    params = page.settings(chosen.params)
    data = None if chosen.data is None else chosen.data(np.random.default_rng(seed))
    return page.run(data, params, seed)
