"""One page for the commands without a target: verdict, sections with pictures, findings.

The look is that of ``pellucid.report`` (its style sheet, charts and number formats); no script, no
remote resource, every user string escaped by Jinja.
"""

from importlib import import_module
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from pellucid import __version__
from pellucid.core.visible import visible
from pellucid.report.pictures import Picture
from pellucid.report.sentences import cell, evidence_words, sides
from pellucid.study.wording import listed

TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="generator" content="Pellucid {{ version }}">
<title>{{ page.title }}</title>
<style>{{ style }}{{ more }}</style>
</head>
<body>
{%- macro table(columns, rows) -%}
<div class="scroll" role="group" aria-label="table" tabindex="0"><table>
{%- set side = rows | sides %}
<thead><tr>{% for c in columns %}<th scope="col"{{ side[loop.index0] }}>{{ c }}</th>
{%- endfor %}</tr></thead>
<tbody>{% for row in rows %}<tr>{% for item in row %}
{%- if loop.first %}<th scope="row"{{ side[0] }}>{{ item | show }}</th>
{%- else %}<td{{ side[loop.index0] }}>{{ item | show }}</td>{% endif %}{% endfor %}</tr>
{% endfor %}</tbody></table></div>
{%- endmacro %}
<main>
<header><h1>{{ page.title }}</h1><p>{{ page.subtitle }}</p>
<nav aria-label="Sections">{% for s in page.sections %}<a href="#s{{ loop.index }}">{{ s.title }}
</a>{% endfor %}{% if page.findings %}<a href="#findings">Findings</a>{% endif %}</nav></header>
<section class="verdict {{ page.kind }}" aria-label="Verdict">
<p class="big">{{ page.verdict[0] }}</p>
{% for line in page.verdict[1:] %}<p>{{ line }}</p>{% endfor %}
<div class="facts">{% for fact in page.facts %}<div><b>{{ fact[0] }}</b>
{%- for line in fact[1:] %}<span>{{ line }}</span>{% endfor %}</div>{% endfor %}</div>
</section>
{% for s in page.sections %}
<section id="s{{ loop.index }}"><h2>{{ s.title }}</h2>
{% if s.lead %}<p class="lead">{{ s.lead }}</p>{% endif %}
{% if s.pictures %}<div class="row">{% for p in s.pictures %}<figure>{{ p.svg }}
<figcaption>{{ p.caption }}</figcaption>{% if p.rows %}
<details><summary>The numbers</summary>{{ table(p.columns, p.rows) }}</details>{% endif %}
</figure>{% endfor %}</div>{% endif %}
{% for t in s.tables %}{{ table(t[0], t[1]) }}{% endfor %}
{% for line in s.text %}<p>{{ line }}</p>{% endfor %}
</section>{% endfor %}
{% if page.findings %}<section id="findings"><h2>Findings, and what to do</h2>
{% for f in page.findings %}<div class="finding {{ f.severity }}"><span class="code">{{ f.code }}
</span><p><b>{{ f.title }}</b>{% if f.where %}: {{ f.where | listed }}{% endif %}
{%- if f.evidence %} <span class="quiet">({{ f.evidence | evidence }})</span>{% endif %}</p>
<p class="quiet">{{ f.why }}</p><p>{{ f.fix }}</p></div>{% endfor %}</section>{% endif %}
<section id="reproduction"><h2>Repeat this</h2>
<p class="lead">The same data, seed and versions give the same numbers.</p>
<pre>{{ page.command }}</pre>
<dl>{% for name, text in page.details %}<dt>{{ name }}</dt><dd>{{ text }}</dd>{% endfor %}</dl>
</section>
<footer>Made by Pellucid {{ version }}. This page holds no script and asks the network for nothing.
</footer>
</main></body></html>
"""

# Groups are told apart by shade and by shape of the dot, not by one colour alone.
GROUPS = """
svg .g0 { fill: var(--accent); } svg .g1 { fill: var(--warn); } svg .g2 { fill: var(--bad); }
svg .g3 { fill: var(--quiet); } svg .g4 { fill: #6b5fb5; } svg .g5 { fill: #4f8a3c; }
svg .g6 { fill: #b0568f; } svg .g7 { fill: #3f78b5; }
svg .dot.see { opacity: .72; }
"""
TONES = 8
PAGES = {  # schema -> the function that makes a page of the record
    "pellucid-report/1": "",  # of a study, which has a page of its own
    "pellucid-clusters/1": "cluster_page:cluster_page",
    "pellucid-components/1": "reduce_page:reduce_page",
    "pellucid-anomalies/1": "anomaly_page:anomaly_page",
    "pellucid-comparison/1": "judged_pages:comparison_page",
    "pellucid-sweep/1": "judged_pages:sweep_page",
}


class Section(NamedTuple):
    """A heading, how to read it, pictures, tables (columns, rows), sentences."""

    title: str
    lead: str = ""
    pictures: tuple[Picture, ...] = ()
    tables: tuple[tuple[tuple[str, ...], list[Any]], ...] = ()
    text: tuple[str, ...] = ()


class Page(NamedTuple):
    """Everything a page shows, in words."""

    title: str
    subtitle: str
    kind: str  # of the verdict: "" or "inconclusive"
    verdict: tuple[str, ...]
    facts: tuple[tuple[str, ...], ...]
    sections: tuple[Section, ...]
    findings: tuple[Any, ...]
    command: str
    details: tuple[tuple[str, str], ...]


def shown(value: object) -> str:
    """Words as they are, however long; numbers as the report writes them.

    >>> shown("a" * 100) == "a" * 100, shown(0.12345)
    (True, '0.123')
    """
    return value if isinstance(value, str) else str(cell(value))


def render_page(page: Page) -> str:
    """The page as HTML."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {
        "show": shown,
        "sides": sides,
        "listed": listed,
        "evidence": evidence_words,
    }
    style = Markup(files("pellucid.report").joinpath("style.css").read_text("utf-8"))
    template = environment.from_string(TEMPLATE)
    text = template.render(page=page, style=style, more=Markup(GROUPS), version=__version__)
    return visible(text)


def render_record(record: dict[str, Any]) -> str:
    """The page of a ``record``, the plain data of whatever command, as HTML."""
    if not PAGES[record["schema"]]:
        from pellucid.report import render

        return render(record)
    module, function = PAGES[record["schema"]].split(":")
    return render_page(getattr(import_module(f"pellucid.report.tables.{module}"), function)(record))


def row_words(n: int, left_out: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """The table in the last section: rows, and what was left out."""
    said = "; ".join(f"{name} ({why})" for name, why in left_out.items())
    return (("rows", f"{n:,}"), *((("left out", said),) if said else ()))
