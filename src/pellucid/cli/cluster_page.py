"""Words and pictures of ``pellucid cluster``."""

import math

import numpy as np

from pellucid.cli.grouping import Grouping, Measures, Trait, traits
from pellucid.cli.inputs import Inputs
from pellucid.cli.pages import TONES, Page, Section, row_words
from pellucid.decomposition import PCA
from pellucid.report.charts import Frame, circle, limits
from pellucid.report.pictures import Picture
from pellucid.report.words import listed, number

SHOWN_ROWS = 1500  # dots on the map
NAMES = {
    "elbow": "elbow",
    "silhouette": "silhouette",
    "calinski_harabasz": "Calinski-Harabasz",
    "stability": "stability",
    "gap": "gap statistic",
}


def verdict(found: Grouping) -> tuple[str, ...]:
    """At most four plain sentences."""
    k, n = found.chosen.k, len(found.chosen.labels)
    first = f"The {n:,} rows fall into {k} groups."
    if found.answer == "none":
        first = "The rows do not form groups."
    elif found.answer == "several":
        some = listed([str(c) for c in found.elbow.candidates])
        first = f"There is more than one good number of groups: {some}; {k} are described here."
    elif not found.choices.get("silhouette"):
        first = f"The {n:,} rows, cut into {k} groups as asked."
    lines = [first]
    if found.answer == "none":
        lines.append(
            "Rows spread evenly over the same range would be grouped as well as these (gap "
            f"statistic); the {k} groups below are a way to cut a cloud, not parts it has."
        )
    picked: dict[int, list[str]] = {}
    for name, favourite in found.choices.items():
        if favourite is not None:
            picked.setdefault(favourite, []).append(NAMES[name])
    if picked and found.answer != "none":
        said = [
            f"{listed(names)} {'favours' if len(names) == 1 else 'favour'} {c}"
            for c, names in sorted(picked.items(), key=lambda item: (-len(item[1]), item[0]))
        ]
        text = "; ".join(said)
        lines.append(f"{text[:1].upper()}{text[1:]}.")
    lines.append(f"{stable_words(found.chosen)} {sharp_words(found.chosen)}")
    return tuple(lines)


def stable_words(m: Measures) -> str:
    if m.stability >= 0.9:
        return f"Subsamples of the rows give the same groups (agreement {m.stability:.2f})."
    if m.stability >= 0.75:
        return f"Subsamples of the rows give much the same groups (agreement {m.stability:.2f})."
    return (
        f"Subsamples of the rows give other groups (agreement {m.stability:.2f} of 1): do not rely "
        "on them."
    )


def sharp_words(m: Measures) -> str:
    if math.isnan(m.silhouette):
        return ""
    kind = "well apart" if m.silhouette > 0.5 else "touching" if m.silhouette > 0.25 else "blurred"
    return f"They are {kind} (silhouette {m.silhouette:.2f})."


def group_words(
    found: Grouping, said: list[list[Trait]], inputs: Inputs
) -> tuple[list[int], list[str], list[str]]:
    """Number, rows and traits of every group."""
    sizes = np.bincount(found.chosen.labels, minlength=found.chosen.k)
    numeric = dict(zip(inputs.names, inputs.is_number, strict=True))
    words = [
        "; ".join(trait_words(t, numeric[t.feature]) for t in group) or "nothing in particular"
        for group in said
    ]
    n = len(found.chosen.labels)
    return list(range(len(sizes))), [f"{s:,} ({s / n:.0%})" for s in sizes], words


def trait_words(t: Trait, numeric: bool) -> str:
    """
    >>> trait_words(Trait("mass", 5.0, 4.2, 1.1), True)
    'mass 5 (all: 4.2)'
    >>> trait_words(Trait("island = a", 0.9, 0.4, 1.0), False)
    'island = a 90 % (all: 40 %)'
    """
    if numeric:
        return f"{t.feature} {number(t.here)} (all: {number(t.overall)})"
    return f"{t.feature} {100 * t.here:.0f} % (all: {100 * t.overall:.0f} %)"


def cluster_page(found: Grouping, inputs: Inputs, data: str, command: str) -> Page:
    """The page of one grouping."""
    m = found.chosen
    facts = (
        (str(m.k) if found.answer != "none" else "none", "groups", found.method),
        (f"{m.silhouette:.2f}", "silhouette", "1 is far apart, 0 is touching"),
        (f"{m.stability:.2f}", "stability", "agreement of subsamples"),
        (number(1 - m.error / found.single), "of the spread", "lies between the groups"),
    )
    number_of, rows, words = group_words(found, traits(inputs, m.labels), inputs)
    groups = list(zip([f"group {g}" for g in number_of], rows, words, strict=True))
    sections = [
        Section("The groups", "What sets each group apart from all rows, the strongest first.",
                (drawn_map(found, inputs),), ((("group", "rows", "what sets it apart"), groups),)),
    ]  # fmt: skip
    if len(found.tried) > 1:
        lead = "Each criterion has its favourite. Where they agree, the number is no accident."
        sections.append(Section("How many groups", lead, tuple(criteria(found))))
    details = (
        ("method", f"{found.method}, {found.distance} distance"),
        ("model card", str(m.model.card().evaluation) if hasattr(m.model, "card") else ""),
        *row_words(len(m.labels), inputs.left_out),
    )
    return Page(
        "Do the rows form groups?", f"{data}: {len(m.labels):,} rows, "
        f"{len(inputs.frame.columns)} columns", "inconclusive" if found.answer == "none" else "",
        verdict(found), facts, tuple(sections), found.findings, command, details,
    )  # fmt: skip


def criteria(found: Grouping) -> list[Picture]:
    """Error, silhouette, Calinski-Harabasz, stability and gap against k."""
    counts = [m.k for m in found.tried]
    consecutive = counts == list(range(2, counts[-1] + 1))
    errors = [m.error for m in found.tried]
    xs, ys = ([1, *counts], [found.single, *errors]) if consecutive else (counts, errors)
    bend = {
        "one": f"It bends at {found.elbow.n_clusters}.",
        "several": f"It bends at {listed([str(k) for k in found.elbow.candidates])}.",
        "none": "It falls smoothly: there is no elbow.",
    }[found.elbow.kind]
    pictures = [curve(xs, ys, "error within the groups", found.elbow.n_clusters,
                      "More groups always lower the error; an elbow is where that stops paying. "
                      f"{bend if consecutive else ''}", base=True)]  # fmt: skip
    says = {
        "silhouette": "How much nearer a row is to its own group than to the next one.",
        "calinski_harabasz": "Spread between the groups against spread within them.",
        "stability": "Agreement of the groups with those of ten subsamples (adjusted Rand index).",
    }
    for name, words in says.items():
        values = [getattr(m, name) for m in found.tried]
        pictures.append(curve(counts, values, NAMES[name], found.choices.get(name), words))
    if found.gap:
        gaps, errors = found.gap["gap"], found.gap["error"]
        pictures.append(
            curve(list(range(1, len(gaps) + 1)), gaps, "gap", found.choices.get("gap"),
                  "How much better than rows without groups; the first k that the next one does "
                  "not beat is chosen. One group means none.", errors=errors)
        )  # fmt: skip
    return pictures


def curve(
    xs: list[int], ys: list[float], label: str, best: int | None, caption: str, *,
    base: bool = False, errors: list[float] | None = None,
) -> Picture:  # fmt: skip
    """A criterion against the number of groups, its favourite marked."""
    clean = [None if y != y else float(y) for y in ys]
    reach = [y + s for y, s in zip(ys, errors, strict=True)] if errors else []
    low, high = limits([*clean, *reach, 0.0] if base else [*clean, *reach])
    f = Frame((xs[0] - 0.3, xs[-1] + 0.3), (max(low, 0.0) if base else low, high),
              width=400, height=250, left=62)  # fmt: skip
    f.axes("number of groups", label)
    if errors:
        for x, y, s in zip(xs, ys, errors, strict=True):
            f.line([x, x], [y - s, y + s], "quiet")
    f.line(xs, clean)
    f.dots(xs, clean, r=3.5)
    height = clean[xs.index(best)] if best in xs else None
    if best is not None and height is not None:
        f.shapes.append(circle(f.x(best), f.y(height), 7, "warn faint"))
        f.mark(best, "warn")
        caption += f" Favourite: {best}."
    rows = list(zip(xs, clean, strict=True))
    return Picture(f.svg(f"{label} for {xs[0]} to {xs[-1]} groups"), caption, ("k", label), rows)


def drawn_map(found: Grouping, inputs: Inputs) -> Picture:
    """The rows on their two widest directions, a tone for every group."""
    Z, labels = inputs.Z, found.chosen.labels
    d = min(2, *Z.shape)
    model = PCA(d).fit(Z)
    scores = model.transform(Z)
    if d == 1:
        scores = np.column_stack([scores[:, 0], np.zeros(len(scores))])
    pick = np.random.default_rng(0).permutation(len(Z))[:SHOWN_ROWS]
    f = Frame(limits(scores[:, 0].tolist()), limits(scores[:, 1].tolist()),
              width=620, height=400)  # fmt: skip
    f.axes("first principal component", "second" if d == 2 else "")
    for i in pick:
        tone = f"see g{labels[i] % TONES}"
        f.shapes.append(circle(f.x(scores[i, 0]), f.y(scores[i, 1]), 2.8, tone))
    for g in range(found.chosen.k):
        middle = scores[labels == g].mean(axis=0)
        f.shapes.append(circle(f.x(middle[0]), f.y(middle[1]), 9, f"g{g % TONES}"))
        f.shapes.append(
            f'<text x="{f.x(middle[0]):.1f}" y="{f.y(middle[1]) + 4:.1f}" text-anchor="middle" '
            f'style="fill: var(--paper); font-weight: 600">{g}</text>'
        )
    share = model.explained_variance_ratio_.sum()
    hidden = f" ({SHOWN_ROWS:,} of the rows)" if len(Z) > SHOWN_ROWS else ""
    caption = (
        f"Every dot is a row{hidden}, seen from the side on which rows differ most: these two "
        f"directions hold {share:.0%} of the spread. The numbers mark the middles of the groups."
    )
    middles = [(f"group {g}", *scores[labels == g].mean(axis=0)) for g in range(found.chosen.k)]
    alt = f"map of the rows in {found.chosen.k} groups"
    return Picture(f.svg(alt), caption, ("group", "first", "second"), middles)
