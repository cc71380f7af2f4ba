"""The pictures of the report, each from the plain data of ``report.json`` (see study.records)."""

from typing import Any

from markupsafe import Markup

from pellucid.report import charts
from pellucid.report.charts import Frame, limits
from pellucid.report.words import ends, fixed, number

TONES = ("accent", "warn", "ink", "bad")  # of the lines of a picture
MOST_NAMES = 20  # rows in a picture of named estimates; the table has them all


class Picture:
    """A drawing with the words above it and the numbers behind it."""

    def __init__(self, svg: Markup, caption: str, columns: tuple[str, ...], rows: list[Any]):
        self.svg, self.caption, self.columns, self.rows = svg, caption, columns, rows


def board(rows: list[dict[str, Any]], metric: str) -> list[Markup]:
    """A strip per candidate on one axis; guessing is a line on it, not a row that stretches it."""
    models = [r for r in rows if r["complexity"] > 0] or rows
    span = limits([v for r in models for v in (r["interval"]["low"], r["interval"]["high"])], 0.12)
    guess = next((r["interval"]["estimate"] for r in rows if r["complexity"] == 0), None)
    strips = []
    for r in rows:
        i = r["interval"]
        alt = f"{metric} {fixed(i['estimate'])}, interval {ends(i['low'], i['high'], places=3)}"
        outside = r["complexity"] == 0 and not span[0] <= i["estimate"] <= span[1]
        strips.append(
            Markup('<span class="quiet">off the scale</span>')
            if outside
            else charts.strip(
                i["estimate"],
                i["low"],
                i["high"],
                span=span,
                train=r["train_score"],
                guess=guess,
                chosen=r["chosen"],
                alt=alt,
            )
        )
    return strips


def split(record: dict[str, Any]) -> Markup:
    """Learning rows cut into folds, then the rows kept aside."""
    judged = [judge for _, judge in record["fold_sizes"]]
    n_train, n_test = record["n_train"], record["n_test"]
    if record["kind"] == "sequential" or sum(judged) != n_train:
        pieces = [(f"{n_train:,} rows to learn from", n_train, "learn")]
    else:
        pieces = [(f"{size:,}", size, "learn") for size in judged]
    pieces.append((f"{n_test:,} kept aside", n_test, "kept"))
    alt = f"{n_train} rows to learn from in {len(judged)} folds, {n_test} rows kept aside"
    return charts.parts(pieces, alt)


def reliability(r: dict[str, Any]) -> Picture:
    """Observed share against predicted probability, with the interval of each bin."""
    f = Frame((0, 1), (0, 1), width=360, height=330).axes("predicted probability", "observed share")
    f.line([0, 1], [0, 1], "quiet", dashed=True)
    for p, low, high in zip(r["predicted"], r["low"], r["high"], strict=True):
        if low is not None and high is not None:
            f.line([p, p], [low, high], "accent")
    f.dots(r["predicted"], r["observed"], r=4)
    alt = f"reliability diagram, expected calibration error {number(r['ece'])}"
    caption = (
        "Of the rows given a probability, the share that came true. On the diagonal, probabilities "
        f"mean what they say. Expected calibration error {number(r['ece'])}."
    )
    rows = list(zip(r["counts"], r["predicted"], r["observed"], r["low"], r["high"], strict=True))
    return Picture(f.svg(alt), caption, ("rows", "predicted", "observed", "low", "high"), rows)


def thresholds(t: dict[str, Any]) -> Picture:
    """Precision and recall, and the cost where one was given, against the threshold."""
    x = t["thresholds"]
    f = Frame((0, 1), (0, 1), width=440, height=330).axes("threshold", "share")
    f.line(x, t["precision"], "accent")
    f.line(x, t["recall"], "ink", dashed=True)
    f.mark(t["chosen"], "warn", f"{number(t['chosen'])}")
    caption = (
        "Precision (line) and recall (dashes) at every threshold. The one taken is "
        f"{number(t['chosen'])}: {t.get('why') or 'as given'}."
    )
    rows = list(zip(x, t["precision"], t["recall"], strict=True))
    return Picture(
        f.svg(f"precision and recall against the threshold; chosen {number(t['chosen'])}"),
        caption.strip(),
        ("threshold", "precision", "recall"),
        thinned(rows),
    )


def roc(r: dict[str, Any]) -> Picture:
    """The share of positives found against the share of false alarms."""
    f = Frame((0, 1), (0, 1), width=360, height=330).axes("false alarms", "positives found")
    f.line([0, 1], [0, 1], "quiet", dashed=True)
    f.line(r["false"], r["true"], "accent")
    caption = (
        "What share of the positive rows is found at what share of false alarms, as the threshold "
        f"falls. Area {number(r['area'])}; guessing is the diagonal, 0.5."
    )
    rows = list(zip(r["false"], r["true"], strict=True))
    alt = f"ROC curve, area {number(r['area'])}"
    return Picture(f.svg(alt), caption, ("false alarms", "found"), thinned(rows))


def residual_pictures(r: dict[str, Any]) -> list[Picture]:
    """Predicted against actual, and the errors against the prediction."""
    actual, predicted = r["actual"], r["predicted"]
    lim = limits([*actual, *predicted])
    size = max(1.5, min(3.5, 60 / max(len(actual), 1) ** 0.5))
    f = Frame(lim, lim, width=400, height=360).axes("actual", "predicted")
    f.line(lim, lim, "quiet", dashed=True)
    f.dots(actual, predicted, "accent faint", r=size)
    errors = [a - b for a, b in zip(actual, predicted, strict=True)]
    g = Frame(limits(predicted), limits(errors), width=400, height=360)
    g.axes("predicted", "actual - predicted").level(0.0)
    g.dots(predicted, errors, "accent faint", r=size)
    rows = thinned(list(zip(actual, predicted, errors, strict=True)), 60)
    columns = ("actual", "predicted", "error")
    return [
        Picture(f.svg("predicted against actual values"), "On the diagonal: exact.", columns, rows),
        Picture(
            g.svg("errors against predictions"),
            "A shapeless band round zero is what a good model leaves behind.",
            columns,
            rows,
        ),
    ]


def coefficients(c: dict[str, Any]) -> Picture:
    rows = sorted(c["rows"], key=lambda r: -abs(r["estimate"] or 0.0))
    rows = [r for r in rows if not r["name"].lower().endswith("intercept")]
    shown = rows[:MOST_NAMES]
    svg = charts.whiskers(
        [r["name"] for r in shown],
        [r["estimate"] for r in shown],
        [r["low"] for r in shown],
        [r["high"] for r in shown],
        label="coefficient, 95 % interval" if c["valid"] else "coefficient",
        alt="coefficients with intervals, largest first",
    )
    left = len(rows) - len(shown)
    caption = "Largest first." + (f" {left} more in the table." if left > 0 else "")
    keys = ("name", "estimate", "standard_error", "statistic", "p_value", "low", "high")
    table = [[r.get(k) for k in keys] for r in c["rows"]]
    columns = ("term", "estimate", "standard error", "statistic", "p", "low", "high")
    return Picture(svg, caption, columns, table)


def importance(rows: list[dict[str, Any]], metric: str) -> Picture:
    shown = rows[:MOST_NAMES]
    svg = charts.whiskers(
        [r["name"] for r in shown],
        [r["estimate"] for r in shown],
        [r["low"] for r in shown],
        [r["high"] for r in shown],
        label=f"loss of {metric} when the column is shuffled",
        alt="permutation importance of the columns, largest first",
        bars=True,
    )
    table = [[r["name"], r["estimate"], r["low"], r["high"]] for r in rows]
    caption = (
        "How much worse the score gets when one column is shuffled, for the models of the folds on "
        "learning rows they had not met. Columns that say the same thing share their importance."
    )
    return Picture(svg, caption, ("column", "importance", "low", "high"), table)


def dependence(curves: list[dict[str, Any]]) -> Picture:
    """Mean prediction as one column moves and the others stay; a line for each class."""
    name, values = curves[0]["name"], curves[0]["values"]
    outputs = [curve.get("output") or "prediction" for curve in curves]
    rows = list(zip(values, *(curve["mean"] for curve in curves), strict=True))
    if curves[0].get("kind") == "category":
        svg = level_picture(curves, outputs)
    else:
        svg = line_picture(curves, outputs)
    caption = f"{name}: {outputs[0] if len(curves) == 1 else 'probability of each class'}"
    return Picture(svg, caption, (name, *outputs), rows)


def line_picture(curves: list[dict[str, Any]], outputs: list[str]) -> Markup:
    every = [v for c in curves for key in ("mean", "low", "high") for v in c.get(key) or []]
    several, values = len(curves) > 1, curves[0]["values"]
    dates = any(isinstance(v, str) for v in values)  # drawn in their order, named at the ends
    places = list(range(len(values))) if dates else values
    f = Frame(
        limits(places, 0.02),
        limits(every, 0.08),
        width=410 if several else 320,
        height=240,
        right=110 if several else 14,
    ).axes(charts.short(curves[0]["name"]), x_ticks=not dates)
    if dates:
        f.text(f.x(places[0]), f.bottom + 17, str(values[0])[:10])
        f.text(f.x(places[-1]), f.bottom + 17, str(values[-1])[:10], "end")
    heights = charts.apart([f.y(curve["mean"][-1]) + 4 for curve in curves], 13)
    for curve, output, kind, height in zip(curves, outputs, TONES, heights, strict=False):
        mean = curve["mean"]
        if curve.get("low") and curve.get("high"):
            f.band(places, curve["low"], curve["high"], kind)
        f.line(places, mean, kind)
        if several:
            label = charts.short(output.removeprefix("probability of "), 14)
            f.text(f.right + 6, height, label, "start", "name")
    return f.svg(f"mean prediction against {curves[0]['name']}: {', '.join(outputs)}")


def level_picture(curves: list[dict[str, Any]], outputs: list[str]) -> Markup:
    """One line of the picture for each level of a category, and each class in it."""
    names, mean, low, high = [], [], [], []
    for i, level in enumerate(curves[0]["values"]):
        for curve, output in zip(curves, outputs, strict=True):
            short = output.removeprefix("probability of ")
            names.append(str(level) if len(curves) == 1 else f"{level}: {short}")
            mean.append(curve["mean"][i])
            low.append((curve.get("low") or [None] * (i + 1))[i])
            high.append((curve.get("high") or [None] * (i + 1))[i])
    return charts.whiskers(
        names[:MOST_NAMES],
        mean,
        low,
        high,
        label="mean prediction",
        alt=f"mean prediction for each level of {curves[0]['name']}",
    )


def learning_curve(c: dict[str, Any], metric: str) -> Picture:
    bounds = limits([*c["train"], *c["test"], *c["test_low"], *c["test_high"]], 0.08)
    f = Frame(limits(c["sizes"], 0.03), bounds, width=440, height=300)
    f.axes("rows to learn from", metric)
    f.band(c["sizes"], c["test_low"], c["test_high"])
    f.line(c["sizes"], c["train"], "ink", dashed=True)
    f.line(c["sizes"], c["test"])
    f.dots(c["sizes"], c["test"])
    rows = list(zip(c["sizes"], c["train"], c["test"], strict=True))
    return Picture(
        f.svg("score against the number of training rows"),
        "Line: unseen rows, with one standard error. Dashes: the rows it learned from. Still "
        "getting better at the right: more rows would help; a lasting gap: too flexible.",
        ("rows", "learned from", "unseen"),
        rows,
    )


def complexity_curve(c: dict[str, Any], metric: str) -> Picture:
    places = list(range(len(c["values"])))
    train = c["train"] or [None] * len(places)
    low, high = spread(c["test"], c["test_se"], -1), spread(c["test"], c["test_se"], 1)
    f = Frame(
        (-0.4, len(places) - 0.6),
        limits([*train, *c["test"], *low, *high], 0.08),
        width=440,
        height=300,
    )
    f.axes(f"{c['parameter']}, simplest first", metric, x_ticks=False)
    every = max(1, -(-len(places) // 8))
    for i in places[::every]:
        f.text(f.x(i), f.bottom + 17, number(c["values"][i]), "middle")
    for i, a, b in zip(places, low, high, strict=True):
        f.line([i, i], [a, b])
    f.line(places, train, "ink", dashed=True)
    f.line(places, c["test"])
    f.dots(places, c["test"])
    chosen = [i for i, v in enumerate(c["values"]) if alike(v, c["chosen"])]
    if chosen:
        f.mark(chosen[0], "warn", "chosen")
    rows = list(zip(c["values"], train, c["test"], c["test_se"], strict=True))
    return Picture(
        f.svg(f"score against {c['parameter']}; chosen {number(c['chosen'])}"),
        "Line: unseen rows, with one standard error. Dashes: the rows it learned from.",
        (c["parameter"], "learned from", "unseen", "standard error"),
        rows,
    )


def spread(middle: list[Any], error: list[Any], sign: int) -> list[float | None]:
    """middle + sign * error, where both are known."""
    pairs = zip(middle, error, strict=True)
    return [None if m is None or e is None else m + sign * e for m, e in pairs]


def alike(a: Any, b: Any) -> bool:
    """Equal, or equal up to what JSON and arithmetic leave of a number."""
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))
    return bool(a == b)


def thinned(rows: list[Any], most: int = 40) -> list[Any]:
    """Evenly spaced rows of a long table.

    >>> thinned(list(range(10)), 4)
    [0, 3, 6, 9]
    """
    if len(rows) <= most:
        return rows
    step = (len(rows) - 1) / (most - 1)
    return [rows[round(i * step)] for i in range(most)]
