"""The sentences and tables of the page: plain data in, words out."""

from typing import Any

from markupsafe import Markup

from pellucid.core.figures import told_apart
from pellucid.report import charts
from pellucid.report.words import cells, ends, fixed, number, places_for
from pellucid.study.wording import listed

KIND_WORDS = {
    "binary": "tell two classes apart",
    "multiclass": "name one of {k} classes",
    "multilabel": "say which of {k} labels apply",
    "regression": "predict a number",
    "multi_output_regression": "predict several numbers",
    "ranking": "put the rows of each list in order",
    "clustering": "find groups",
    "anomaly": "find rows unlike the rest",
}
EVIDENCE = {  # key of a finding's evidence -> how a reader says it; "" is not said
    "expected_by_chance": "",
    "least_errors": "errors on the learning rows that no model can avoid",
    "least_error_rate": "as a share",
    "least_rmse": "rmse on the learning rows that no model can get below",
    "greatest_r2": "r2 on the learning rows that no model can exceed",
    "how": "",
    "sentence": "",
    "metric": "",
    "with_columns": "with",
    "ece": "calibration error",
    "band": "by chance at most",
    "edge": "edge of a cube with 1 % of the rows",
    "sds": "standard deviations",
    "cook": "Cook's distance",
    "bound": "a share can be off by",
    "delta": "",
    "said": "",
    "reason": "",
    "gain_low": "the gain lies between",
    "gain_high": "and",
    "columns_looked_at": "columns",
}
CALIBRATED = 0.05  # an error that matters little, as in PEL502
MAIN = 8  # measures shown at once; the others unfold
ASKED_FOR = (
    "accuracy",
    "balanced accuracy",
    "roc auc",
    "average precision",
    "f1",
    "precision",
    "recall",
    "log loss",
    "brier",
    "rmse",
    "mae",
    "r2",
    "median absolute error",
    "ndcg",
)
METRIC_WORDS = {
    "accuracy": "accuracy: the share of rows named right",
    "balanced_accuracy": "balanced accuracy: the share named right, every class counting alike",
    "average_precision": "average precision: how purely the rare class comes first when rows are "
    "sorted by score",
    "roc_auc": "area under the ROC curve: the chance that a positive row scores above a negative",
    "rmse": "root mean squared error, in units of the target",
    "mae": "mean absolute error, in units of the target",
    "r2": "r2: the share of the variance explained",
    "mean_cost": "mean cost of a decision, by the cost matrix given",
    "macro_f1": "macro F1: precision and recall balanced, every label counting alike",
    "ndcg": "ndcg: how well the order puts the best first",
    "poisson_deviance": "Poisson deviance: how far the predicted means are from the counts, where "
    "a miss counts less the larger the mean",
    "gamma_deviance": "Gamma deviance: how far the predicted means are off, in shares of them",
    "tweedie_deviance": "Tweedie deviance (power 1.5): between the Poisson and the Gamma deviance",
    "log_loss": "log loss: surprise at the truth, given the probabilities",
}


def words(r: dict[str, Any]) -> dict[str, Any]:
    """Every sentence and table of the page that is not in the record word for word."""
    task, n, split = r["task"], r["audit"]["n_rows"] if r["audit"] else 0, r["split"]
    target = listed(task["target"]) or "groups"
    source = r["reproduction"].get("name") or r["reproduction"].get("source") or "the table"
    metric = task["metric"].replace("_", " ")
    rows, total = f"{n:,} rows", r["reproduction"].get("table_rows") or n
    if total > n:
        rows = f"{n:,} of {total:,} rows, drawn at random"
    if split:
        rows += (
            f" · {split['n_train']:,} to learn from, {split['n_test']:,} kept aside and used once"
        )
    intervals = [row["interval"] for row in r["leaderboard"]]
    return {
        "title": f"{target}: a study",
        "question": Markup("Can <em>{}</em> be predicted from {}?").format(target, source),
        "subtitle": f"{rows} · seed {r['reproduction'].get('seed', 0)}",
        "metric": metric,
        "better_word": "higher is better" if task["greater_is_better"] else "lower is better",
        "task_words": task_words(task, target),
        "metric_words": f"{METRIC_WORDS.get(task['metric'], metric)}; chosen before any model was "
        "trained",
        "experience": experience(r, source),
        "facts": facts(r, metric),
        "stood_out": [f["title"] for f in (r["audit"] or {}).get("findings", [])],
        "split_caption": split_caption(split),
        "features": [
            (c["name"], c["kind"], c["treatment"], c["n_features"])
            for c in (r["features"] or {}).get("columns", [])
        ],
        "baseline_words": baseline_words(r, metric),
        "board_lead": board_lead(r, metric),
        "places": places_for(
            [i["estimate"] for i in intervals], ranges=[(i["low"], i["high"]) for i in intervals]
        ),
        "settings": [
            (
                row["name"],
                ", ".join(f"{k} = {cell(v)}" for k, v in row["parameters"].items()) or "none",
                "  ".join(number(s) for s in row["folds"]),
            )
            for row in r["leaderboard"]
        ],
        "pairs": len(r["comparison"]["names"]) * (len(r["comparison"]["names"]) - 1) // 2
        if r["comparison"]
        else 0,
        **final_words(r, metric),
        "finding_counts": finding_counts(r["findings"]),
        "coefficient_words": coefficient_words((r["insight"] or {}).get("coefficients")),
        "diagnosis_words": diagnosis_words(r["diagnosis"]),
        "dependence_of": (r["insight"] or {}).get("dependence_of", ""),
        "card": card_rows(r["card"]),
        "card_words": card_words(r.get("learned")),
        "reproduction": reproduction_rows(r["reproduction"]),
    }


def task_words(task: dict[str, Any], target: str) -> str:
    action = KIND_WORDS.get(task["kind"], task["kind"]).format(k=len(task["classes"]))
    classes = f" ({listed(task['classes'], 10)})" if task["classes"] else ""
    positive = f"; {task['positive']} counts as positive" if task["positive"] is not None else ""
    return f"{task['kind'].replace('_', ' ')}: {action}, {target}{classes}{positive}"


def experience(r: dict[str, Any], source: str) -> str:
    if not r["split"]:
        return source
    text = f"{r['split']['n_train']:,} rows of {source}"
    unlabelled = r["task"]["unlabelled"]
    return f"{text}; {unlabelled:,} rows have no target" if unlabelled else text


def facts(r: dict[str, Any], metric: str) -> list[tuple[str, ...]]:
    """The few figures that stand under the verdict."""
    verdict, final = r["verdict"], r["final"]
    if not verdict:
        return []
    i, figures = verdict["interval"], list[tuple[str, ...]]()
    places = places_for([i["estimate"], i["low"], i["high"]], ranges=[(i["low"], i["high"])])
    figures.append(
        (
            fixed(i["estimate"], places),
            f"{metric} on unseen rows",
            f"{100 * i['confidence']:g} %: {ends(i['low'], i['high'], places=places, joint=' – ')}",
        )
    )
    gain = (final or {}).get("gain") or {}
    figures.append((number(verdict["baseline"]), f"{gain.get('yardstick', 'guessing')}, same rows"))
    if final and final["wrong"] is not None:
        figures.append((f"{final['wrong']:,} of {final['n']:,}", "unseen rows wrong"))
    if final and final["reliability"]:
        r_ = final["reliability"]
        figures.append((number(r_["ece"]), "calibration error", calibration_words(**r_)))
    if final and "r2" in final["table"] and metric != "r2":
        figures.append((number(final["table"]["r2"]["estimate"]), "of the variance explained (r2)"))
    return figures


def calibration_words(ece: float, band: float | None = None, **_: object) -> str:
    """What a calibration error means; of few rows a large one may still be chance.

    >>> calibration_words(0.03), calibration_words(0.08, 0.09), calibration_words(0.08, 0.06)
    ('probabilities can be trusted', 'no more than chance makes it', 'probabilities are off')
    """
    if ece <= CALIBRATED:
        return "probabilities can be trusted"
    return "no more than chance makes it" if ece <= (band or 0.0) else "probabilities are off"


def split_caption(split: dict[str, Any] | None) -> str:
    if not split:
        return ""
    folds = len(split["fold_sizes"])
    return (
        f"{split['kind'].capitalize()}: the learning rows are judged in {folds} folds that every "
        "model shares; the rows kept aside are looked at once, at the very end."
    )


def baseline_words(r: dict[str, Any], metric: str) -> str:
    row = r["baseline"]
    if not row:
        return ""
    i = row["interval"]
    near = "" if i["low"] is None else f" (95 % interval {ends(i['low'], i['high'])})"
    return (
        f"{row['name'].capitalize()} gives {metric} {number(i['estimate'])}{near} on the same "
        "folds. A model that does not beat this has learned nothing."
    )


CHOSEN = {  # by what is preferred
    "strong": "Chosen: the best (of classifiers within one standard error of it the one with the "
    "best probabilities), or a simpler one whose loss to it is shown to be below 1 %.",
    "simple": "Chosen: the least complex that is not, and at most one standard error of the "
    "difference behind.",
    "explainable": "Chosen: the best that a person can read, or a simpler one whose loss to it is "
    "shown to be below 1 %.",
}


def board_lead(r: dict[str, Any], metric: str) -> str:
    folds = len(r["split"]["fold_sizes"]) if r["split"] else 0
    prefer = (r["reproduction"].get("plan") or {}).get("prefer", "strong")
    return (
        f"Mean {metric} in {folds} folds of the learning rows; parameters are tuned inside each "
        "fold, or once inside the first where rows are many. Dot and bar: mean with its 95 % "
        "interval; tick: the rows it learned from; dashed line: guessing. “p” asks whether a model "
        "differs from the best (corrected t-test, two-sided, Holm over all pairs, as in the table "
        f"of pairs). {CHOSEN[prefer]}"
    )


def final_words(r: dict[str, Any], metric: str) -> dict[str, Any]:
    final = r["final"]
    if not final:
        blank = ("final_rows", "more_rows", "by_class", "worst_columns", "worst_rows")
        return {name: [] for name in (*blank, "slice_rows")} | {
            "slice_lead": "",
            "final_lead": "",
            "left_out_words": "",
            "confusion": None,
        }
    rows = [
        (
            name.replace("f_beta", "f1").replace("_", " "),
            i["estimate"],
            *cells(i["low"], i["high"]),
            final["baseline"].get(name, {}).get("estimate"),
        )
        for name, i in final["table"].items()
    ]
    own = task_first(rows, r["task"]["metric"].replace("_", " "))
    chosen = next((row["name"] for row in r["leaderboard"] if row["chosen"]), "the chosen model")
    lead = (
        f"{sentence(chosen)[:-1]}, fitted on all learning rows, on {final['n']:,} rows it had "
        f"never met. {saved_words(r.get('learned'), r['reproduction'])}"
    )
    columns, worst = worst_table(final["worst"] or [], r["task"]["target"])
    return {
        "final_lead": lead,
        "final_rows": own[:MAIN],
        "more_rows": own[MAIN:],
        "left_out_words": left_out_words(
            final["with_left_out"], metric, r["task"]["greater_is_better"]
        ),
        "confusion": confusion_table(final["confusion"]),
        "by_class": [
            (c["label"], c["n"], c["precision"], c["recall"], c["recall_low"], c["recall_high"])
            for c in final["by_class"] or []
        ],
        "worst_columns": columns,
        "worst_rows": worst,
        **slice_words(final, classes=bool(r["task"]["classes"])),
    }


def saved_words(learned: dict[str, int] | None, about: dict[str, Any]) -> str:
    """Which file holds the model that was scored, and what the other one has learned from.

    >>> saved_words({"tested": 8, "model": 8}, {})
    'This is the score of model.pellucid: it was not refitted on all rows.'
    """
    if not learned:  # a report of before there were two models
        return "This very model is the one saved."
    if learned["model"] == learned["tested"]:
        return "This is the score of model.pellucid: it was not refitted on all rows."
    of = " of the sample" if about.get("table_rows", 0) > about.get("rows", 0) else ""
    return (
        f"This is the score of tested.pellucid. model.pellucid, the one to use, is the same model "
        f"fitted again on all {learned['model']:,} rows{of}, including these, so it cannot be "
        "tested on them."
    )


def card_words(learned: dict[str, int] | None) -> str:
    """Of which model the card is.

    >>> card_words({"tested": 8, "model": 10})
    'Of model.pellucid, fitted on 10 rows.'
    """
    return f"Of model.pellucid, fitted on {learned['model']:,} rows." if learned else ""


def slice_words(final: dict[str, Any], *, classes: bool) -> dict[str, Any]:
    """The table of slices and the sentence above it."""
    slices = final.get("slices")
    what, name = ("share wrong", "error") if classes else ("mean absolute error", "mae")
    whole = final["table"].get(name, {}).get("estimate")
    of_all = "" if whole is None else f" (of all: {number(whole)})"
    rows = [
        (
            f"{one['column']}: {one['slice']}",
            one["n"],
            one["error"],
            *cells(one["low"], one["high"]),
        )
        for one in slices or []
    ]
    beyond = [one for one in slices or [] if one["beyond"]]
    lead = (
        f"Rows kept aside, by one column at a time; {what}{of_all} with intervals that hold for "
        "all slices together, the highest lower end first. "
    )
    if beyond:
        first = beyond[0]
        lead += f"Worse than elsewhere beyond chance: {first['column']}, {first['slice']}."
    elif any(one["beyond"] is None for one in slices or []):
        lead += "Rows hang together here, so that a difference may be chance."
    else:
        lead += "None is worse than the whole beyond chance."
    return {"slice_lead": lead, "slice_rows": rows}


def left_out_words(beside: dict[str, Any] | None, metric: str, greater: bool) -> str:
    """What the columns that were left out would have changed, and what to make of it."""
    if not beside:
        return ""
    better, plain = beside["with"], beside["without"]
    names = listed([f"“{name}”" for name in beside["columns"]], 6)
    one = len(beside["columns"]) == 1
    said = [f"{number(i['estimate'])} ({ends(i['low'], i['high'])})" for i in (better, plain)]
    text = (
        f"With {names}, which {'was' if one else 'were'} left out, {metric} on the folds would "
        f"have been {said[0]}; without, it is {said[1]}."
    )
    clear = better["low"] > plain["high"] if greater else better["high"] < plain["low"]
    if clear:
        known = "it is" if one else "they are"
        return f"{text} Keep {'it' if one else 'them'} only if {known} known before the target is."
    worse = better["high"] < plain["low"] if greater else better["low"] > plain["high"]
    what = "made it better" if worse else "changed little: the intervals overlap"
    return f"{text} Leaving {'it' if one else 'them'} out {what}."


def task_first(rows: list[Any], metric: str) -> list[Any]:
    """The study's own measure, then those people ask for, then the rest."""
    order = {name: i for i, name in enumerate((metric, *ASKED_FOR))}
    return sorted(rows, key=lambda row: order.get(row[0], len(order)))


def confusion_table(c: dict[str, Any] | None) -> dict[str, Any] | None:
    if not c or len(c["labels"]) > 30:
        return None
    lines = []
    for i, (label, counts) in enumerate(zip(c["labels"], c["counts"], strict=True)):
        total = sum(counts) or 1
        cells = [
            {
                "count": number(n),
                "share": round(100 * n / total),
                "kind": "hit" if i == j else "miss",
            }
            for j, n in enumerate(counts)
        ]
        recall = f"{100 * counts[i] / total:.0f} %" if sum(counts) else "–"
        lines.append({"label": label, "cells": cells, "recall": recall})
    return {"labels": c["labels"], "lines": lines}


def worst_table(
    worst: list[dict[str, Any]], target: list[str]
) -> tuple[tuple[str, ...], list[Any]]:
    if not worst:
        return (), []
    names = [n for n in worst[0]["cells"] if n not in target][:6]
    rows = [
        (w["row"], w["actual"], w["predicted"], w["loss"], *(w["cells"].get(k) for k in names))
        for w in worst
    ]
    return ("row", "actual", "predicted", "loss", *(charts.short(n, 20) for n in names)), rows


def finding_counts(findings: list[dict[str, Any]]) -> str:
    """
    >>> finding_counts([{"severity": "info"}, {"severity": "warning"}, {"severity": "warning"}])
    '2 warnings and 1 note.'
    """
    parts = []
    for severity, name in (("error", "error"), ("warning", "warning"), ("info", "note")):
        count = sum(f["severity"] == severity for f in findings)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return f"{listed(parts)}." if parts else ""


def coefficient_words(c: dict[str, Any] | None) -> str:
    if not c:
        return ""
    of = c.get("of", "")
    whose = f"Of {of}. " if of else "Fitted on the learning rows. "
    same = "Columns are standardised, so sizes can be compared."
    if c["valid"]:
        return f"{whose}{same} Bars: 95 % intervals."
    why = sentence(c["reason"])
    return (
        f"{whose}{same} There are no standard errors: {why[:1].lower()}{why[1:]}" if why else same
    )


def diagnosis_words(d: dict[str, Any] | None) -> str:
    if not d:
        return ""
    advice = f" Try: {listed(d['remedies'])}." if d["remedies"] else ""
    return sentence(d["sentence"]) + advice


def sentence(text: str) -> str:
    """With a capital and a full stop.

    >>> sentence("train and test agree")
    'Train and test agree.'
    """
    return f"{text[:1].upper()}{text[1:]}".rstrip(". ") + "." if text else ""


def _is_figure(text: object) -> bool:
    """Whether a text is a number that was written out, as the ends of a narrow interval are."""
    return isinstance(text, str) and set(text) <= set("0123456789.,-–e")


def sides(rows: list[Any]) -> list[Markup]:
    """Columns of numbers stand to the right, words to the left.

    >>> [str(s) for s in sides([("a", 1), ("b", None)])]
    ['', ' class="num"']
    """
    columns = list(zip(*rows, strict=True))
    return [
        Markup(' class="num"')
        if all(v is None or isinstance(v, int | float) or _is_figure(v) for v in column)
        else Markup("")
        for column in columns
    ]


def card_rows(card: dict[str, Any] | None) -> list[tuple[str, str]]:
    return [(str(k).replace("_", " ").capitalize(), flat(v)) for k, v in (card or {}).items() if v]


def reproduction_rows(data: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (str(k).replace("_", " ").capitalize(), flat(v))
        for k, v in data.items()
        if k not in ("command", "name") and v not in (None, "", [], {})
    ]


def flat(value: object) -> str:
    """Nested plain data on one line."""
    if isinstance(value, dict):
        return "; ".join(f"{k} {flat(v)}" for k, v in value.items() if v not in (None, "", [], {}))
    if isinstance(value, list):
        return "; ".join(flat(v) for v in value)
    return number(value)


def cell(value: object, digits: int = 3) -> str:
    """A cell of a table.

    >>> cell(0.123456), cell(None), cell("x" * 100)[-1], cell([1, 2])
    ('0.123', '–', '…', '1 and 2')
    """
    if isinstance(value, list | tuple):
        return listed([cell(v) for v in value], 8)
    if isinstance(value, dict):  # yes and no are for programs
        told = {k: v for k, v in value.items() if not isinstance(v, bool)}
        return flat({str(k).replace("_", " "): v for k, v in told.items()})
    text = number(value, digits)
    return text if len(text) <= 80 else f"{text[:79]}…"


def column_range(c: dict[str, Any]) -> str:
    if c["kind"] in ("category", "truth", "list") and c["counts"]:
        return charts.short(listed([name for name, _ in c["counts"]], 4), 60)
    if c["low"] is not None:
        low, high = told_apart(c["low"], c["high"], cell)
        return f"{low} – {high}"
    return ""


def column_shape(c: dict[str, Any]) -> Markup:
    counts = [n for _, n in c["counts"]]
    if len(counts) < 2:
        return Markup("")
    return charts.histogram(counts, f"distribution of {c['name']}")


def evidence_words(evidence: dict[str, Any]) -> str:
    """The numbers behind a finding, the first few.

    >>> evidence_words({"share": {"sex": 0.032, "age": 0.5}, "rows": 12})
    'share sex 3.2 %, age 50 %; rows 12'
    >>> evidence_words({"how": "bins", "without": {"estimate": 6.3, "low": 3.0, "high": 11.0}})
    'without 6.3 (3 to 11)'
    """
    parts = []
    told = [(k, v) for k, v in evidence.items() if EVIDENCE.get(k, k) and not _unsaid(v)]
    for key, value in told[:4]:
        name = EVIDENCE.get(key, key.replace("_", " "))
        shown = share if key.startswith("share") else cell
        if isinstance(value, dict) and {"estimate", "low", "high"} <= value.keys():
            near = ends(value["low"], value["high"])
            parts.append(f"{name} {number(value['estimate'])} ({near})")
        elif isinstance(value, dict):
            items = [f"{k} {shown(v)}" for k, v in list(value.items())[:3]]
            parts.append(f"{name} {', '.join(items)}{', …' if len(value) > 3 else ''}")
        else:
            parts.append(f"{name} {shown(value)}")
    return charts.short("; ".join(parts), 160)


def _unsaid(value: object) -> bool:
    """Yes and no, nothing, and lists of lists are for programs."""
    nested = isinstance(value, list | tuple) and any(isinstance(v, list | tuple) for v in value)
    return value is None or isinstance(value, bool) or nested


def share(value: Any) -> str:
    """
    >>> share(0.00581), share(0.25)
    ('0.58 %', '25 %')
    """
    return f"{number(100 * value, 2)} %" if isinstance(value, int | float) else cell(value)
