"""Words and pictures of ``pellucid cluster``, each from the plain data of its report.json."""

from typing import Any

from pellucid.report.charts import Frame, circle, limits
from pellucid.report.pictures import Picture
from pellucid.report.tables.pages import TONES, Page, Section, row_words
from pellucid.report.words import listed, number

NAMES = {
    "elbow": "elbow",
    "silhouette": "silhouette",
    "calinski_harabasz": "Calinski-Harabasz",
    "stability": "stability",
    "gap": "gap statistic",
}


def verdict(r: dict[str, Any]) -> tuple[str, ...]:
    """At most four plain sentences."""
    if r["noise"] is not None:
        return dense_verdict(r)
    k, n = r["k"], r["rows"]
    first = f"The {n:,} rows fall into {k} groups."
    if r["answer"] == "none":
        first = "The rows do not form groups."
    elif r["answer"] == "several":
        some = listed([str(c) for c in r["elbow"]["candidates"]])
        first = f"There is more than one good number of groups: {some}; {k} are described here."
    elif not r["choices"].get("silhouette"):
        first = f"The {n:,} rows, cut into {k} groups as asked."
    lines = [first]
    if r["answer"] == "none":
        lines.append(
            "Rows spread evenly over the same range would be grouped as well as these (gap "
            f"statistic); the {k} groups below are a way to cut a cloud, not parts it has."
        )
    picked: dict[int, list[str]] = {}
    for name, favourite in r["choices"].items():
        if favourite is not None:
            picked.setdefault(favourite, []).append(NAMES[name])
    if picked and r["answer"] != "none":
        said = [
            f"{listed(names)} {'favours' if len(names) == 1 else 'favour'} {c}"
            for c, names in sorted(picked.items(), key=lambda item: (-len(item[1]), item[0]))
        ]
        text = "; ".join(said)
        lines.append(f"{text[:1].upper()}{text[1:]}.")
    m = chosen(r)
    lines.append(f"{stable_words(m['stability'])} {sharp_words(m['silhouette'])}".strip())
    return tuple(lines)


def dense_verdict(r: dict[str, Any]) -> tuple[str, ...]:
    """What a method says that looks for dense parts and leaves the rows between them out."""
    k, n, noise = r["k"], r["rows"], r["noise"]
    apart = f"{noise:,} of the {n:,} rows ({noise / n:.0%}) lie between them or far out"
    if k == 0:
        return (
            "The rows do not form groups.",
            "No part of the table is dense enough against the rest to be one.",
        )
    if k == 1:
        return (
            "The rows do not form groups: the dense part of the table is one piece.",
            f"{noise:,} of the {n:,} rows ({noise / n:.0%}) lie outside it.",
        )
    m = chosen(r)
    return (
        f"The rows form {k} dense groups.",
        f"{apart} and belong to none." if noise else "Every row belongs to one.",
        f"{stable_words(m['stability'])} {sharp_words(m['silhouette'])}".strip(),
    )


def chosen(r: dict[str, Any]) -> dict[str, Any]:
    """The measures of the number of groups that was chosen."""
    return next(m for m in r["tried"] if m["k"] == r["k"])


def stable_words(stability: float) -> str:
    if stability >= 0.9:
        return f"Subsamples of the rows give the same groups (agreement {stability:.2f})."
    if stability >= 0.75:
        return f"Subsamples of the rows give much the same groups (agreement {stability:.2f})."
    return (
        f"Subsamples of the rows give other groups (agreement {stability:.2f} of 1): do not rely "
        "on them."
    )


def sharp_words(silhouette: float | None) -> str:
    if silhouette is None:
        return ""
    kind = "well apart" if silhouette > 0.5 else "touching" if silhouette > 0.25 else "blurred"
    return f"They are {kind} (silhouette {silhouette:.2f})."


def group_rows(r: dict[str, Any], most: int = 5) -> list[tuple[str, str, str]]:
    """Name, rows and traits of every group; the rows of no group come last."""
    n = r["rows"]
    found = [
        (
            f"group {g['group']}",
            f"{g['rows']:,} ({g['rows'] / n:.0%})",
            "; ".join(trait_words(t) for t in g["traits"][:most]) or "nothing in particular",
        )
        for g in r["groups"]
    ]
    if r["noise"]:
        found.append(("none (-1)", f"{r['noise']:,} ({r['noise'] / n:.0%})", "in no dense part"))
    return found


def trait_words(t: dict[str, Any]) -> str:
    """
    >>> trait_words({"feature": "mass", "here": 5.0, "overall": 4.2, "is_number": True})
    'mass 5 (all: 4.2)'
    >>> trait_words({"feature": "island = a", "here": 0.9, "overall": 0.4, "is_number": False})
    'island = a 90 % (all: 40 %)'
    """
    if t["is_number"]:
        return f"{t['feature']} {number(t['here'])} (all: {number(t['overall'])})"
    return f"{t['feature']} {100 * t['here']:.0f} % (all: {100 * t['overall']:.0f} %)"


def cluster_page(r: dict[str, Any]) -> Page:
    """The page of one grouping."""
    m = chosen(r)
    none = r["answer"] == "none"
    share = None if not r["error_of_one_group"] else 1 - m["error"] / r["error_of_one_group"]
    facts = (
        (str(r["k"]) if not none else "none", "groups", r["method"]),
        (number(m["silhouette"], 2), "silhouette", "1 is far apart, 0 is touching"),
        (number(m["stability"], 2), "stability", "agreement of subsamples"),
        (number(share), "of the spread", "lies between the groups"),
    )
    sections = [
        Section(
            "The groups",
            "What sets each group apart from all rows, the strongest first.",
            (drawn_map(r),),
            ((("group", "rows", "what sets it apart"), group_rows(r)),),
        )
    ]
    if len(r["tried"]) > 1:
        lead = "Each criterion has its favourite. Where they agree, the number is no accident."
        sections.append(Section("How many groups", lead, tuple(criteria(r))))
    details = (
        ("method", f"{r['method']}, {r['distance']} distance"),
        ("model card", r["card"]),
        *row_words(r["rows"], r["left_out"]),
    )
    return Page(
        "Do the rows form groups?",
        f"{r['source']}: {r['rows']:,} rows, {len(r['columns'])} columns",
        "inconclusive" if none else "",
        tuple(r["verdict"]),
        facts,
        tuple(sections),
        tuple(r["findings"]),
        r["command"],
        details,
    )


def criteria(r: dict[str, Any]) -> list[Picture]:
    """Error, silhouette, Calinski-Harabasz, stability and gap against k."""
    tried, choices, elbow = r["tried"], r["choices"], r["elbow"]
    counts = [m["k"] for m in tried]
    consecutive = counts == list(range(2, counts[-1] + 1))
    errors = [m["error"] for m in tried]
    xs, ys = ([1, *counts], [r["error_of_one_group"], *errors]) if consecutive else (counts, errors)
    bend = {
        "one": f"It bends at {elbow['n_clusters']}.",
        "several": f"It bends at {listed([str(k) for k in elbow['candidates']])}.",
        "none": "It falls smoothly: there is no elbow.",
    }[elbow["kind"]]
    pictures = [
        curve(
            xs,
            ys,
            "error within the groups",
            elbow["n_clusters"],
            "More groups always lower the error; an elbow is where that stops paying. "
            f"{bend if consecutive else ''}",
            base=True,
        )
    ]
    says = {
        "silhouette": "How much nearer a row is to its own group than to the next one.",
        "calinski_harabasz": "Spread between the groups against spread within them.",
        "stability": "Agreement of the groups with those of ten subsamples (adjusted Rand index).",
    }
    for name, words in says.items():
        values = [m[name] for m in tried]
        pictures.append(curve(counts, values, NAMES[name], choices.get(name), words))
    if r["gap"]:
        gaps, errors = r["gap"]["gap"], r["gap"]["error"]
        pictures.append(
            curve(
                list(range(1, len(gaps) + 1)),
                gaps,
                "gap",
                choices.get("gap"),
                "How much better than rows without groups; the first k that the next one does "
                "not beat is chosen. One group means none.",
                errors=errors,
            )
        )
    return pictures


def curve(
    xs: list[int],
    ys: list[float | None],
    label: str,
    best: int | None,
    caption: str,
    *,
    base: bool = False,
    errors: list[float] | None = None,
) -> Picture:
    """A criterion against the number of groups, its favourite marked."""
    reach = [y + s for y, s in zip(ys, errors, strict=True) if y is not None] if errors else []
    low, high = limits([*ys, *reach, 0.0] if base else [*ys, *reach])
    f = Frame(
        (xs[0] - 0.3, xs[-1] + 0.3),
        (max(low, 0.0) if base else low, high),
        width=400,
        height=250,
        left=62,
    )
    f.axes("number of groups", label)
    if errors:
        for x, y, s in zip(xs, ys, errors, strict=True):
            if y is not None:
                f.line([x, x], [y - s, y + s], "quiet")
    f.line(xs, ys)
    f.dots(xs, ys, r=3.5)
    height = ys[xs.index(best)] if best in xs else None
    if best is not None and height is not None:
        f.shapes.append(circle(f.x(best), f.y(height), 7, "warn faint"))
        f.mark(best, "warn")
        caption += f" Favourite: {best}."
    rows = list(zip(xs, ys, strict=True))
    return Picture(f.svg(f"{label} for {xs[0]} to {xs[-1]} groups"), caption, ("k", label), rows)


def drawn_map(r: dict[str, Any]) -> Picture:
    """The rows on their two widest directions, a tone for every group."""
    seen = r["map"]
    f = Frame(limits(seen["x"]), limits(seen["y"]), width=620, height=400)
    f.axes("first principal component", "second" if seen["directions"] == 2 else "")
    for x, y, label in zip(seen["x"], seen["y"], seen["group"], strict=True):
        tone = f"see g{int(label) % TONES}" if label >= 0 else "quiet faint"
        f.shapes.append(circle(f.x(x), f.y(y), 2.8 if label >= 0 else 2.0, tone))
    for g, (x, y) in enumerate(seen["middles"]):
        f.shapes.append(circle(f.x(x), f.y(y), 9, f"g{g % TONES}"))
        f.shapes.append(
            f'<text x="{f.x(x):.1f}" y="{f.y(y) + 4:.1f}" text-anchor="middle" '
            f'style="fill: var(--paper); font-weight: 600">{g}</text>'
        )
    shown = len(seen["x"])
    hidden = f" ({shown:,} of the rows)" if shown < r["rows"] else ""
    caption = (
        f"Every dot is a row{hidden}, seen from the side on which rows differ most: these two "
        f"directions hold {seen['share']:.0%} of the spread. The numbers mark the middles of the "
        f"groups{'; small grey dots belong to none' if r['noise'] else ''}."
    )
    middles = [(f"group {g}", *middle) for g, middle in enumerate(seen["middles"])]
    alt = f"map of the rows in {len(seen['middles'])} groups"
    return Picture(f.svg(alt), caption, ("group", "first", "second"), middles)
