"""``report.json`` -> one page: no script, no remote resource, every user string escaped.

``render`` builds the words and pictures from the plain data of a study and fills ``page.html``
(Jinja2 with autoescape). Nothing here computes a result; a figure on the page stands in the
record, so a page can be made again from its JSON alone.
"""

import re
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup, escape

from pellucid import __version__
from pellucid.core.visible import visible
from pellucid.report import charts, pictures
from pellucid.report.sentences import (
    cell,
    column_range,
    column_shape,
    evidence_words,
    sentence,
    sides,
    words,
)
from pellucid.report.words import ends, fixed, p_value
from pellucid.study.records import StudyRecord
from pellucid.study.wording import listed

SCHEMA = "pellucid-report/1"
SECTIONS = (
    ("verdict", "Verdict"),
    ("task", "Task"),
    ("data", "Data"),
    ("split", "Split"),
    ("features", "Features"),
    ("baseline", "Guessing"),
    ("leaderboard", "Leaderboard"),
    ("significance", "Real differences"),
    ("final", "Final score"),
    ("errors", "Errors"),
    ("coefficients", "Coefficients"),
    ("importance", "Importance"),
    ("curves", "Curves"),
    ("worst", "Worst errors"),
    ("findings", "Findings"),
    ("card", "Model card"),
    ("reproduction", "Repeat this"),
)


def to_json(record: StudyRecord | dict[str, Any]) -> dict[str, Any]:
    """The report as plain data; ``record`` is a ``StudyRecord``, or what ``report.json`` holds.

    >>> import pellucid
    >>> x = [7 * i % 23 for i in range(60)]
    >>> table = {"x": x, "y": [3 * v + i % 5 for i, v in enumerate(x)]}
    >>> record = pellucid.learn(table, "y", effort="quick")
    >>> to_json(record)["schema"]
    'pellucid-report/1'
    """
    data = record if isinstance(record, dict) else record.to_dict()
    if data.get("schema") != SCHEMA:
        raise ValueError(f"not a report: schema {data.get('schema')!r}, expected {SCHEMA!r}")
    return data


def typed(text: str) -> Markup:
    """A sentence with what stands between backquotes set as code.

    >>> print(typed("use `--drop <b>` & go; 5` long"))
    use <code>--drop &lt;b&gt;</code> &amp; go; 5` long
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def render(record: StudyRecord | dict[str, Any]) -> str:
    """The report as one HTML page; ``record`` is a ``StudyRecord`` or the dict of its JSON.

    >>> import pellucid
    >>> x = [7 * i % 23 for i in range(60)]
    >>> table = {"x": x, "y": [3 * v + i % 5 for i, v in enumerate(x)]}
    >>> record = pellucid.learn(table, "y", effort="quick")
    >>> render(record)[:15]
    '<!doctype html>'
    """
    r = to_json(record)
    folder = files("pellucid.report")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {
        "show": cell,
        "fixed": fixed,
        "ends": lambda i, places: ends(i["low"], i["high"], places=places, joint=" – "),
        "p": p_value,
        "listed": listed,
        "short": lambda name: charts.short(str(name), 38),
        "range": column_range,
        "spark": column_shape,
        "evidence": evidence_words,
        "sentence": sentence,
        "sides": sides,
        "typed": typed,
    }
    template = environment.from_string(folder.joinpath("page.html").read_text("utf-8"))
    style = Markup(folder.joinpath("style.css").read_text("utf-8"))
    has = present(r)
    page = template.render(
        r=r,
        has=has,
        style=style,
        version=__version__,
        sections=[(key, name) for key, name in SECTIONS if has[key]],
        **words(r),
        **drawn(r),
    )
    return visible(page.replace(" %", "\u00a0%"))  # no line begins with a percent sign


def present(r: dict[str, Any]) -> dict[str, bool]:
    """Which sections have something to say."""
    final, insight = r["final"] or {}, r["insight"] or {}
    keys = ("confusion", "reliability", "threshold", "residuals", "by_class")
    return {
        "verdict": bool(r["verdict"]),
        "task": bool(r["task"]),
        "data": bool(r["audit"]),
        "split": bool(r["split"]),
        "features": bool(r["features"]),
        "baseline": bool(r["baseline"]),
        "leaderboard": bool(r["leaderboard"]),
        "comparison": bool(r["comparison"]),
        "significance": bool(r["comparison"]),
        "final": bool(final),
        "errors": any(final.get(key) for key in keys),
        "coefficients": bool(insight.get("coefficients")),
        "importance": bool(insight.get("importance") or insight.get("dependence")),
        "curves": bool(insight.get("learning_curve") or insight.get("complexity_curve")),
        "worst": bool(final.get("worst")),
        "findings": bool(r["findings"]),
        "card": bool(r["card"]),
        "reproduction": True,
    }


def drawn(r: dict[str, Any]) -> dict[str, Any]:
    """The pictures of the page."""
    final, insight = r["final"] or {}, r["insight"] or {}
    metric = r["task"]["metric"].replace("_", " ")
    errors, curves = list[Any](), list[Any]()
    if final.get("reliability"):
        errors.append(pictures.reliability(final["reliability"]))
    if final.get("roc"):
        errors.append(pictures.roc(final["roc"]))
    if final.get("threshold"):
        errors.append(pictures.thresholds(final["threshold"]))
    if final.get("residuals"):
        errors.extend(pictures.residual_pictures(final["residuals"]))
    if insight.get("learning_curve"):
        curves.append(pictures.learning_curve(insight["learning_curve"], metric))
    if insight.get("complexity_curve"):
        curves.append(pictures.complexity_curve(insight["complexity_curve"], metric))
    coefficients, importance = insight.get("coefficients"), insight.get("importance")
    return {
        "strips": pictures.board(r["leaderboard"], metric) if r["leaderboard"] else [],
        "split_bar": pictures.split(r["split"]) if r["split"] else "",
        "error_pictures": errors,
        "curves": curves,
        "coefficient_picture": pictures.coefficients(coefficients)
        if coefficients and coefficients["rows"]
        else None,
        "importance": pictures.importance(importance, metric) if importance else None,
        "dependence": [pictures.dependence(c) for c in by_column(insight.get("dependence"))],
    }


def by_column(curves: list[dict[str, Any]] | None) -> list[list[dict[str, Any]]]:
    """The curves of each column together, the first four classes of it."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for curve in curves or []:
        groups.setdefault(curve["name"], []).append(curve)
    ordered = (sorted(group, key=lambda c: str(c.get("output"))) for group in groups.values())
    return [group[: len(pictures.TONES)] for group in ordered]  # a class keeps its colour
