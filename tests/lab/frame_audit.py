"""What one frame of the lab says, held against itself: formula, numbers, tables and drawings."""

import re
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

SIGNS = {"−": "-", "·": "*", "×": "*", "²": "**2", "³": "**3", "½": "0.5*"}
FAR = 20.0  # a line that runs away is cut off outside of the panel
NUMBER = re.compile(r"(?<![\d.\w])\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def plain(text):
    for sign, word in SIGNS.items():
        text = text.replace(sign, word)
    return text.strip().rstrip(";:,")


def half_unit(printed):
    """How far a printed number may be from what it was: three digits, without zeros at the end."""
    last = Decimal(printed).adjusted() - 2 if float(printed) else -3
    return 0.5 * 10.0 ** min(last, 0) if "e" not in printed else 0.5 * 10.0**last


def value_of(text):
    """The value of an arithmetic text and how far rounding may have moved it, or None."""
    text = plain(text)
    if not re.fullmatch(r"[\d\s.e+\-*/()]+", text) or not NUMBER.search(text):
        return None
    try:
        value = eval(text)
    except (SyntaxError, ZeroDivisionError, TypeError):
        return None
    if isinstance(value, tuple):
        return None
    room = 0.0
    for found in NUMBER.finditer(text):
        gap = half_unit(found.group())
        if gap and text[: found.start()][-2:] != "**":
            moved = f"({float(found.group()) + gap!r})"
            room += abs(eval(text[: found.start()] + moved + text[found.end() :]) - value)
    return value, room


def parts_of(formula):
    return re.split(r",  |;  |; |: +|→|⇒|, |\.  ", formula)


def audit_arithmetic(frame):
    """Both sides of every equation of numbers are equal, up to the digits that are shown."""
    for part in parts_of(frame["formula"]):
        sides = part.split(" = ")
        for (a, left), (b, right) in pairwise([(s, value_of(s)) for s in sides]):
            if left is not None and right is not None:
                room = 1.2 * (left[1] + right[1]) + 1e-9 * abs(left[0])
                assert abs(left[0] - right[0]) <= room, f"{a} = {b} in {frame['formula']}"


def audit_numbers(frame):
    """A number of the list that the formula names as well has one value."""
    for part in parts_of(frame["formula"]):
        name, _, last = part.strip().partition(" = ")
        said = value_of(last.split(" = ")[-1])
        known = frame["numbers"].get(name)
        if said is None or isinstance(known, str | bool | None):
            continue
        room = 1.2 * said[1] + 1e-3 * abs(known) + 1e-9
        assert abs(said[0] - known) <= room, f"{name}: {known} listed, {part} written"


def audit_line(frame, panels):
    """The line that is drawn through the data has the slope that is listed for x."""
    numbers = frame["numbers"]
    slope = numbers.get("slope in x", numbers.get("w"))
    if slope is None:
        return
    for mark in [m for p in panels if p["name"] == "data" for m in p.get("marks", [])]:
        if mark["mark"] == "line" and mark["label"] in ("fit", "y = b + w x", "y = b + w z"):
            x, y = np.array(mark["x"], float), np.array(mark["y"], float)
            if np.ptp(x) == 0 or np.abs(y).max() >= FAR:
                continue
            drawn = (y[-1] - y[0]) / (x[-1] - x[0])
            bend = np.abs(y - y[0] - drawn * (x - x[0])).max()
            if bend <= 1e-3 * max(np.ptp(y), 1e-9):  # not clipped at the edge of the panel
                assert drawn == pytest.approx(slope, rel=2e-2, abs=2e-3), f"{drawn} is drawn"


def audit_graph(panels):
    """A box shows a number only if the table of beliefs holds the same one."""
    tables = [p for p in panels if p["kind"] == "table" and p["name"] == "beliefs"]
    if not tables:
        return
    now = {row[0]: row[-1] for row in tables[0]["rows"]}
    for node in [n for p in panels if p["kind"] == "graph" for n in p["nodes"]]:
        name, _, said = node["label"].partition("\n")
        if name not in now or said.startswith("= "):
            continue
        shown = said.rpartition(" ")[2] if said else "–"
        assert shown == now[name], f"{name}: {shown} in the graph, {now[name]} in the table"


def audit_counts(frame, objective=""):
    """Wrong rows lie inside the street or beyond; a share that is listed twice is the same."""
    numbers = frame["numbers"]
    if "inside or wrong" in numbers and numbers.get("training error", 0) > 0:
        assert numbers["inside or wrong"] > 0
    if objective == "share of training rows that are wrong" and "training error" in numbers:
        assert numbers["training error"] == pytest.approx(frame["objective"])
        if frame.get("held_out") is not None and "held-out error" in numbers:
            assert numbers["held-out error"] == pytest.approx(frame["held_out"])


def audit_cells(panels):
    """No table shows what is no number as one."""
    for panel in panels:
        for row in panel.get("rows", []) if panel["kind"] == "table" else []:
            assert not {"nan", "inf", "-inf", "None"} & {str(cell).lower() for cell in row}, row


def audit(frame, objective):
    """One frame of a trace, as it is sent to the screen, and the name of its objective."""
    panels = frame["state"].get("panels", [])
    audit_arithmetic(frame)
    audit_numbers(frame)
    audit_line(frame, panels)
    audit_graph(panels)
    audit_counts(frame, objective)
    audit_cells(panels)
