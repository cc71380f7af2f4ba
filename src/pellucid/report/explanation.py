"""An explanation of a model as one page: no script, no remote resource, every string escaped."""

from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from pellucid import __version__
from pellucid.core.visible import visible
from pellucid.report import pictures
from pellucid.report.rendering import by_column
from pellucid.report.sentences import card_rows, cell, sides

SHUFFLED = (
    "How much worse the score gets on the rows of the table when one column is shuffled. Columns "
    "that say the same thing share their importance; rows the model learned from flatter it."
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="Pellucid {{ version }}">
<title>{{ title }}</title>
<style>{{ style }}</style>
</head>
<body>
{%- macro table(columns, rows) -%}
<div class="scroll" role="group" aria-label="table" tabindex="0"><table>
{% set side = rows | sides %}
<thead><tr>{% for c in columns %}<th scope="col"{{ side[loop.index0] }}>{{ c }}</th>{% endfor %}\
</tr></thead>
<tbody>{% for row in rows %}<tr>{% for value in row %}<td{{ side[loop.index0] }}>\
{{ value | show }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{%- endmacro -%}
{%- macro picture(p) -%}
<figure>{{ p.svg }}<figcaption>{{ p.caption }}</figcaption>
<details><summary>The numbers</summary>{{ table(p.columns, p.rows) }}</details></figure>
{%- endmacro -%}
<main>
<header><h1>{{ title }}</h1><p>{{ subtitle }}</p></header>
{% if r.contributions %}
<section id="row"><h2>Row {{ r.contributions.row }}</h2>
<p class="lead">{{ r.contributions.output }}: {{ r.contributions.prediction | show }}. On average \
it is {{ r.contributions.base | show }}; each column moves it by what stands beside it.</p>
{{ table(["column", "value", "moves it by"], contributions) }}</section>
{% endif %}
{% if importance %}
<section id="importance"><h2>What the model looks at</h2>{{ picture(importance) }}</section>
{% endif %}
{% if r.model_importance %}
<section id="own"><h2>What it holds important itself</h2>
<p class="lead">Shares: {{ r.model_importance.kind }}.</p>
{{ table(["column", "share"], own) }}</section>
{% endif %}
{% if dependence %}
<section id="dependence"><h2>How the prediction moves</h2>
<p class="lead">The mean prediction as one column changes and the others stay\
{% if not r.rows %} at their middle in training{% elif bands %}; the band holds the predictions \
of 80 % of the rows{% endif %}.</p>
<div class="row">{% for p in dependence %}{{ picture(p) }}{% endfor %}</div></section>
{% endif %}
{% if r.summary and r.summary.rows %}
<section id="coefficients"><h2>Coefficients</h2>
{% if not r.summary.valid %}<p class="lead">Not valid for inference: {{ r.summary.reason }}</p>\
{% endif %}
{{ table(summary[0], summary[1]) }}
{% for note in r.summary.notes %}<p class="quiet">{{ note }}</p>{% endfor %}</section>
{% endif %}
{% if r.rules %}
<section id="rules"><h2>Its rules</h2>
<ul>{% for q in r.rules.rules %}<li>{% if q.when %}if {{ q.when | join(" and ") }}{% else %}\
always{% endif %}: <b>{{ q.then }}</b> <span class="quiet">({{ q.rows | show }} rows)</span></li>
{% endfor %}</ul>
<h3>When it says what</h3>
{% for label, formula in r.rules.dnf.items() %}<p><b>{{ label }}</b>: {{ formula }}</p>{% endfor %}
</section>
{% endif %}
<section id="card"><h2>Model card</h2>
<div class="scroll" role="group" aria-label="table" tabindex="0"><table><tbody>\
{% for key, text in card %}<tr><th scope="row">{{ key }}</th><td>{{ text }}</td></tr>
{% endfor %}</tbody></table></div></section>
</main>
</body>
</html>
"""


def render_explanation(record: dict[str, Any], name: str) -> str:
    """The page of an explanation, from its plain data alone.

    >>> empty = dict.fromkeys(["importance", "model_importance", "contributions", "rules",
    ...                        "summary"])
    >>> record = empty | {"about": {}, "card": {"representation": "<b>"}, "dependence": [],
    ...                   "metric": "", "rows": 0}
    >>> "&lt;b&gt;" in render_explanation(record, "a.pellucid")
    True
    """
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"show": cell, "sides": sides}
    style = Markup(files("pellucid.report").joinpath("style.css").read_text("utf-8"))
    about = record["about"]
    subtitle = (
        f"{about['name']} for {', '.join(about['target'])}, from a study of {about['rows']:,} rows"
        if about.get("rows")
        else "a model"
    )
    metric = record["metric"].replace("_", " ")
    found, parts = record["importance"], record["contributions"]
    curves = [lines(some) for some in by_column(record["dependence"])]
    page = environment.from_string(PAGE).render(
        r=record,
        title=f"Why {name} says what it says",
        subtitle=subtitle,
        style=style,
        version=__version__,
        importance=shuffled(found, metric) if found else None,
        dependence=[pictures.dependence(some) for some in curves],
        bands=any(one["low"] is not None for some in curves for one in some),
        summary=filled(record["summary"]),
        contributions=[[p["name"], p["value"], p["part"]] for p in parts["parts"]] if parts else [],
        own=[[o["name"], o["share"]] for o in (record["model_importance"] or {"rows": []})["rows"]],
        card=card_rows(record["card"]),
    )
    return visible(page)


def shuffled(found: list[dict[str, Any]], metric: str) -> pictures.Picture:
    """Permutation importance, with a caption that does not know whether the rows are new."""
    drawn = pictures.importance(found, metric)
    drawn.caption = SHUFFLED
    return drawn


def lines(curves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Several classes in one picture: without their bands, which would hide each other."""
    if len(curves) == 1:
        return curves
    return [curve | {"low": None, "high": None} for curve in curves]


def filled(summary: dict[str, Any] | None) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of the coefficients, without the columns that hold nothing.

    >>> filled({"columns": ["name", "p_value"], "rows": [["x", None]]})
    (['name'], [['x']])
    """
    if summary is None or not summary["rows"]:
        return [], []
    rows = summary["rows"]
    at = [j for j in range(len(summary["columns"])) if any(row[j] is not None for row in rows)]
    names = [summary["columns"][j].replace("_", " ") for j in at]
    return names, [[row[j] for j in at] for row in rows]
