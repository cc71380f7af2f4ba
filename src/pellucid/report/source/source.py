r"""A fitted model as source code that needs nothing: plain Python without an import, or C99.

    scores(x)    what the model sums up for one row: class shares of trees and forests, scores of
                 boosting, outputs of a network
    predict(x)   the answer: a number, or a label (C: its place in LABELS)

Trees, forests and boosting answer bit for bit as the model; a network, and the exponential of
boosting with the Poisson or gamma loss, up to rounding.
"""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.ensemble.boosting.gradient_model import GradientBoosting
from pellucid.ensemble.boosting.hist_model import HistGradientBoosting
from pellucid.ensemble.forest.forest_model import ForestEstimator
from pellucid.ensemble.tree_sums import ACCEPTED
from pellucid.neural.mlp_classifier import MLPClassifier
from pellucid.neural.mlp_regressor import MLPRegressor
from pellucid.report.source.networks import EXP, c_network, layers_of, python_network
from pellucid.report.source.trees import c_trees, parts_of, python_trees
from pellucid.tree.cart import CartTree

LANGUAGES = ("python", "c")
TREES = (CartTree, ForestEstimator, GradientBoosting, HistGradientBoosting)
FIRST_LARGEST = "max(range(len(s)), key=s.__getitem__)"


def to_source(model: Any, language: str = "python") -> str:
    """The fitted model as source code without dependencies.

    Parameters
    ----------
    model : fitted tree, random forest, gradient or histogram boosting, MLPClassifier, MLPRegressor
        Networks of dense layers; one target of classes.
    language : {"python", "c"}, default="python"
        Python without an import, or C99 (link with -lm).

    Returns
    -------
    str
        ``scores(x)`` and ``predict(x)`` for one row ``x``, a sequence of numbers in the order of
        the columns. In C ``void scores(const double *x, double *out)`` and
        ``double predict(const double *x)``, for classes the place in ``LABELS``.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> from pellucid.report import to_source
    >>> X, y = [[i, i % 2] for i in range(20)], ["low"] * 10 + ["high"] * 10
    >>> model = RandomForestClassifier(5, random_state=0).fit(X, y)
    >>> space = {}
    >>> exec(to_source(model), space)
    >>> space["predict"]([3.0, 1.0]), space["scores"]([17.0, 0.0])
    ('low', [1.0, 0.0])
    """
    check.one_of(LANGUAGES, language=language)
    if isinstance(model, MLPClassifier | MLPRegressor):
        check_is_fitted(model)
        layers = layers_of(model)
        body = python_network(layers) if language == "python" else c_network(layers)
        rule = _network_rule(model, language)
        n_scores, labels = layers[-1].W.shape[1], _labels(model)
    elif isinstance(model, TREES):
        parts = parts_of(model)
        body = python_trees(parts) if language == "python" else c_trees(parts)
        if language == "python" and parts.exponential:
            body = EXP.strip() + "\n\n\n" + body
        rule = _tree_rule(model, parts, language)
        n_scores, labels = len(parts.start), parts.labels
    else:
        raise TypeError(f"{ACCEPTED} or a perceptron is needed, got {type(model).__name__}")
    make = _python if language == "python" else _c
    return make(model, body, rule, n_scores, labels)


def _labels(model: Any) -> list[Any] | None:
    if isinstance(model, MLPRegressor):
        return None
    if model._several:
        raise ValueError("one target of classes is needed, got several labels per row")
    return model.classes_.tolist()


def _tree_rule(model: Any, parts: Any, language: str) -> str:
    """The expression of the answer in the scores s."""
    if parts.labels is not None:
        if len(parts.start) == 1:  # one score: the log-odds of the second class
            return "s[0] > 0" if len(parts.labels) > 1 else "0"
        return FIRST_LARGEST if language == "python" else "largest(s)"
    if parts.exponential:
        return "exp(s[0])"
    return "s" if len(parts.start) > 1 else "s[0]"


def _network_rule(model: Any, language: str) -> str:
    labels = _labels(model)
    if labels is None:
        return "s[0]" if model._flat else "s"
    if len(labels) == 1:
        return "0"
    if len(labels) == 2 and model.n_outputs_ == 1:
        return "s[0] > 1.0 - s[0]"
    return FIRST_LARGEST if language == "python" else "largest(s)"


def _python(model: Any, body: str, rule: str, n_scores: int, labels: Any) -> str:
    names = [str(name) for name in model._feature_names()]
    answer = f"LABELS[{rule}]" if labels is not None else rule
    said = f"LABELS = {labels!r}\n" if labels is not None else ""
    return f'''"""{type(model).__name__} of Pellucid as plain Python. One row is a sequence of
the columns in COLUMNS, in this order."""

COLUMNS = {names!r}
{said}{body}


def predict(x):
    """The answer for one row."""
    s = scores(x)
    return {answer}
'''


def _c(model: Any, body: str, rule: str, n_scores: int, labels: Any) -> str:
    if rule == "s":
        raise ValueError("C source is written for one target, got several")
    names = ", ".join(_comment(str(name)) for name in model._feature_names())
    lines = [
        f"/* {type(model).__name__} of Pellucid as C99. Columns: {names} */",
        "#include <math.h>",
        "",
    ]
    if labels is not None:
        words = ", ".join(_quoted(str(label)) for label in labels)
        lines.append(f"const char *const LABELS[] = {{{words}}};")
    lines.append(body)
    if rule == "largest(s)":
        lines.append(
            "\nstatic int largest(const double *s) {\n    int best = 0;\n"
            f"    for (int k = 1; k < {n_scores}; k++) if (s[k] > s[best]) best = k;\n"
            "    return best;\n}"
        )
    what = "the place of the label in LABELS" if labels is not None else "the answer"
    lines.append(
        f"\n/* For one row: {what}. */\ndouble predict(const double *x) {{\n"
        f"    double s[{n_scores}];\n    scores(x, s);\n    return {rule};\n}}\n"
    )
    return "\n".join(lines)


def _comment(text: str) -> str:
    """Text that cannot end a comment."""
    return "".join(c if c.isprintable() else " " for c in text).replace("*/", "* /")


def _quoted(text: str) -> str:
    """A C string: bytes outside plain ASCII as octal."""
    out = ""
    for byte in text.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        out += chr(byte) if plain else f"\\{byte:03o}"
    return f'"{out}"'
