"""Pages of ``pellucid compare`` and ``pellucid sweep``, each from the plain data of its record."""

import math
from typing import Any

from pellucid.report.charts import whiskers
from pellucid.report.pictures import Picture, complexity_curve
from pellucid.report.tables.pages import Page, Section, row_words
from pellucid.report.words import ends, fixed, number, p_value, places_for
from pellucid.study.judging.measure import BOUNDS


def in_order(r: dict[str, Any]) -> list[int]:
    """The places of the models, best mean first."""
    sign = 1 if r["greater_is_better"] else -1
    return sorted(range(len(r["names"])), key=lambda i: -sign * r["summaries"][i]["mean"])


def comparison_page(r: dict[str, Any]) -> Page:
    """Scores with intervals, and the test of every difference."""
    order, metric = in_order(r), str(r["metric"]).replace("_", " ")
    best = r["summaries"][order[0]]
    level = sum(bool(v) for v in r["better"][order[0]])
    places = places_for([s["mean"] for s in r["summaries"]])
    runs = f"{r['folds']} folds" + (f", {r['repeats']} times" if r["repeats"] > 1 else "")
    runs = "five times two halves" if r["test"] == "5x2cv" else runs
    facts = (
        (str(len(order)), "models", "on the same folds"),
        (fixed(best["mean"], places), f"best {metric}", r["names"][order[0]]),
        (f"{level} of {len(order) - 1}", "are worse", "by more than chance"),
        (number(r["alpha"]), "level of the tests", f"corrected by {words(r['correction'])}"),
    )
    rows = [(r["names"][i], *interval(r, i, places)) for i in order]
    sections = [
        Section(
            "Scores",
            f"Mean {metric} over the folds with its 95 % interval.",
            (drawn_scores(r, order, metric),),
            ((("model", metric, "95 % interval"), rows),),
        ),
        Section(
            "Which differences are more than chance",
            f"p-values of the {words(r['test'])} test, corrected for the number of pairs; a "
            "star where the model of the row is significantly better.",
            (),
            (significance(r, order),),
        ),
    ]
    if r["rope"]:
        sections.append(practical(r, metric))
    details = (
        ("test", f"{words(r['test'])}, {words(r['correction'])}"),
        ("folds", runs),
        *split_row(r),
        *row_words(r["rows"], r["left_out"]),
    )
    return Page(
        "Which model is better?",
        f"{r['source']}: {r['rows']:,} rows, target {r['target']}",
        "" if level else "inconclusive",
        (r["sentence"],),
        facts,
        tuple(sections),
        (),
        r["command"],
        details,
    )


def interval(r: dict[str, Any], i: int, places: int) -> tuple[str, str]:
    """Mean and interval of a model, within what the measure allows."""
    s, (floor, ceiling) = r["summaries"][i], BOUNDS.get(r["metric"], (-math.inf, math.inf))
    if s["low"] is None or s["high"] is None:
        return fixed(s["mean"], places), "–"
    low, high = max(s["low"], floor), min(s["high"], ceiling)
    return fixed(s["mean"], places), ends(low, high, places=places, joint=" – ")


def drawn_scores(r: dict[str, Any], order: list[int], metric: str) -> Picture:
    some = [r["summaries"][i] for i in order]
    names = [r["names"][i] for i in order]
    svg = whiskers(
        names,
        [s["mean"] for s in some],
        [s["low"] for s in some],
        [s["high"] for s in some],
        label=f"{metric}, 95 % interval",
        alt=f"{metric} of {len(names)} models, best first",
        zero=False,
    )
    columns = ("model", *(f"fold {k + 1}" for k in range(len(r["scores"][0]))))
    rows = [(r["names"][i], *r["scores"][i]) for i in order]
    caption = "Intervals that overlap may still differ: the tests below compare fold by fold."
    return Picture(svg, caption, columns, rows)


def significance(r: dict[str, Any], order: list[int]) -> tuple[tuple[str, ...], list[Any]]:
    rows = []
    for i in order:
        cells = [
            "" if i == j else p_value(r["adjusted"][i][j]) + (" *" if r["better"][i][j] else "")
            for j in order
        ]
        rows.append((r["names"][i], *cells))
    return ("better than", *(r["names"][i] for i in order)), rows


def practical(r: dict[str, Any], metric: str) -> Section:
    rows = [
        (one["model"], one["against"], *(fixed(one[k]) for k in ("worse", "equal", "better")))
        for one in r["rope"]
    ]
    lead = (
        f"The probability that the difference is beyond {number(r['rope'][0]['rope'])} of "
        f"{metric}, or within it and so of no account."
    )
    columns = ("model", "against", "worse", "equal", "better")
    return Section("Which differences matter", lead, (), ((columns, rows),))


def sweep_page(r: dict[str, Any]) -> Page:
    """The score along a parameter, and the parts of the error where they were asked for."""
    values, metric = r["values"], str(r["metric"]).replace("_", " ")
    at, simple = r["best"], r["one_standard_error"]
    places = places_for([s["mean"] for s in r["test_summary"]])
    best, plain = (r["test_summary"][i] for i in (at, simple))
    facts = (
        (shown(values[at]), "best", f"{metric} {fixed(best['mean'], places)}"),
        (shown(values[simple]), "simplest as good", f"{metric} {fixed(plain['mean'], places)}"),
        (str(len(values)), f"values of {r['parameter']}", f"{r['folds']} folds each"),
    )
    curve = {
        "parameter": r["parameter"],
        "values": [v if is_number(v) else shown(v) for v in values],
        "train": [s["mean"] for s in r["train_summary"]],
        "test": [s["mean"] for s in r["test_summary"]],
        "test_se": [s["standard_error"] for s in r["test_summary"]],
        "chosen": values[simple] if is_number(values[simple]) else shown(values[simple]),
    }
    sections = [
        Section(
            "The curve",
            "Too simple on one side, too flexible on the other; the mark "
            "is the simplest value within one standard error of the best.",
            (complexity_curve(curve, metric),),
        )
    ]
    if r["bias_variance"]:
        sections.append(error_parts(r))
    details = (
        ("model", r["model"]),
        ("folds", str(r["folds"])),
        *split_row(r),
        *row_words(r["rows"], r["left_out"]),
    )
    return Page(
        f"How does {r['model']} depend on {r['parameter']}?",
        f"{r['source']}: {r['rows']:,} rows, target {r['target']}",
        "",
        (sweep_words(r),),
        facts,
        tuple(sections),
        (),
        r["command"],
        details,
    )


def sweep_words(r: dict[str, Any]) -> str:
    """
    >>> r = {"model": "ridge", "parameter": "alpha", "values": [1.0, 0.1]}
    >>> sweep_words(r | {"best": 1, "one_standard_error": 0})
    'ridge: alpha = 0.1 is best, 1 by the rule of one standard error.'
    """
    best, simple = r["values"][r["best"]], r["values"][r["one_standard_error"]]
    rule = "the same by" if best == simple else f"{shown(simple)} by"
    said = f"{r['model']}: {r['parameter']} = {shown(best)} is best"
    return f"{said}, {rule} the rule of one standard error."


def error_parts(r: dict[str, Any]) -> Section:
    rows = [
        (shown(one["value"]), *(number(one[k]) for k in ("bias2", "variance", "total")))
        for one in r["bias_variance"]
    ]
    notes = dict.fromkeys(n for one in r["bias_variance"] for n in one["notes"])
    lead = "Off on average (bias), and off by the accident of the training rows (variance)."
    columns = (r["parameter"], "bias²", "variance", "total")
    return Section("Bias and variance", lead, (), ((columns, rows),), tuple(notes))


def shown(value: object) -> str:
    """
    >>> shown(0.001), shown(None), shown([8, 4])
    ('0.001', 'None', '(8, 4)')
    """
    if isinstance(value, list):
        return f"({', '.join(map(shown, value))})"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def words(name: str) -> str:
    return str(name).replace("_", " ")


def split_row(r: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    reason = r["split"]["reason"]
    return (("split", reason),) if reason else ()
