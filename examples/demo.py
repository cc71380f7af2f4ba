"""The demonstration behind `make demo`: three honest questions to the bundled penguins table.

1. Can the species be told from four measurements?      GaussianNB, scored once on unseen birds
2. What does a millimetre of flipper weigh?              LinearRegression with standard errors
3. Are the species visible without being named?          KMeans, compared with the truth

It prints the answers and leaves `pellucid-demo/report.html` and `pellucid-demo/model.pellucid`.
Another folder: python examples/demo.py FOLDER
"""

import sys
import textwrap
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jinja2 import Environment
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid.data import load_table

MEASURES = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
SEED = 0


def wilson(right, n, z=1.959963984540054):
    """Interval of a share (Wilson 1927): the shares that `right` of `n` does not contradict."""
    share = right / n
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    return centre - half, centre + half


class Species(NamedTuple):
    """Question 1: a classifier, and its score on birds it has not seen."""

    model: pellucid.GaussianNB
    right: int
    n: int
    low: float
    high: float
    guessing: float  # share of the commonest species among the same birds
    confusion: list[tuple[str, list[int]]]  # truth, then the counts of each answer


class Mass(NamedTuple):
    """Question 2: a regression, its error and the coverage of its intervals on unseen birds."""

    model: pellucid.LinearRegression
    error: float  # root mean squared, in grams
    spread: float  # the same for the mean mass
    covered: int
    n: int


class Groups(NamedTuple):
    """Question 3: clusters found without names, against the species."""

    model: pellucid.KMeans
    species: list[str]
    counts: list[tuple[int, list[int]]]  # cluster, then the birds of each species in it
    matched: int  # birds in a cluster where their species is the commonest
    n: int


def tell_species(train, test):
    model = pellucid.GaussianNB().fit(train[MEASURES], train["species"])
    truth, answer = test["species"].to_list(), model.predict(test[MEASURES]).tolist()
    pairs = Counter(zip(truth, answer, strict=True))
    names = model.classes_.tolist()
    right = sum(pairs[name, name] for name in names)
    # Guessing uses what the training birds say is commonest, as the model had to.
    commonest = Counter(train["species"].to_list()).most_common(1)[0][0]
    confusion = [(name, [pairs[name, other] for other in names]) for name in names]
    low, high = wilson(right, len(truth))
    guessing = truth.count(commonest) / len(truth)
    return Species(model, right, len(truth), low, high, guessing, confusion)


def weigh(train, test):
    inputs = MEASURES[:3]
    model = pellucid.LinearRegression().fit(train[inputs], train["body_mass_g"])
    y = test["body_mass_g"].to_numpy()
    low, high = model.predict_interval(test[inputs], confidence=0.95).T
    error = sqrt(np.mean((y - model.predict(test[inputs])) ** 2))
    spread = sqrt(np.mean((y - train["body_mass_g"].mean()) ** 2))
    return Mass(model, error, spread, int(((low <= y) & (y <= high)).sum()), len(y))


def find_groups(birds):
    X = StandardScaler().fit_transform(birds[MEASURES])
    model = pellucid.KMeans(n_clusters=3, n_init=10, random_state=SEED).fit(X)
    pairs = Counter(zip(model.labels_.tolist(), birds["species"].to_list(), strict=True))
    species = sorted(set(birds["species"].to_list()))
    counts = [(k, [pairs[k, name] for name in species]) for k in range(3)]
    return Groups(model, species, counts, sum(max(row) for _, row in counts), len(birds))


def verdict(species, mass, groups, dropped):
    """The answers as plain sentences."""
    share = 100 * species.right / species.n
    answer = "Yes" if species.low > species.guessing else "Not shown"
    slope = mass.model.summary()
    flipper = slope.names.index("flipper_length_mm")
    return [
        f"{answer}: the species of a penguin the model has not seen is named right {share:.0f} "
        f"times in 100 (95 % interval {100 * species.low:.0f} to {100 * species.high:.0f}).",
        f"Guessing the commonest species is right {100 * species.guessing:.0f} times in 100 on the "
        f"same {species.n} birds.",
        f"With the bill held fixed, a millimetre of flipper goes with "
        f"{slope.estimate[flipper]:.0f} g of body mass (95 % interval {slope.low[flipper]:.0f} to "
        f"{slope.high[flipper]:.0f}); a new bird's mass is off by about {mass.error:.0f} g, "
        f"against {mass.spread:.0f} g for the mean alone, and {mass.covered} of {mass.n} unseen "
        "birds lie inside their own 95 % prediction interval.",
        f"Three clusters found without names agree with the species for {groups.matched} of "
        f"{groups.n} birds.",
        f"{dropped} birds without measurements were left out.",
    ]


def main(folder):
    table = load_table("penguins")
    birds = table.drop_nulls(MEASURES)
    rows = np.arange(len(birds))
    rows, held = train_test_split(rows, test_size=0.3, random_state=SEED, stratify=birds["species"])
    train, test = birds[rows], birds[held]

    species, mass, groups = tell_species(train, test), weigh(train, test), find_groups(birds)
    sentences = verdict(species, mass, groups, len(table) - len(birds))

    folder.mkdir(parents=True, exist_ok=True)
    report, model = folder / "report.html", folder / "model.pellucid"
    pellucid.save(species.model, model)
    page = Environment(autoescape=True, trim_blocks=True).from_string(PAGE)
    html = page.render(
        sentences=sentences, species=species, mass=mass, groups=groups, n=len(birds),
        n_train=len(train), n_test=len(test), seed=SEED, version=pellucid.__version__,
        model=model.name,
    )  # fmt: skip
    report.write_text(html, encoding="utf-8")
    print("\n".join(textwrap.fill(sentence, 100) for sentence in sentences))
    print()
    print(mass.model.summary())
    print()
    print(f"The report is {report}")
    print(f"The model that names the species is {model}")


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Penguins: a demonstration</title>
<style>
:root { --paper: #fbfbf9; --card: #fff; --ink: #1c2126; --soft: #5b6670; --rule: #e3e4e0;
  --accent: #0b6e75; --tint: #e3f1f1; color-scheme: light dark }
@media (prefers-color-scheme: dark) { :root { --paper: #14181b; --card: #1b2024; --ink: #e8eaea;
  --soft: #9aa6ad; --rule: #2c343a; --accent: #5cc0c4; --tint: #16302f } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; font-variant-numeric: tabular-nums }
main { max-width: 60rem; margin: auto; padding: 2.5rem 1.25rem 4rem }
h1 { font-size: 1.05rem; margin: 0 } h2 { font-size: 1.25rem; margin: 3rem 0 .5rem }
h3, h4 { font-size: .95rem; margin: 1.8rem 0 .4rem }
.soft { color: var(--soft); max-width: 44rem; margin: .2rem 0 1rem }
.answer { background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  border-left: 6px solid var(--accent); padding: 1.4rem 1.6rem; margin: 1.4rem 0 }
.answer p { margin: .5rem 0; max-width: 46rem }
.answer p:first-child { font-size: 1.45rem; line-height: 1.35; font-weight: 600; margin: 0 0 .8rem;
  text-wrap: balance }
svg { display: block; width: 100%; max-width: 46rem; height: auto; margin-top: 1rem }
svg text { font: 13px system-ui, sans-serif; fill: var(--soft) }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-size: .93rem; min-width: 24rem }
th, td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--rule); text-align: right }
th:first-child, td:first-child { text-align: left }
thead th { color: var(--soft); font-weight: 500; font-size: .82rem }
tbody th { font-weight: 500 }
td.hit { background: var(--tint); font-weight: 600 }
.card table { width: 100% } .card th { width: 9rem; vertical-align: top; font-weight: 500;
  color: var(--soft) } .card td { text-align: left }
li, .table p { color: var(--soft); font-size: .93rem; max-width: 46rem } ul { padding-left: 1.1rem }
@media print { body { background: #fff } .answer { break-inside: avoid } }
</style></head><body><main>
<h1>What four measurements say about a penguin</h1>
<p class="soft">{{ n }} birds; {{ n_train }} to learn from, {{ n_test }} kept aside and used once;
seed {{ seed }}; Pellucid {{ version }}</p>
<section class="answer">{% for sentence in sentences %}<p>{{ sentence }}</p>{% endfor %}
{% set x = 0 %}{% set w = 680 %}
{% set share = species.right / species.n %}
<svg viewBox="0 0 720 64" role="img" aria-label="Accuracy {{ '%.3f' % share }},
 95 % interval {{ '%.3f' % species.low }} to {{ '%.3f' % species.high }};
 guessing {{ '%.3f' % species.guessing }}">
<line x1="{{ x }}" x2="{{ x + w }}" y1="34" y2="34" stroke="var(--rule)" stroke-width="2"/>
<line x1="{{ x + w * species.guessing }}" x2="{{ x + w * species.guessing }}" y1="24" y2="44"
 stroke="var(--soft)" stroke-width="2"/>
<text x="{{ x + w * species.guessing }}" y="16" text-anchor="middle">guessing
 {{ '%.2f' % species.guessing }}</text>
<line x1="{{ x + w * species.low }}" x2="{{ x + w * species.high }}" y1="34" y2="34"
 stroke="var(--accent)" stroke-width="6" stroke-linecap="round"/>
<circle cx="{{ x + w * share }}" cy="34" r="7" fill="var(--accent)"/>
<text x="{{ x + w * share }}" y="16" text-anchor="middle">the model
 {{ '%.2f' % share }}</text>
<text x="{{ x }}" y="60">0</text>
<text x="{{ x + w }}" y="60" text-anchor="end">1</text>
</svg></section>

<h2>Which species?</h2>
<p class="soft">Gaussian naive Bayes on the {{ n_test }} birds kept aside. Read a row: how the birds
of one species were named. The tinted cells are right.</p>
<div class="scroll"><table><thead><tr><th>true species</th>
{% for name, _ in species.confusion %}<th>named {{ name }}</th>{% endfor %}</tr></thead><tbody>
{% for name, counts in species.confusion %}<tr><th>{{ name }}</th>
{% for count in counts %}<td{% if species.confusion[loop.index0][0] == name %} class="hit"
{% endif %}>{{ count }}</td>{% endfor %}
</tr>{% endfor %}</tbody></table></div>
<h3>What this model is</h3>
<div class="card scroll">{{ species.model.card()._repr_html_() | safe }}</div>

<h2>How heavy?</h2>
<p class="soft">Body mass in grams on three lengths in millimetres. Read a row: the change in mass
for one unit more with the others held fixed, its standard error, and the values that the data do
not contradict.</p>
<div class="table scroll">{{ mass.model.summary()._repr_html_() | safe }}</div>
<h3>What this model is</h3>
<div class="card scroll">{{ mass.model.card()._repr_html_() | safe }}</div>

<h2>Are the species visible without names?</h2>
<p class="soft">k-means with three clusters on the standardised measurements; it never saw a
species. Read a row: who is in a cluster. The tinted cell is the commonest.</p>
<div class="scroll"><table><thead><tr><th>cluster</th>
{% for name in groups.species %}<th>{{ name }}</th>{% endfor %}</tr></thead><tbody>
{% for k, counts in groups.counts %}<tr><th>{{ k + 1 }}</th>
{% for count in counts %}<td{% if count == counts | max %} class="hit"{% endif %}>{{ count }}</td>
{% endfor %}</tr>{% endfor %}</tbody></table></div>
<h3>What this model is</h3>
<div class="card scroll">{{ groups.model.card()._repr_html_() | safe }}</div>

<h2>Repeat this</h2>
<p class="soft">python examples/demo.py gives the same numbers. The classifier is saved beside this
page: pellucid.load("{{ model }}").</p>
</main></body></html>
"""

if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "pellucid-demo"))
