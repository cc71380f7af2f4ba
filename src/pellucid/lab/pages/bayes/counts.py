"""Bayes' rule on counts: the prior, then one piece of evidence after the other."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pellucid import CategoricalNB
from pellucid.lab.drawing import hushed, number
from pellucid.lab.pages.bayes.rows import CELLS, Rows, Story, asked, belief_panel, still
from pellucid.lab.scene import area, lattice, line, plane, regions, segments, table
from pellucid.lab.trace import Frame
from pellucid.maths import bayes_rule


class Case(NamedTuple):
    """The models with no, one and both columns, how rows are read, and the query in numbers."""

    models: list[Any]
    read: Callable[[Any], Any]  # rows -> ranges
    place: Any  # (2,) of the query
    prior: Any  # (classes,)
    like: Any  # (classes, 2) of the query
    edges: Any


def counted(rows: Rows, params: dict[str, Any], seed: int) -> Story:
    """Columns in ranges: prior, then one piece of evidence after the other."""
    alpha, bins = params["alpha"], params["ranges"]
    edges = np.linspace(rows.data.X.min(axis=0), rows.data.X.max(axis=0), bins + 1)

    def read(X: np.ndarray) -> Any:
        return np.column_stack([np.digitize(X[:, j], edges[1:-1, j]) for j in (0, 1)])

    cells, place = read(rows.X), read(rows.query[None])[0]
    models: list[Any] = [None]
    with warnings.catch_warnings(record=True, action="always") as heard:  # a zero count
        nb = CategoricalNB(alpha=alpha, min_categories=bins)
        models += [clone(nb).fit(cells[:, :width], rows.y) for width in (1, 2)]
    prior = models[2].class_count_ / models[2].class_count_.sum()
    columns = zip(models[2].feature_log_prob_, place, strict=True)
    like = np.exp([table_[:, v] for table_, v in columns]).T
    case = Case(models, read, place, prior, like, edges)
    frames = [count_frame(rows, case, k) for k in (0, 1, 2)]
    frames.append(truth_frame(rows, case, frames[-1]))
    zero = (like == 0.0).any()
    words = "A count of zero is a probability of zero: that class is out, whatever else is known. "
    verdict = (words if zero else "") + (
        f"Naive Bayes gets {number(frames[-1].objective or 0.0)} of the training rows and "
        f"{number(frames[-1].held_out or 0.0)} of the held-out rows wrong."
    )
    between = (
        f"edges = np.linspace(X.min(axis=0), X.max(axis=0), {bins + 1})[1:-1]\n"
        "X = np.column_stack([np.digitize(X[:, j], edges[:, j]) for j in (0, 1)])\n"
    )
    code = (
        hushed(heard[0].category.__name__ if heard else "")
        + "from pellucid import CategoricalNB\n\n"
        f"model = CategoricalNB(alpha={alpha}, min_categories={bins}).fit(X, y)\n"
        "objective = float((model.predict(X) != y).mean())  # share of wrong training rows\n"
    )
    card = models[2].card().to_dict()
    panels = [still(rows, "Rows in ranges, and the cell of the query")]
    objective = "share of training rows that are wrong"
    return Story("CategoricalNB", card, panels, frames, objective, verdict, code, between)


def posterior_of(prior: Any, like: Any) -> tuple[Any, str]:
    """Bayes' rule, or what it says where every class is out."""
    if not like.shape[1]:
        return prior, ""
    if not (prior * like.prod(axis=1)).any():
        return np.zeros_like(prior), "0/0: every class has met a zero count, no posterior exists"
    return bayes_rule(prior, like).posterior, ""


def count_words(prior: Any, like: Any, posterior: Any, lost: str, k: int) -> str:
    if k == 0:
        return "P(c) = n_c / n: " + ", ".join(f"P({c}) = {number(p)}" for c, p in enumerate(prior))
    parts = []
    for c in range(len(prior)):
        factors = " · ".join(number(v) for v in (prior[c], *like[c, :k]))
        parts.append(f"class {c}: {factors} = {number(prior[c] * like[c, :k].prod())}")
    end = lost or ", ".join(f"P({c} | x) = {number(p)}" for c, p in enumerate(posterior))
    return f"P(c) Π P(xⱼ | c): {'; '.join(parts)} → {end}"


def cell_marks(place: Any, edges: Any, box: Any) -> list[Any]:
    """The lines between ranges, and the cell that the query is in."""
    x, y = edges[1:-1, 0], edges[1:-1, 1]
    marks = [
        segments(x, np.full_like(x, box[2]), x, np.full_like(x, box[3]), dashed=True),
        segments(np.full_like(y, box[0]), y, np.full_like(y, box[1]), y, dashed=True),
    ]
    lows = [box[0], *x], [box[2], *y]
    highs = [*x, box[1]], [*y, box[3]]
    (left, bottom), (right, top) = ((x[place[0]], y[place[1]]) for x, y in (lows, highs))
    corners = ([left, right, right, left, left], [bottom, bottom, top, top, bottom])
    return [*marks, area(*corners, opacity=0.12), line(*corners, width=1.5)]


def count_frame(rows: Rows, case: Case, k: int) -> Frame:
    """Prior (k = 0), with the first column, with both."""
    models, read, place, prior, like, edges = case
    posterior, lost = posterior_of(prior, like[:, :k])
    best = int(prior.argmax())

    def said(X: np.ndarray) -> Any:
        return np.full(len(X), best) if k == 0 else models[k].predict(read(X)[:, :k])

    train = float((said(rows.X) != rows.y).mean())
    test = float((said(rows.X_test) != rows.y_test).mean())
    codes = np.asarray(said(lattice(rows.box, CELLS)[2]), int).reshape(CELLS, CELLS)
    numbers = {
        "evidence used": ", ".join(f"range of {name}" for name in rows.data.names[:k]) or "none",
        "class of the query": int(posterior.argmax()),
        "its probability": float(posterior.max()),
        "training error": train,
        "held-out error": test,
    }
    marks = [regions(codes, rows.box), *cell_marks(place, edges, rows.box), asked(rows)]
    product = prior * like[:, :k].prod(axis=1)
    body = [
        [c, *(round(float(v), 4) for v in (prior[c], *like[c], product[c], posterior[c]))]
        for c in range(rows.K)
    ]
    title, lit = "Bayes' rule, class by class", [(c, k + 1) for c in range(rows.K)]
    columns = ("c", "P(c)", "P(x₁|c)", "P(x₂|c)", "product", "P(c|x)")
    alt = "Prior, likelihoods, product and posterior of every class."
    scene = [
        plane("data", marks, box=rows.box, alt="Ranges of the columns and the query's cell."),
        table("counts", columns, body, title=title, lit=lit, alt=alt),
        belief_panel(prior, posterior),
    ]
    formula = count_words(prior, like, posterior, lost, k)
    return Frame(k, train, None, formula, numbers, {"panels": scene}, test)


def truth_frame(rows: Rows, case: Case, before: Frame) -> Frame:
    """The shares of the rows that really are in the query's cell."""
    here = (case.read(rows.X) == case.place).all(axis=1)
    count = np.bincount(rows.y[here], minlength=rows.K)
    posterior = posterior_of(case.prior, case.like)[0]
    shares = ", ".join(f"class {c}: {v}" for c, v in enumerate(count))
    formula = (
        f"rows in the cell of the query: {shares}; by counting alone P({int(count.argmax())} | x) ="
        f" {int(count.max())}/{int(count.sum())}, naive Bayes says P({int(posterior.argmax())} | x)"
        f" = {number(posterior.max())} from {len(rows.y)} rows instead of {int(count.sum())}"
    )
    numbers = {
        "rows in the cell": int(count.sum()),
        "most common class there": int(count.argmax()),
        "naive Bayes says": int(posterior.argmax()),
        "its probability": float(posterior.max()),
    }
    return before._replace(step=3, formula=formula, numbers=numbers)
