"""Words and pictures of ``pellucid cluster``, each from the plain data of its report.json."""

from typing import Any

from pellucid.report.charts import Frame, circle, limits
from pellucid.report.pictures import Picture
from pellucid.report.tables.pages import TONES, Page, Section, row_words
from pellucid.report.words import number
from pellucid.study.tables.group_words import NAMES, chosen
from pellucid.study.wording import listed


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
