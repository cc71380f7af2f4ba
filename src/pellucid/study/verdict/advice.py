"""Which method suits: the decision tables of the course, as advice with a reason.

A table is a list of rules in the order in which they are asked; every rule that holds gives one
line of advice. What is known decides first: everything (Bayes' rule), the form of the
distributions (estimate, then decide), labels only (discriminate), nothing (find structure).
"""

from collections.abc import Iterable

from pellucid.core.arrays import check
from pellucid.core.records import Advice
from pellucid.reinforcement.advice import CONTROL
from pellucid.study.records import KINDS

KNOWLEDGE = {
    "full": (
        "Bayes' rule or a Bayesian network",
        "the distributions are known: decide for the class of least expected cost",
    ),
    "form": (
        "estimate the parameters, then a generative model",
        "the form of the distributions is known: fit its parameters and apply Bayes' rule",
    ),
    "labels": (
        "a discriminative model",
        "only labelled rows are known: model the target given the inputs, nothing more",
    ),
    "none": (
        "unsupervised learning",
        "there are no labels: look for clusters, components or densities",
    ),
}
NEEDS = {
    "interpret": ("a tree or a linear model", "each prediction can be read off by a person"),
    "missing": ("a generative model", "what is missing is summed out of the joint distribution"),
    "generate": ("a generative model", "new rows can be drawn from the joint distribution"),
    "any_query": ("a generative model", "any variable can be asked for, given any others"),
    "sparse": ("the lasso", "its penalty sets coefficients exactly to zero"),
    "grouped": ("the elastic net", "correlated columns enter and leave together"),
    "small_data": ("naive Bayes", "few parameters, each estimated from one column"),
    "robust": ("logistic regression", "it assumes nothing about how the inputs are distributed"),
    "stream": ("stochastic gradient descent", "a row is used once and need not be kept"),
    "image": ("a convolutional network", "the same pattern may stand anywhere in the picture"),
    "sequence": ("a recurrent network", "what came before is carried along"),
    "transitive": (
        "single linkage, spectral or density clustering",
        "neighbours of neighbours belong together, whatever the shape",
    ),
    "proximity": ("k-means or a mixture", "members are near a common centre"),
    **CONTROL,
    "variance": ("bagging", "the mean of unstable models varies less"),
    "bias": ("boosting", "each model mends what the ones before it leave"),
    "combine": ("stacking", "a model learns how far to trust each of several different ones"),
}
TOPICS = {
    "transitive": "similarity",
    "proximity": "similarity",
    "known_model": "control",
    "fixed_policy": "control",
    "control": "control",
    "large_states": "control",
    "variance": "ensemble",
    "bias": "ensemble",
    "combine": "ensemble",
}
CUBE = 5_000  # columns whose cubed count of operations is affordable
MANY_ROWS = 100_000
MANY_FOR_PAIRS = 10_000  # rows from which K(K-1)/2 small problems beat K large ones
SUBSET, TREE_COLUMNS = 40, 15


def advise(
    *,
    kind: str,
    n_rows: int,
    n_columns: int,
    n_classes: int | None = None,
    knowledge: str = "labels",
    needs: Iterable[str] = (),
) -> list[Advice]:
    """What the decision tables say about a task of this size.

    Parameters
    ----------
    kind : str
        As ``Task.kind``: binary, multiclass, regression, ... or control.
    n_rows, n_columns : int
        The size of the table, without the target.
    n_classes : int, optional
        How many classes the target has.
    knowledge : {"full", "form", "labels", "none"}, default="labels"
        What is known: all distributions, their form, labels, nothing.
    needs : iterable of str
        Of interpret, missing, generate, any_query, sparse, grouped, small_data, robust, stream,
        image, sequence, transitive, proximity, known_model, fixed_policy, control, large_states,
        variance, bias, combine.

    Examples
    --------
    >>> from pellucid.study import advise
    >>> for line in advise(kind="regression", n_rows=500, n_columns=20, needs=["sparse"]):
    ...     print(line.topic, "->", line.choice)
    model -> a discriminative model
    sparse -> the lasso
    solver -> closed form
    selection -> best subset
    neighbours -> hashing
    """
    check.one_of((*KINDS, "control"), kind=kind)
    check.whole(n_rows=n_rows, n_columns=n_columns)
    check.one_of(tuple(KNOWLEDGE), knowledge=knowledge)
    needs = [needs] if isinstance(needs, str) else list(needs)
    for need in needs:
        check.one_of(tuple(NEEDS), needs=need)
    if n_classes is not None:
        check.whole(at_least=2, n_classes=n_classes)
    unlabelled = kind in ("clustering", "anomaly")
    known = "none" if unlabelled and knowledge == "labels" else knowledge
    lines = [Advice("model", *KNOWLEDGE[known])]
    lines += [Advice(TOPICS.get(need, need), *NEEDS[need]) for need in needs]
    if kind == "control":
        return lines[1:] if needs else _control()
    if kind in ("binary", "multiclass") and (n_classes or 2) > 2:
        lines.append(_multiclass(n_rows, n_classes or 2))
    if not unlabelled:
        lines.append(_solver(n_rows, n_columns))
        if kind in ("binary", "multiclass"):
            lines.append(_svm_form(n_rows, n_columns))
        lines.append(_selection(n_rows, n_columns))
    lines.append(_neighbours(n_columns))
    if kind == "clustering" and not {"transitive", "proximity"} & set(needs):
        lines += [Advice("similarity", *NEEDS[need]) for need in ("proximity", "transitive")]
    return lines


def _multiclass(n: int, k: int) -> Advice:
    pairs = k * (k - 1) // 2
    if n >= MANY_FOR_PAIRS:
        reason = f"{n} rows: {pairs} problems, each with the rows of two classes only"
        return Advice("multiclass", "one-vs-one", reason)
    return Advice("multiclass", "one-vs-all", f"{n} rows: {k} problems with all rows suffice")


def _solver(n: int, p: int) -> Advice:
    if n >= MANY_ROWS and p > CUBE:
        return Advice("solver", "SGD", f"{n} rows: a step should not need them all")
    if p > CUBE:
        return Advice("solver", "gradient descent", f"{p} columns: p^3 is too much, n p is not")
    if n >= 10 * MANY_ROWS:
        return Advice("solver", "SGD", f"{n} rows: a step should not need them all")
    return Advice("solver", "closed form", f"{p} columns: p^3 operations are affordable")


def _svm_form(n: int, p: int) -> Advice:
    if n < p + 1:
        return Advice("svm_form", "dual", f"n = {n} variables instead of p + 1 = {p + 1}")
    return Advice("svm_form", "primal", f"p + 1 = {p + 1} variables instead of n = {n}")


def _selection(n: int, p: int) -> Advice:
    if p <= SUBSET:
        return Advice("selection", "best subset", f"{p} columns: branch and bound is exact")
    if n > p:
        reason = f"{p} columns are too many for all subsets, and n = {n} > p lets all start in"
        return Advice("selection", "backward", reason)
    return Advice("selection", "forward", f"n = {n} <= p = {p}: the full model cannot be fitted")


def _neighbours(p: int) -> Advice:
    if p <= TREE_COLUMNS:
        return Advice("neighbours", "kd-tree", f"{p} columns: boxes still exclude most rows")
    return Advice("neighbours", "hashing", f"{p} columns: boxes exclude next to nothing")


def _control() -> list[Advice]:
    return [
        Advice("control", *NEEDS[need])
        for need in ("known_model", "fixed_policy", "control", "large_states")
    ]
