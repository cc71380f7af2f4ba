"""What every page of the lab promises: steps with formulas, presets that break it, a question."""

import json
import math
import re

import numpy as np
import pytest
from frame_audit import audit, audit_arithmetic, audit_counts, audit_graph, audit_line

from pellucid.lab.answering import answer_run
from pellucid.lab.gallery import card_of
from pellucid.lab.page import KINDS, make_trace, rows_of
from pellucid.lab.pages import ENTRIES, PAGES, named, page_of
from pellucid.lab.trace import SCHEMA

NAMES = list(PAGES)
PRESETS = [(name, i) for name in NAMES for i in range(len(page_of(name).presets))]
METHODS = [  # those that no preset shows
    (name, option)
    for name in NAMES
    for option in ENTRIES[name].methods
    if option not in {page_of(name).settings(p.params)["method"] for p in page_of(name).presets}
]


def check(trace):
    """The rules of a trace: plain data, formulas with numbers, nothing that is not finite."""
    text = trace.to_json()
    assert len(text) < 1_500_000
    back = json.loads(text)
    assert back["schema"] == SCHEMA == "pellucid-trace/1"
    assert 2 <= len(back["frames"]) <= 200
    assert [frame["step"] for frame in back["frames"]] == sorted(
        frame["step"] for frame in back["frames"]
    )
    panels = list(back["data"].get("panels", []))
    for frame in back["frames"]:
        assert frame["formula"].strip()
        assert any(sign.isdigit() for sign in frame["formula"])
        assert frame["numbers"]
        assert all(v is not None for v in frame["numbers"].values()), frame["numbers"]
        panels += frame["state"].get("panels", [])
        audit(frame, back["objective"])
    assert panels
    assert all(panel["kind"] in ("plane", "table", "graph") for panel in panels)
    assert {panel["name"] for panel in panels if panel.get("alt")} == {p["name"] for p in panels}
    audit_held_out(back)
    assert back["verdict"]
    assert back["title"]
    assert back["code"]
    assert {"representation", "evaluation", "optimisation"} <= set(back["card"])
    finite = [v for f in trace.frames for v in (f.objective, f.held_out) if v is not None]
    assert all(math.isfinite(v) for v in finite)


def audit_held_out(trace):
    """Rows held out are open circles on every page, and a label says so in the same words."""
    base = [m for p in trace["data"].get("panels", []) for m in p.get("marks", [])]
    now = [
        m for f in trace["frames"] for p in f["state"].get("panels", []) for m in p.get("marks", [])
    ]
    for mark in base:
        if mark.get("data") and isinstance(mark.get("faint"), list):
            assert mark["faint"] == trace["data"]["held_out"]
    labels = {m["label"] for m in base + now if isinstance(m.get("label"), str)}
    said = [label for label in labels if re.search(r"held out|pale", label)]
    assert all("(open: held out" in label for label in said), said


@pytest.mark.parametrize("name", NAMES)
def test_page(name):
    page = page_of(name)
    assert page.name == name
    assert page.kind in KINDS
    assert page.title
    assert page.summary
    assert not page.presets[0].broken
    assert all(preset.words for preset in page.presets)
    assert all((preset.data is None) == (page.kind == "none") for preset in page.presets)
    json.dumps(page.to_dict(), allow_nan=False)
    assert page.settings() == page.settings(page.settings())
    with pytest.raises(ValueError, match="no setting"):
        page.settings({"nonsense": 1})


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_preset(name, preset):
    """It runs, twice the same, and its Python gives the number that the last frame shows."""
    page = page_of(name)
    trace = make_trace(page, preset)
    check(trace)
    assert make_trace(page, preset).to_json() == trace.to_json()
    scope: dict = {}
    exec(trace.code, scope)
    assert "model" in scope or "result" in scope
    last = trace.frames[-1].objective
    if last is not None:
        assert scope["objective"] == pytest.approx(last, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_method(name, method):
    """Every method of a page runs on its first data."""
    page = page_of(name)
    chosen = page.presets[0]
    data = None if chosen.data is None else chosen.data(np.random.default_rng(1))
    known = {**page.settings(chosen.params), "method": method}
    check(page.run(data, known, 1))


@pytest.mark.parametrize("name", [n for n in NAMES if page_of(n).kind != "none"])
def test_rows_of_a_reader(name):
    """Any rows give a trace or one sentence: few, equal, on a line, far away."""
    page = page_of(name)
    rng = np.random.default_rng(0)
    width = 1 if page.kind == "values" else 2
    hard = [np.zeros((8, width)), 1e6 + rng.normal(size=(20, width))]
    if name == named(ENTRIES[name].folder):  # the others of its folder share what reads the rows
        line = np.repeat(np.arange(8.0)[:, None], width, axis=1)
        hard += [rng.normal(size=(2, width)), rng.normal(size=(12, width)), line]
    for X in hard:
        given = {"X": X.tolist(), "y": (np.arange(len(X)) % 2).tolist()}
        trace, said = None, None
        try:
            trace = page.run(rows_of(page, given, 0), page.settings(), 0)
        except ValueError as error:
            said = error
        if trace is None:
            ours(said)
        else:
            check(trace)


def ours(error):
    """One sentence that this library wrote: none of NumPy's or SciPy's."""
    place = error.__traceback__
    while place.tb_next is not None:
        place = place.tb_next
    assert "pellucid" in place.tb_frame.f_code.co_filename, error
    assert "\n" not in str(error)
    assert 10 < len(str(error)) < 400


def ends_of(page):
    """Settings at their ends: all of them at once, then (slow) each alone."""
    first = page.settings(page.presets[0].params)
    shown = [c for c in page.controls if all(first[k] in v for k, v in c.only.items())]
    spans = [c for c in shown if c.kind in ("number", "integer")]
    yield from ({c.name: getattr(c, end) for c in spans} for end in ("low", "high"))
    yield from ({c.name: value} for c in spans for value in (c.low, c.high))
    yield from ({c.name: value} for c in shown if c.kind == "choice" for value in c.options)
    yield from ({c.name: True} for c in shown if c.kind == "switch")


ENDS = [
    pytest.param(name, ends, id=f"{name}-{i}", marks=[pytest.mark.slow] * (i > 1))
    for name in NAMES
    for i, ends in enumerate(ends_of(page_of(name)))
]


@pytest.mark.parametrize(("name", "ends"), ENDS)
def test_settings_at_their_ends(name, ends):
    """A trace that is true, or one sentence that is our own: none of NumPy's or SciPy's."""
    page = page_of(name)
    preset = page.presets[0]
    data = None if preset.data is None else preset.data(np.random.default_rng(0))
    trace, said = None, None
    try:
        trace = page.run(data, {**page.settings(preset.params), **ends}, 0)
    except ValueError as error:
        said = error
    if trace is None:
        ours(said)
    else:
        check(trace)


@pytest.mark.parametrize("name", NAMES)
def test_a_card_of_the_gallery_is_never_empty(name):
    """Every frame of it has marks or boxes to draw, and there are several."""
    card = card_of(page_of(name))
    assert len(card["frames"]) > 1
    for frame in card["frames"]:
        panels = [*card["base"], *frame]
        assert any(panel.get("marks") or panel.get("nodes") for panel in panels)


def test_a_contradiction_is_seen():
    """Each audit fails on the kind of frame that it is for, and passes on the true one."""
    audit_arithmetic({"formula": "total − variance = 4.92 − 3.48 = 1.44"})
    with pytest.raises(AssertionError):
        audit_arithmetic({"formula": "total − variance = 4.92 − 3.48 = 1.54"})
    drawn = {"mark": "line", "label": "fit", "x": [0, 1, 2], "y": [1.0, 1.5, 2.0]}
    panels = [{"kind": "plane", "name": "data", "marks": [drawn]}]
    audit_line({"numbers": {"w": 0.5}}, panels)
    with pytest.raises(AssertionError):
        audit_line({"numbers": {"w": 0.7}}, panels)
    graph = {"kind": "graph", "nodes": [{"label": "Rain\nyes 0"}]}
    beliefs = {"kind": "table", "name": "beliefs", "rows": [["Rain", "0.5", "0.5"]]}
    with pytest.raises(AssertionError, match="Rain"):
        audit_graph([graph, beliefs])
    with pytest.raises(AssertionError):
        audit_counts({"numbers": {"inside or wrong": 0, "training error": 0.5}, "objective": 0})


@pytest.mark.parametrize("name", sorted({named(entry.folder) for entry in ENTRIES.values()}))
def test_a_coarse_frame_says_the_same(name):
    """While a finger moves: the numbers and the formula of the whole run's frame."""
    body = {"page": name, "preset": 0}
    whole, one = (
        json.loads(answer_run(json.dumps(b).encode())) for b in (body, body | {"frame": -1})
    )
    exact, coarse = whole["frames"][-1], one["frames"][0]
    for key in ("step", "objective", "held_out", "formula", "numbers"):
        assert coarse[key] == exact[key], key
    assert [p["name"] for p in coarse["state"]["panels"]] == [
        p["name"] for p in exact["state"]["panels"]
    ]
